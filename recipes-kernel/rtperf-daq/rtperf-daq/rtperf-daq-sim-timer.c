// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * The device's converter: a timer that captures a block at each expiry and
 * raises the data-ready edge from hard interrupt context.
 */
#include <linux/device.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "rtperf-daq-compat.h"
#include "rtperf-daq-sim.h"

static bool rtperf_daq_sim_nth(u64 n, unsigned int every)
{
	u32 rest;

	if (!every)
		return false;
	div_u64_rem(n, every, &rest);
	return !rest;
}

static void rtperf_daq_sim_capture(struct rtperf_daq_sim *sim, s64 edge_ns)
{
	unsigned int drop_every = READ_ONCE(rtperf_daq_sim_drop_every);

	raw_spin_lock(&sim->lock);
	if (rtperf_daq_sim_nth(++sim->counters[RTPERF_DAQ_SIM_BLOCKS],
			       drop_every)) {
		sim->next_sequence++;
		sim->counters[RTPERF_DAQ_SIM_DROPPED]++;
	}
	if (sim->ready)
		sim->counters[RTPERF_DAQ_SIM_OVERWRITTEN]++;
	sim->pending.flags = sim->ready ? RTPERF_DAQ_BLOCK_OVERRUN : 0;
	sim->pending.edge_ns = edge_ns;
	sim->pending.sequence = sim->next_sequence++;
	sim->ready = true;
	raw_spin_unlock(&sim->lock);
}

/*
 * Periods that went by before the timer was served. A converter would have
 * gone on without us, so their sequence numbers are used up.
 */
static void rtperf_daq_sim_skip(struct rtperf_daq_sim *sim, u64 periods)
{
	raw_spin_lock(&sim->lock);
	sim->next_sequence += periods;
	sim->counters[RTPERF_DAQ_SIM_SKIPPED] += periods;
	raw_spin_unlock(&sim->lock);
}

/* The planted long handler: somebody else's, in the way of the next edge. */
static irqreturn_t rtperf_daq_sim_hold(int irq, void *private)
{
	ktime_t end = ktime_add_us(ktime_get(),
				   READ_ONCE(rtperf_daq_sim_hold_us));

	while (ktime_before(ktime_get(), end))
		cpu_relax();
	return IRQ_HANDLED;
}

/* Jitter moves one expiry, never the grid that the expiries are on. */
static void rtperf_daq_sim_next(struct rtperf_daq_sim *sim)
{
	unsigned int jitter_us = READ_ONCE(rtperf_daq_sim_jitter_us);
	ktime_t period = ns_to_ktime((u64)sim->period_us * NSEC_PER_USEC);
	u64 periods;

	hrtimer_set_expires(&sim->timer, sim->nominal);
	periods = hrtimer_forward_now(&sim->timer, period);
	if (periods > 1)
		rtperf_daq_sim_skip(sim, periods - 1);
	sim->nominal = hrtimer_get_expires(&sim->timer);

	jitter_us = min(jitter_us, sim->period_us - 1);
	if (jitter_us) {
		u64 range_ns = (u64)jitter_us * NSEC_PER_USEC;
		u64 random = prandom_u32_state(&sim->random);

		hrtimer_add_expires_ns(&sim->timer, (random * range_ns) >> 32);
	}
}

static enum hrtimer_restart rtperf_daq_sim_expired(struct hrtimer *timer)
{
	struct rtperf_daq_sim *sim = container_of(timer, struct rtperf_daq_sim,
						  timer);
	unsigned int edges = 1 + READ_ONCE(rtperf_daq_sim_storm);

	rtperf_daq_sim_capture(sim, ktime_to_ns(hrtimer_get_expires(timer)));
	if (READ_ONCE(rtperf_daq_sim_hold_us))
		generic_handle_irq(sim->hold_irq);
	while (edges--)
		rtperf_daq_sim_gpio_edge(sim);
	rtperf_daq_sim_next(sim);
	return HRTIMER_RESTART;
}

/* The timer stays on the CPU of whoever starts the stream. */
void rtperf_daq_sim_start(struct rtperf_daq_sim *sim)
{
	unsigned long flags;

	rtperf_daq_sim_stop(sim);
	raw_spin_lock_irqsave(&sim->lock, flags);
	sim->ready = false;
	sim->next_sequence = 0;
	memset(sim->counters, 0, sizeof(sim->counters));
	raw_spin_unlock_irqrestore(&sim->lock, flags);
	sim->latched = 0;
	memset(sim->block, 0, sizeof(sim->block));

	sim->running = true;
	sim->nominal = ktime_add_us(ktime_get(), sim->period_us);
	hrtimer_start(&sim->timer, sim->nominal, HRTIMER_MODE_ABS_PINNED_HARD);
}

void rtperf_daq_sim_stop(struct rtperf_daq_sim *sim)
{
	hrtimer_cancel(&sim->timer);
	sim->running = false;
}

/* False when nothing was captured since the last time. */
bool rtperf_daq_sim_take(struct rtperf_daq_sim *sim,
			 struct rtperf_daq_sim_capture *capture)
{
	unsigned long flags;
	bool ready;

	raw_spin_lock_irqsave(&sim->lock, flags);
	ready = sim->ready;
	*capture = sim->pending;
	sim->ready = false;
	raw_spin_unlock_irqrestore(&sim->lock, flags);
	return ready;
}

bool rtperf_daq_sim_is_ready(struct rtperf_daq_sim *sim)
{
	return READ_ONCE(sim->ready);
}

static void rtperf_daq_sim_timer_cancel(void *sim)
{
	rtperf_daq_sim_stop(sim);
}

/*
 * An interrupt of its own, so that /proc/interrupts and a trace show the held
 * time under its own name. It hangs on no chip, and no module owns it: one that
 * requests its own interrupt could never be unloaded.
 */
static int rtperf_daq_sim_hold_setup(struct rtperf_daq_sim *sim)
{
	int irq;

	irq = __devm_irq_alloc_descs(sim->dev, -1, 1, 1, NUMA_NO_NODE, NULL, NULL);
	if (irq < 0)
		return dev_err_probe(sim->dev, irq, "no interrupt for hold_us\n");
	irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
	irq_modify_status(irq, IRQ_NOREQUEST, IRQ_NOPROBE);
	sim->hold_irq = irq;
	return devm_request_irq(sim->dev, irq, rtperf_daq_sim_hold,
				IRQF_NO_THREAD, "rtperf-daq-hold", sim);
}

int rtperf_daq_sim_timer_setup(struct rtperf_daq_sim *sim)
{
	int ret;

	raw_spin_lock_init(&sim->lock);
	/* The same jitter in every run. */
	prandom_seed_state(&sim->random, 1);
	ret = rtperf_daq_sim_hold_setup(sim);
	if (ret)
		return ret;
	rtperf_hrtimer_setup(&sim->timer, rtperf_daq_sim_expired,
			     CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	return devm_add_action_or_reset(sim->dev, rtperf_daq_sim_timer_cancel,
					sim);
}
