// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * A block's way: edge, hard handler (stamps), threaded handler (I2C command,
 * SPI transfer, check), IIO buffer.
 */
#include <linux/device.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/string.h>

#include <linux/iio/buffer.h>

#include "rtperf-daq.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static irqreturn_t rtperf_daq_hardirq(int irq, void *private)
{
	struct rtperf_daq *daq = private;
	s64 now = ktime_get_ns();
	u32 edge;

	raw_spin_lock(&daq->stamp_lock);
	daq->stamp.time_ns = now;
	edge = ++daq->stamp.edge;
	raw_spin_unlock(&daq->stamp_lock);

	trace_rtperf_daq_hardirq(daq->id, edge, now);
	return IRQ_WAKE_THREAD;
}

static struct rtperf_daq_stamp rtperf_daq_newest_stamp(struct rtperf_daq *daq)
{
	struct rtperf_daq_stamp stamp;
	unsigned long flags;

	raw_spin_lock_irqsave(&daq->stamp_lock, flags);
	stamp = daq->stamp;
	raw_spin_unlock_irqrestore(&daq->stamp_lock, flags);
	return stamp;
}

static int rtperf_daq_latch(struct rtperf_daq *daq)
{
	int ret;

	trace_rtperf_daq_i2c_start(daq->id, RTPERF_DAQ_CMD_LATCH);
	ret = rtperf_daq_i2c_command(daq, RTPERF_DAQ_CMD_LATCH);
	trace_rtperf_daq_i2c_done(daq->id, RTPERF_DAQ_CMD_LATCH, ret);
	return ret;
}

static int rtperf_daq_transfer(struct rtperf_daq *daq)
{
	int ret;

	trace_rtperf_daq_spi_start(daq->id, daq->block_bytes);
	ret = rtperf_daq_spi_read_block(daq);
	trace_rtperf_daq_spi_done(daq->id, daq->block_bytes, ret);
	return ret;
}

/* False for a block that user space has had already. */
static bool rtperf_daq_follow_sequence(struct rtperf_daq *daq, u32 sequence)
{
	s32 ahead = sequence - daq->next_sequence;

	if (ahead == -1) {
		rtperf_daq_count(daq, RTPERF_DAQ_DUPLICATES, 1);
		return false;
	}
	if (ahead > 0) {
		rtperf_daq_count(daq, RTPERF_DAQ_BLOCKS_LOST, ahead);
		trace_rtperf_daq_lost(daq->id, daq->next_sequence, ahead);
	} else if (ahead < 0) {
		rtperf_daq_count(daq, RTPERF_DAQ_RESTARTS, 1);
	}
	daq->next_sequence = sequence + 1;
	return true;
}

static void rtperf_daq_push(struct rtperf_daq *daq)
{
	struct rtperf_daq_scan *scan = daq->scan;
	int ret;

	scan->times[RTPERF_DAQ_PUSHED] = ktime_get_ns();
	ret = iio_push_to_buffers(daq->indio, scan);
	rtperf_daq_count(daq, RTPERF_DAQ_BLOCKS, 1);
	if (ret)
		rtperf_daq_count(daq, RTPERF_DAQ_OVERRUNS, 1);
	trace_rtperf_daq_pushed(daq->id, scan->sequence, scan->flags,
				scan->times);
}

/* Fetches the block that the device holds. True when there is one to push. */
static bool rtperf_daq_fetch(struct rtperf_daq *daq, u32 edge)
{
	bool late;

	if (rtperf_daq_latch(daq)) {
		rtperf_daq_count(daq, RTPERF_DAQ_BUS_ERRORS, 1);
		return false;
	}
	late = rtperf_daq_newest_stamp(daq).edge != edge;

	if (rtperf_daq_transfer(daq)) {
		rtperf_daq_count(daq, RTPERF_DAQ_BUS_ERRORS, 1);
		return false;
	}
	switch (rtperf_daq_block_check(daq->block, daq->channels,
				       daq->samples)) {
	case RTPERF_DAQ_BAD_CRC:
		rtperf_daq_count(daq, RTPERF_DAQ_CRC_ERRORS, 1);
		return false;
	case RTPERF_DAQ_BAD_FORMAT:
		rtperf_daq_count(daq, RTPERF_DAQ_FORMAT_ERRORS, 1);
		return false;
	case RTPERF_DAQ_GOOD:
		break;
	}
	rtperf_daq_block_decode(daq->block, daq->channels, daq->samples,
				daq->scan);
	if (late)
		daq->scan->flags |= RTPERF_DAQ_FLAG_LATE;
	return rtperf_daq_follow_sequence(daq, daq->scan->sequence);
}

static irqreturn_t rtperf_daq_thread(int irq, void *private)
{
	struct rtperf_daq *daq = private;
	s64 now = ktime_get_ns();
	struct rtperf_daq_stamp stamp = rtperf_daq_newest_stamp(daq);
	u32 edges = stamp.edge - daq->edges_seen;

	trace_rtperf_daq_thread(daq->id, stamp.edge, now);
	daq->edges_seen = stamp.edge;
	if (edges > 1)
		rtperf_daq_count(daq, RTPERF_DAQ_MERGED_EDGES, edges - 1);

	if (!rtperf_daq_fetch(daq, stamp.edge))
		return IRQ_HANDLED;
	daq->scan->times[RTPERF_DAQ_HARDIRQ] = stamp.time_ns;
	daq->scan->times[RTPERF_DAQ_THREAD] = now;
	rtperf_daq_push(daq);
	return IRQ_HANDLED;
}

