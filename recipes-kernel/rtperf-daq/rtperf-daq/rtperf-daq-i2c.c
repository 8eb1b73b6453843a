// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * The device's I2C half: registers and commands. It is a component that the
 * SPI half waits for, so either may come or go first.
 */
#include <linux/component.h>
#include <linux/i2c.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>

#include "rtperf-daq-compat.h"
#include "rtperf-daq.h"

int rtperf_daq_i2c_read(struct rtperf_daq *daq, u8 reg)
{
	return i2c_smbus_read_byte_data(daq->control, reg);
}

int rtperf_daq_i2c_command(struct rtperf_daq *daq, u8 command)
{
	return i2c_smbus_write_byte_data(daq->control, RTPERF_DAQ_REG_COMMAND,
					 command);
}

int rtperf_daq_i2c_get_period(struct rtperf_daq *daq, u32 *period_us)
{
	__le32 value;
	int ret;

	ret = i2c_smbus_read_i2c_block_data(daq->control, RTPERF_DAQ_REG_PERIOD,
					    sizeof(value), (u8 *)&value);
	if (ret < 0)
		return ret;
	if (ret != sizeof(value))
		return -EIO;
	*period_us = le32_to_cpu(value);
	return 0;
}

int rtperf_daq_i2c_set_period(struct rtperf_daq *daq, u32 period_us)
{
	__le32 value = cpu_to_le32(period_us);

	return i2c_smbus_write_i2c_block_data(daq->control,
					      RTPERF_DAQ_REG_PERIOD,
					      sizeof(value), (u8 *)&value);
}

static int rtperf_daq_i2c_bind(struct device *dev, struct device *master,
			       void *data)
{
	struct rtperf_daq *daq = data;

	daq->control = to_i2c_client(dev);
	return 0;
}

static void rtperf_daq_i2c_unbind(struct device *dev, struct device *master,
				  void *data)
{
	struct rtperf_daq *daq = data;

	daq->control = NULL;
}

static const struct component_ops rtperf_daq_i2c_component = {
	.bind = rtperf_daq_i2c_bind,
	.unbind = rtperf_daq_i2c_unbind,
};

static int rtperf_daq_i2c_probe(struct i2c_client *client)
{
	if (!i2c_check_functionality(client->adapter,
				     I2C_FUNC_SMBUS_BYTE_DATA |
				     I2C_FUNC_SMBUS_I2C_BLOCK))
		return dev_err_probe(&client->dev, -EOPNOTSUPP,
				     "the I2C adapter cannot transfer bytes and blocks\n");
	return component_add(&client->dev, &rtperf_daq_i2c_component);
}

static void rtperf_daq_i2c_remove(struct i2c_client *client)
{
	component_del(&client->dev, &rtperf_daq_i2c_component);
}

static const struct i2c_device_id rtperf_daq_i2c_ids[] = {
	{ .name = "rtperf-daq-ctl" },
	{ }
};
MODULE_DEVICE_TABLE(i2c, rtperf_daq_i2c_ids);

static const struct of_device_id rtperf_daq_i2c_of_ids[] = {
	{ .compatible = "rtperf,daq-control" },
	{ }
};
MODULE_DEVICE_TABLE(of, rtperf_daq_i2c_of_ids);

static struct i2c_driver rtperf_daq_i2c_driver = {
	.driver = {
		.name = "rtperf-daq-ctl",
		.of_match_table = rtperf_daq_i2c_of_ids,
	},
	.rtperf_i2c_probe_op = rtperf_daq_i2c_probe,
	.remove = rtperf_daq_i2c_remove,
	.id_table = rtperf_daq_i2c_ids,
};

int rtperf_daq_i2c_register(void)
{
	return i2c_add_driver(&rtperf_daq_i2c_driver);
}

void rtperf_daq_i2c_unregister(void)
{
	i2c_del_driver(&rtperf_daq_i2c_driver);
}
