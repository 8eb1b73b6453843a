/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: The meta-rtperf authors */
/*
 * The driver's parts, one file each: core (a block's way from the interrupt to
 * the buffer), block (checking one), iio (what user space sees), spi, i2c and
 * gpio (the three ways to the device).
 */
#ifndef RTPERF_DAQ_H
#define RTPERF_DAQ_H

#include <linux/atomic.h>
#include <linux/iio/iio.h>
#include <linux/mutex.h>
#include <linux/spi/spi.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "rtperf-daq-regs.h"

struct i2c_client;

/* Scan elements before the samples, in the order of their scan index. */
enum rtperf_daq_time {
	RTPERF_DAQ_EDGE,	/* the device's own time of the edge */
	RTPERF_DAQ_HARDIRQ,	/* the hard handler has started */
	RTPERF_DAQ_THREAD,	/* the threaded handler has started */
	RTPERF_DAQ_PUSHED,	/* about to be pushed to the buffer */
	RTPERF_DAQ_TIMES
};

enum {
	RTPERF_DAQ_SEQUENCE = RTPERF_DAQ_TIMES,
	RTPERF_DAQ_FLAGS,
	RTPERF_DAQ_FIRST_SAMPLE,
	RTPERF_DAQ_MAX_CHANSPECS =
		RTPERF_DAQ_FIRST_SAMPLE + RTPERF_DAQ_MAX_CHANNELS
};

/* Flags of a scan. The device's own ones come first. */
#define RTPERF_DAQ_FLAG_OVERRUN		RTPERF_DAQ_BLOCK_OVERRUN
/* Another edge came before the block was latched: whose stamp is it? */
#define RTPERF_DAQ_FLAG_LATE		BIT(1)

/* A scan with every element enabled; IIO picks from it what is asked for. */
struct rtperf_daq_scan {
	s64 times[RTPERF_DAQ_TIMES];
	u32 sequence;
	u32 flags;
	/* then the samples, from rtperf_daq_samples_offset() on */
};

/* All since the buffer was last enabled. */
enum rtperf_daq_counter {
	RTPERF_DAQ_BLOCKS,		/* pushed, or refused by a full buffer */
	RTPERF_DAQ_BLOCKS_LOST,		/* missing from the sequence */
	RTPERF_DAQ_CRC_ERRORS,
	RTPERF_DAQ_FORMAT_ERRORS,
	RTPERF_DAQ_BUS_ERRORS,
	RTPERF_DAQ_DUPLICATES,		/* fetched, but it was the last one again */
	RTPERF_DAQ_RESTARTS,		/* the sequence jumped back */
	RTPERF_DAQ_MERGED_EDGES,	/* several edges, one threaded handler */
	RTPERF_DAQ_OVERRUNS,		/* the buffer was full: user space is late */
	RTPERF_DAQ_COUNTERS
};

/* What the hard handler leaves to the threaded one. */
struct rtperf_daq_stamp {
	s64 time_ns;
	u32 edge;	/* counts up with every interrupt */
};

struct rtperf_daq {
	struct device *dev;		/* the SPI half, parent of the rest */
	struct iio_dev *indio;
	int id;				/* N of iio:deviceN */
	struct spi_device *data;
	struct i2c_client *control;
	int irq;
	unsigned long irq_trigger;

	u8 channels;
	u8 samples;			/* of each channel in a block */
	size_t block_bytes;
	struct iio_chan_spec specs[RTPERF_DAQ_MAX_CHANSPECS];
	unsigned long scan_masks[2];	/* all elements; end of list */

	raw_spinlock_t stamp_lock;	/* guards stamp */
	struct rtperf_daq_stamp stamp;

	struct mutex state_lock;	/* guards streaming, and the period */
	bool streaming;

	/* The threaded handler's own, while the interrupt is enabled. */
	u32 edges_seen;
	u32 next_sequence;
	struct spi_message message;
	struct spi_transfer transfer;
	u8 *block;			/* a DMA buffer */
	struct rtperf_daq_scan *scan;

	atomic64_t counters[RTPERF_DAQ_COUNTERS];
};

static inline void rtperf_daq_count(struct rtperf_daq *daq,
				    enum rtperf_daq_counter which, u32 n)
{
	atomic64_add(n, &daq->counters[which]);
}

/* core */
struct rtperf_daq *rtperf_daq_alloc(struct device *dev);
int rtperf_daq_register(struct rtperf_daq *daq);
void rtperf_daq_unregister(struct rtperf_daq *daq);
int rtperf_daq_start(struct rtperf_daq *daq);
int rtperf_daq_stop(struct rtperf_daq *daq);

/* block */
enum rtperf_daq_verdict {
	RTPERF_DAQ_GOOD,
	RTPERF_DAQ_BAD_CRC,
	RTPERF_DAQ_BAD_FORMAT,
};

enum rtperf_daq_verdict rtperf_daq_block_check(const u8 *block, u8 channels,
					       u8 samples);
void rtperf_daq_block_decode(const u8 *block, u8 channels, u8 samples,
			     struct rtperf_daq_scan *scan);

/* iio */
size_t rtperf_daq_samples_offset(u8 samples);
size_t rtperf_daq_scan_bytes(u8 channels, u8 samples);
int rtperf_daq_iio_setup(struct rtperf_daq *daq);

/* i2c */
int rtperf_daq_i2c_read(struct rtperf_daq *daq, u8 reg);
int rtperf_daq_i2c_command(struct rtperf_daq *daq, u8 command);
int rtperf_daq_i2c_get_period(struct rtperf_daq *daq, u32 *period_us);
int rtperf_daq_i2c_set_period(struct rtperf_daq *daq, u32 period_us);
int rtperf_daq_i2c_register(void);
void rtperf_daq_i2c_unregister(void);

/* spi */
int rtperf_daq_spi_setup(struct rtperf_daq *daq);
int rtperf_daq_spi_read_block(struct rtperf_daq *daq);
int rtperf_daq_spi_register(void);
void rtperf_daq_spi_unregister(void);

/* gpio */
int rtperf_daq_gpio_setup(struct rtperf_daq *daq);

#endif /* RTPERF_DAQ_H */
