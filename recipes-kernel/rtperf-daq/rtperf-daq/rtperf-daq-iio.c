// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * What user space sees: scan elements, attributes and counters.
 */
#include <linux/align.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/minmax.h>
#include <linux/sysfs.h>

#include <linux/iio/buffer.h>
#include <linux/iio/kfifo_buf.h>
#include <linux/iio/sysfs.h>

#include "rtperf-daq.h"

static const char * const rtperf_daq_labels[] = {
	[RTPERF_DAQ_EDGE] = "edge",
	[RTPERF_DAQ_HARDIRQ] = "hardirq",
	[RTPERF_DAQ_THREAD] = "thread",
	[RTPERF_DAQ_PUSHED] = "pushed",
	[RTPERF_DAQ_SEQUENCE] = "sequence",
	[RTPERF_DAQ_FLAGS] = "flags",
};

/*
 * IIO aligns each element to its own size, which for a channel is that of all
 * its samples in a block: a power of two, so nothing is between the channels.
 */
size_t rtperf_daq_samples_offset(u8 samples)
{
	return ALIGN(sizeof(struct rtperf_daq_scan),
		     rtperf_daq_payload_bytes(1, samples));
}

size_t rtperf_daq_scan_bytes(u8 channels, u8 samples)
{
	size_t largest = max(rtperf_daq_payload_bytes(1, samples), sizeof(s64));

	return ALIGN(rtperf_daq_samples_offset(samples) +
		     rtperf_daq_payload_bytes(channels, samples), largest);
}

static int rtperf_daq_read_raw(struct iio_dev *indio,
			       const struct iio_chan_spec *spec, int *val,
			       int *val2, long mask)
{
	if (mask != IIO_CHAN_INFO_SCALE)
		return -EINVAL;
	/* IIO has voltages in mV. */
	*val = 0;
	*val2 = RTPERF_DAQ_SCALE_UV * 1000;
	return IIO_VAL_INT_PLUS_MICRO;
}

static int rtperf_daq_read_label(struct iio_dev *indio,
				 const struct iio_chan_spec *spec, char *label)
{
	if (spec->scan_index >= RTPERF_DAQ_FIRST_SAMPLE)
		return sysfs_emit(label, "ain%d\n", spec->channel);
	return sysfs_emit(label, "%s\n", rtperf_daq_labels[spec->scan_index]);
}

static ssize_t rtperf_daq_counter_show(struct device *dev,
				       struct device_attribute *attr,
				       char *text)
{
	struct rtperf_daq *daq = iio_priv(dev_to_iio_dev(dev));
	u64 which = to_iio_dev_attr(attr)->address;

	return sysfs_emit(text, "%lld\n",
			  (long long)atomic64_read(&daq->counters[which]));
}

static IIO_DEVICE_ATTR(blocks, 0444, rtperf_daq_counter_show, NULL,
		       RTPERF_DAQ_BLOCKS);
static IIO_DEVICE_ATTR(blocks_lost, 0444, rtperf_daq_counter_show, NULL,
		       RTPERF_DAQ_BLOCKS_LOST);
static IIO_DEVICE_ATTR(crc_errors, 0444, rtperf_daq_counter_show, NULL,
		       RTPERF_DAQ_CRC_ERRORS);
static IIO_DEVICE_ATTR(format_errors, 0444, rtperf_daq_counter_show, NULL,
		       RTPERF_DAQ_FORMAT_ERRORS);
static IIO_DEVICE_ATTR(bus_errors, 0444, rtperf_daq_counter_show, NULL,
		       RTPERF_DAQ_BUS_ERRORS);
static IIO_DEVICE_ATTR(duplicates, 0444, rtperf_daq_counter_show, NULL,
		       RTPERF_DAQ_DUPLICATES);
static IIO_DEVICE_ATTR(restarts, 0444, rtperf_daq_counter_show, NULL,
		       RTPERF_DAQ_RESTARTS);
static IIO_DEVICE_ATTR(merged_edges, 0444, rtperf_daq_counter_show, NULL,
		       RTPERF_DAQ_MERGED_EDGES);
static IIO_DEVICE_ATTR(overruns, 0444, rtperf_daq_counter_show, NULL,
		       RTPERF_DAQ_OVERRUNS);

static ssize_t block_period_us_show(struct device *dev,
				    struct device_attribute *attr, char *text)
{
	struct rtperf_daq *daq = iio_priv(dev_to_iio_dev(dev));
	u32 period;
	int ret;

	ret = rtperf_daq_i2c_get_period(daq, &period);
	if (ret)
		return ret;
	return sysfs_emit(text, "%u\n", period);
}

