/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: The meta-rtperf authors */
/*
 * The simulated device: its insides (timer) and its three connections (gpio,
 * i2c, spi), one file each; core puts them together.
 */
#ifndef RTPERF_DAQ_SIM_H
#define RTPERF_DAQ_SIM_H

#include <linux/gpio/driver.h>
#include <linux/hrtimer.h>
#include <linux/i2c.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/property.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "rtperf-daq-regs.h"

struct spi_controller;

#define RTPERF_DAQ_SIM_I2C_ADDRESS	0x48

/* What is done to the stream on purpose. Module parameters; 0 is nothing. */
extern unsigned int rtperf_daq_sim_jitter_us;
extern unsigned int rtperf_daq_sim_hold_us;
extern unsigned int rtperf_daq_sim_drop_every;
extern unsigned int rtperf_daq_sim_corrupt_every;
extern unsigned int rtperf_daq_sim_storm;

/* What really happened, to compare with what the driver says. */
enum rtperf_daq_sim_counter {
	RTPERF_DAQ_SIM_BLOCKS,		/* captured */
	RTPERF_DAQ_SIM_OVERWRITTEN,	/* captured, and never latched */
	RTPERF_DAQ_SIM_SKIPPED,		/* the timer came a period or more late */
	RTPERF_DAQ_SIM_DROPPED,		/* planted: a sequence number left out */
	RTPERF_DAQ_SIM_CORRUPTED,	/* planted: a wrong CRC */
	RTPERF_DAQ_SIM_COUNTERS
};

/* A block before its bytes are put together. */
struct rtperf_daq_sim_capture {
	s64 edge_ns;
	u32 sequence;
	u32 flags;
};

struct rtperf_daq_sim {
	struct device *dev;
	u8 channels;
	u8 samples;

	struct hrtimer timer;
	ktime_t nominal;		/* expiry without jitter */
	struct rnd_state random;
	int hold_irq;

	raw_spinlock_t lock;		/* guards the next four */
	bool ready;			/* pending has not been latched */
	u32 next_sequence;
	struct rtperf_daq_sim_capture pending;
	u64 counters[RTPERF_DAQ_SIM_COUNTERS];

	struct mutex bus_lock;		/* guards the rest */
	u32 period_us;
	u32 new_period_us;		/* half written */
	bool running;
	u8 pointer;			/* the register that I2C is at */
	u32 latched;			/* blocks latched since the start */
	u8 block[RTPERF_DAQ_MAX_BLOCK_BYTES];

	struct gpio_chip gpio;
	bool unmasked;
	struct i2c_adapter adapter;
	struct spi_controller *controller;
	struct i2c_client *client;

	/* how the SPI half names the I2C half */
	struct software_node control_node;
	struct software_node_ref_args control_ref[1];
	struct property_entry data_properties[2];
	struct software_node data_node;
};

/* timer */
int rtperf_daq_sim_timer_setup(struct rtperf_daq_sim *sim);
void rtperf_daq_sim_start(struct rtperf_daq_sim *sim);
void rtperf_daq_sim_stop(struct rtperf_daq_sim *sim);
bool rtperf_daq_sim_take(struct rtperf_daq_sim *sim,
			 struct rtperf_daq_sim_capture *capture);
bool rtperf_daq_sim_is_ready(struct rtperf_daq_sim *sim);

/* gpio */
int rtperf_daq_sim_gpio_setup(struct rtperf_daq_sim *sim);
void rtperf_daq_sim_gpio_edge(struct rtperf_daq_sim *sim);

/* i2c */
int rtperf_daq_sim_i2c_setup(struct rtperf_daq_sim *sim);

/* spi */
int rtperf_daq_sim_spi_setup(struct rtperf_daq_sim *sim);
void rtperf_daq_sim_spi_latch(struct rtperf_daq_sim *sim,
			      const struct rtperf_daq_sim_capture *capture);

#endif /* RTPERF_DAQ_SIM_H */