int rtperf_daq_start(struct rtperf_daq *daq)
{
	int i, ret;

	for (i = 0; i < RTPERF_DAQ_COUNTERS; i++)
		atomic64_set(&daq->counters[i], 0);
	daq->next_sequence = 0;
	daq->edges_seen = rtperf_daq_newest_stamp(daq).edge;

	mutex_lock(&daq->state_lock);
	enable_irq(daq->irq);
	ret = rtperf_daq_i2c_command(daq, RTPERF_DAQ_CMD_START);
	if (ret)
		disable_irq(daq->irq);
	daq->streaming = !ret;
	mutex_unlock(&daq->state_lock);
	return ret;
}

/* No edge comes after the command, so none is left pending for the next time. */
int rtperf_daq_stop(struct rtperf_daq *daq)
{
	int ret;

	mutex_lock(&daq->state_lock);
	ret = rtperf_daq_i2c_command(daq, RTPERF_DAQ_CMD_STOP);
	disable_irq(daq->irq);
	daq->streaming = false;
	mutex_unlock(&daq->state_lock);
	return ret;
}

/* Asks the device what it is and how large its blocks are. */
static int rtperf_daq_identify(struct rtperf_daq *daq)
{
	int id, channels, samples;

	id = rtperf_daq_i2c_read(daq, RTPERF_DAQ_REG_CHIP_ID);
	if (id < 0)
		return dev_err_probe(daq->dev, id, "no answer on I2C\n");
	if (id != RTPERF_DAQ_CHIP_ID)
		return dev_err_probe(daq->dev, -ENODEV,
				     "chip id 0x%02x instead of 0x%02x\n",
				     id, RTPERF_DAQ_CHIP_ID);

	channels = rtperf_daq_i2c_read(daq, RTPERF_DAQ_REG_CHANNELS);
	if (channels < 0)
		return dev_err_probe(daq->dev, channels, "no channel count\n");
	samples = rtperf_daq_i2c_read(daq, RTPERF_DAQ_REG_SAMPLES);
	if (samples < 0)
		return dev_err_probe(daq->dev, samples, "no sample count\n");
	if (!channels || channels > RTPERF_DAQ_MAX_CHANNELS ||
	    samples > RTPERF_DAQ_MAX_SAMPLES || !is_power_of_2(samples))
		return dev_err_probe(daq->dev, -ENODEV,
				     "blocks of %d channels with %d samples are not supported\n",
				     channels, samples);

	daq->channels = channels;
	daq->samples = samples;
	daq->block_bytes = rtperf_daq_block_bytes(channels, samples);
	return 0;
}

static int rtperf_daq_request_irq(struct rtperf_daq *daq)
{
	/*
	 * The hard handler only takes the time, so it stays in hard interrupt
	 * context on PREEMPT_RT too. It isn't IRQF_ONESHOT: an edge that comes
	 * while the threaded handler runs must be stamped as well.
	 */
	unsigned long flags = IRQF_NO_THREAD | IRQF_NO_AUTOEN | daq->irq_trigger;
	int ret;

	ret = devm_request_threaded_irq(daq->dev, daq->irq, rtperf_daq_hardirq,
					rtperf_daq_thread, flags, "rtperf-daq",
					daq);
	if (ret)
		return dev_err_probe(daq->dev, ret, "interrupt %d\n", daq->irq);
	return 0;
}

struct rtperf_daq *rtperf_daq_alloc(struct device *dev)
{
	struct iio_dev *indio;
	struct rtperf_daq *daq;

	indio = devm_iio_device_alloc(dev, sizeof(*daq));
	if (!indio)
		return NULL;
	daq = iio_priv(indio);
	daq->dev = dev;
	daq->indio = indio;
	daq->id = iio_device_id(indio);
	raw_spin_lock_init(&daq->stamp_lock);
	mutex_init(&daq->state_lock);
	return daq;
}

int rtperf_daq_register(struct rtperf_daq *daq)
{
	int ret;

	ret = rtperf_daq_identify(daq);
	if (ret)
		return ret;
	/* It may be running still, left so by whoever had it before. */
	ret = rtperf_daq_i2c_command(daq, RTPERF_DAQ_CMD_STOP);
	if (ret)
		return dev_err_probe(daq->dev, ret, "cannot stop the device\n");

	daq->scan = devm_kzalloc(daq->dev,
				 rtperf_daq_scan_bytes(daq->channels,
						       daq->samples),
				 GFP_KERNEL);
	if (!daq->scan)
		return -ENOMEM;
	ret = rtperf_daq_spi_setup(daq);
	if (ret)
		return ret;
	ret = rtperf_daq_gpio_setup(daq);
	if (ret)
		return ret;
	ret = rtperf_daq_iio_setup(daq);
	if (ret)
		return ret;
	ret = rtperf_daq_request_irq(daq);
	if (ret)
		return ret;
	ret = iio_device_register(daq->indio);
	if (ret)
		return dev_err_probe(daq->dev, ret, "cannot register with IIO\n");
	return 0;
}

/* Stops the stream if one runs; open files get ENODEV from now on. */
void rtperf_daq_unregister(struct rtperf_daq *daq)
{
	iio_device_unregister(daq->indio);
}

static int __init rtperf_daq_init(void)
{
	int ret;

	ret = rtperf_daq_i2c_register();
	if (ret)
		return ret;
	ret = rtperf_daq_spi_register();
	if (ret)
		rtperf_daq_i2c_unregister();
	return ret;
}
module_init(rtperf_daq_init);

static void __exit rtperf_daq_exit(void)
{
	rtperf_daq_spi_unregister();
	rtperf_daq_i2c_unregister();
}
module_exit(rtperf_daq_exit);

MODULE_AUTHOR("The meta-rtperf authors");
MODULE_DESCRIPTION("Data acquisition over GPIO, I2C and SPI with a time for every stage");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