static ssize_t block_period_us_store(struct device *dev,
				     struct device_attribute *attr,
				     const char *text, size_t length)
{
	struct rtperf_daq *daq = iio_priv(dev_to_iio_dev(dev));
	u32 period;
	int ret;

	ret = kstrtou32(text, 10, &period);
	if (ret)
		return ret;
	if (period < RTPERF_DAQ_PERIOD_MIN_US ||
	    period > RTPERF_DAQ_PERIOD_MAX_US)
		return -ERANGE;

	mutex_lock(&daq->state_lock);
	ret = daq->streaming ? -EBUSY : rtperf_daq_i2c_set_period(daq, period);
	mutex_unlock(&daq->state_lock);
	return ret ?: length;
}

static IIO_DEVICE_ATTR_RW(block_period_us, 0);

static struct attribute *rtperf_daq_attrs[] = {
	&iio_dev_attr_block_period_us.dev_attr.attr,
	&iio_dev_attr_blocks.dev_attr.attr,
	&iio_dev_attr_blocks_lost.dev_attr.attr,
	&iio_dev_attr_crc_errors.dev_attr.attr,
	&iio_dev_attr_format_errors.dev_attr.attr,
	&iio_dev_attr_bus_errors.dev_attr.attr,
	&iio_dev_attr_duplicates.dev_attr.attr,
	&iio_dev_attr_restarts.dev_attr.attr,
	&iio_dev_attr_merged_edges.dev_attr.attr,
	&iio_dev_attr_overruns.dev_attr.attr,
	NULL
};

static const struct attribute_group rtperf_daq_attr_group = {
	.attrs = rtperf_daq_attrs,
};

static const struct iio_info rtperf_daq_info = {
	.read_raw = rtperf_daq_read_raw,
	.read_label = rtperf_daq_read_label,
	.attrs = &rtperf_daq_attr_group,
};

static int rtperf_daq_postenable(struct iio_dev *indio)
{
	return rtperf_daq_start(iio_priv(indio));
}

static int rtperf_daq_predisable(struct iio_dev *indio)
{
	return rtperf_daq_stop(iio_priv(indio));
}

static const struct iio_buffer_setup_ops rtperf_daq_buffer_ops = {
	.postenable = rtperf_daq_postenable,
	.predisable = rtperf_daq_predisable,
};

static void rtperf_daq_init_specs(struct rtperf_daq *daq)
{
	int i;

	for (i = 0; i < RTPERF_DAQ_FIRST_SAMPLE; i++) {
		bool time = i < RTPERF_DAQ_TIMES;

		daq->specs[i] = (struct iio_chan_spec) {
			.type = IIO_COUNT,
			.indexed = 1,
			.channel = i,
			.scan_index = i,
			.scan_type = {
				.sign = time ? 's' : 'u',
				.realbits = time ? 64 : 32,
				.storagebits = time ? 64 : 32,
				.endianness = IIO_CPU,
			},
		};
	}
	for (i = 0; i < daq->channels; i++)
		daq->specs[RTPERF_DAQ_FIRST_SAMPLE + i] = (struct iio_chan_spec) {
			.type = IIO_VOLTAGE,
			.indexed = 1,
			.channel = i,
			.info_mask_shared_by_type = BIT(IIO_CHAN_INFO_SCALE),
			.scan_index = RTPERF_DAQ_FIRST_SAMPLE + i,
			.scan_type = {
				.sign = 's',
				.realbits = 16,
				.storagebits = 16,
				.repeat = daq->samples,
				.endianness = IIO_LE,
			},
		};
}

int rtperf_daq_iio_setup(struct rtperf_daq *daq)
{
	struct iio_dev *indio = daq->indio;
	int ret;

	rtperf_daq_init_specs(daq);
	/* Always the whole scan: IIO itself leaves out what nobody wants. */
	daq->scan_masks[0] = BIT(RTPERF_DAQ_FIRST_SAMPLE + daq->channels) - 1;

	indio->name = "rtperf-daq";
	indio->info = &rtperf_daq_info;
	indio->channels = daq->specs;
	indio->num_channels = RTPERF_DAQ_FIRST_SAMPLE + daq->channels;
	indio->available_scan_masks = daq->scan_masks;
	indio->modes = INDIO_DIRECT_MODE;

	ret = devm_iio_kfifo_buffer_setup(daq->dev, indio,
					  &rtperf_daq_buffer_ops);
	if (ret)
		return dev_err_probe(daq->dev, ret, "no IIO buffer\n");
	return 0;
}
