// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * The device's SPI half: blocks. It leads: once the I2C half that its property
 * names is there, the two become one IIO device.
 */
#include <linux/align.h>
#include <linux/component.h>
#include <linux/dma-mapping.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/property.h>
#include <linux/slab.h>
#include <linux/spi/spi.h>

#include "rtperf-daq.h"

/*
 * The message is put together once. The buffer is an allocation of its own and
 * a whole number of cache lines, so that DMA into it touches nothing else.
 */
int rtperf_daq_spi_setup(struct rtperf_daq *daq)
{
	size_t bytes = ALIGN(daq->block_bytes, dma_get_cache_alignment());

	daq->block = devm_kzalloc(daq->dev, bytes, GFP_KERNEL);
	if (!daq->block)
		return -ENOMEM;
	daq->data = to_spi_device(daq->dev);
	daq->transfer.rx_buf = daq->block;
	daq->transfer.len = daq->block_bytes;
	spi_message_init_with_transfers(&daq->message, &daq->transfer, 1);
	return 0;
}

int rtperf_daq_spi_read_block(struct rtperf_daq *daq)
{
	int ret;

	ret = spi_sync(daq->data, &daq->message);
	if (ret)
		return ret;
	return daq->message.actual_length == daq->block_bytes ? 0 : -EIO;
}

static int rtperf_daq_spi_bind(struct device *dev)
{
	struct rtperf_daq *daq;
	int ret;

	daq = rtperf_daq_alloc(dev);
	if (!daq)
		return -ENOMEM;
	dev_set_drvdata(dev, daq);
	ret = component_bind_all(dev, daq);
	if (ret)
		return ret;
	ret = rtperf_daq_register(daq);
	if (ret)
		component_unbind_all(dev, daq);
	return ret;
}

/* What bind() took with devm is given back right after this. */
static void rtperf_daq_spi_unbind(struct device *dev)
{
	struct rtperf_daq *daq = dev_get_drvdata(dev);

	rtperf_daq_unregister(daq);
	component_unbind_all(dev, daq);
}

static const struct component_master_ops rtperf_daq_spi_master = {
	.bind = rtperf_daq_spi_bind,
	.unbind = rtperf_daq_spi_unbind,
};

static int rtperf_daq_spi_is_control(struct device *dev, void *fwnode)
{
	return device_match_fwnode(dev, fwnode);
}

static void rtperf_daq_spi_put_control(struct device *dev, void *fwnode)
{
	fwnode_handle_put(fwnode);
}

static int rtperf_daq_spi_probe(struct spi_device *spi)
{
	struct device *dev = &spi->dev;
	struct component_match *match = NULL;
	struct fwnode_handle *control;

	control = fwnode_find_reference(dev_fwnode(dev), "rtperf,control", 0);
	if (IS_ERR(control))
		return dev_err_probe(dev, PTR_ERR(control),
				     "no property rtperf,control names the I2C half\n");

	component_match_add_release(dev, &match, rtperf_daq_spi_put_control,
				    rtperf_daq_spi_is_control, control);
	if (IS_ERR(match)) {
		fwnode_handle_put(control);
		return PTR_ERR(match);
	}
	return component_master_add_with_match(dev, &rtperf_daq_spi_master,
					       match);
}

static void rtperf_daq_spi_remove(struct spi_device *spi)
{
	component_master_del(&spi->dev, &rtperf_daq_spi_master);
}

static const struct spi_device_id rtperf_daq_spi_ids[] = {
	{ .name = "rtperf-daq" },
	{ .name = "daq-data" },
	{ }
};
MODULE_DEVICE_TABLE(spi, rtperf_daq_spi_ids);

static const struct of_device_id rtperf_daq_spi_of_ids[] = {
	{ .compatible = "rtperf,daq-data" },
	{ }
};
MODULE_DEVICE_TABLE(of, rtperf_daq_spi_of_ids);

static struct spi_driver rtperf_daq_spi_driver = {
	.driver = {
		.name = "rtperf-daq",
		.of_match_table = rtperf_daq_spi_of_ids,
	},
	.probe = rtperf_daq_spi_probe,
	.remove = rtperf_daq_spi_remove,
	.id_table = rtperf_daq_spi_ids,
};

int rtperf_daq_spi_register(void)
{
	return spi_register_driver(&rtperf_daq_spi_driver);
}

void rtperf_daq_spi_unregister(void)
{
	spi_unregister_driver(&rtperf_daq_spi_driver);
}
