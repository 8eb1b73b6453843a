// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * The device's I2C bus: the register map of its datasheet.
 */
#include <linux/i2c.h>
#include <linux/module.h>
#include <linux/string.h>

#include "rtperf-daq-compat.h"
#include "rtperf-daq-sim.h"

static void rtperf_daq_sim_command(struct rtperf_daq_sim *sim, u8 command)
{
	struct rtperf_daq_sim_capture capture;

	switch (command) {
	case RTPERF_DAQ_CMD_START:
		rtperf_daq_sim_start(sim);
		break;
	case RTPERF_DAQ_CMD_STOP:
		rtperf_daq_sim_stop(sim);
		break;
	case RTPERF_DAQ_CMD_LATCH:
		/* With nothing new the last block stays. */
		if (rtperf_daq_sim_take(sim, &capture))
			rtperf_daq_sim_spi_latch(sim, &capture);
		break;
	}
}

/* Byte n of the period, and whether it is one. */
static bool rtperf_daq_sim_is_period(u8 reg, unsigned int *shift)
{
	if (reg < RTPERF_DAQ_REG_PERIOD || reg >= RTPERF_DAQ_REG_PERIOD + 4)
		return false;
	*shift = 8 * (reg - RTPERF_DAQ_REG_PERIOD);
	return true;
}

/* The last byte of a new period makes it count; out of range it is cut. */
static void rtperf_daq_sim_write(struct rtperf_daq_sim *sim, u8 reg, u8 value)
{
	unsigned int shift;

	if (reg == RTPERF_DAQ_REG_COMMAND) {
		rtperf_daq_sim_command(sim, value);
	} else if (!sim->running && rtperf_daq_sim_is_period(reg, &shift)) {
		sim->new_period_us &= ~(0xffu << shift);
		sim->new_period_us |= (u32)value << shift;
		if (shift == 24)
			sim->period_us = clamp(sim->new_period_us,
					       RTPERF_DAQ_PERIOD_MIN_US,
					       RTPERF_DAQ_PERIOD_MAX_US);
	}
}

static u8 rtperf_daq_sim_read(struct rtperf_daq_sim *sim, u8 reg)
{
	unsigned int shift;

	switch (reg) {
	case RTPERF_DAQ_REG_CHIP_ID:
		return RTPERF_DAQ_CHIP_ID;
	case RTPERF_DAQ_REG_REVISION:
		return RTPERF_DAQ_REVISION;
	case RTPERF_DAQ_REG_STATUS:
		return (sim->running ? RTPERF_DAQ_STATUS_RUNNING : 0) |
		       (rtperf_daq_sim_is_ready(sim) ?
			RTPERF_DAQ_STATUS_READY : 0);
	case RTPERF_DAQ_REG_CHANNELS:
		return sim->channels;
	case RTPERF_DAQ_REG_SAMPLES:
		return sim->samples;
	}
	if (rtperf_daq_sim_is_period(reg, &shift))
		return sim->period_us >> shift;
	return 0;
}

static void rtperf_daq_sim_message(struct rtperf_daq_sim *sim,
				   const struct i2c_msg *message)
{
	int i;

	for (i = 0; i < message->len; i++) {
		u8 *byte = &message->buf[i];

		if (message->flags & I2C_M_RD)
			*byte = rtperf_daq_sim_read(sim, sim->pointer++);
		else if (i == 0)
			sim->pointer = *byte;
		else
			rtperf_daq_sim_write(sim, sim->pointer++, *byte);
	}
}

static int rtperf_daq_sim_xfer(struct i2c_adapter *adapter,
			       struct i2c_msg *messages, int n)
{
	struct rtperf_daq_sim *sim = i2c_get_adapdata(adapter);
	int i;

	mutex_lock(&sim->bus_lock);
	for (i = 0; i < n; i++) {
		if (messages[i].addr != RTPERF_DAQ_SIM_I2C_ADDRESS)
			break;
		rtperf_daq_sim_message(sim, &messages[i]);
	}
	mutex_unlock(&sim->bus_lock);
	/* Nobody answers at another address. */
	return i < n ? -ENXIO : n;
}

static u32 rtperf_daq_sim_functionality(struct i2c_adapter *adapter)
{
	return I2C_FUNC_I2C | I2C_FUNC_SMBUS_EMUL;
}

static const struct i2c_algorithm rtperf_daq_sim_algorithm = {
	.rtperf_i2c_xfer_op = rtperf_daq_sim_xfer,
	.functionality = rtperf_daq_sim_functionality,
};

int rtperf_daq_sim_i2c_setup(struct rtperf_daq_sim *sim)
{
	struct i2c_adapter *adapter = &sim->adapter;
	int ret;

	adapter->owner = THIS_MODULE;
	adapter->algo = &rtperf_daq_sim_algorithm;
	adapter->dev.parent = sim->dev;
	strscpy(adapter->name, dev_name(sim->dev), sizeof(adapter->name));
	i2c_set_adapdata(adapter, sim);
	ret = devm_i2c_add_adapter(sim->dev, adapter);
	if (ret)
		return dev_err_probe(sim->dev, ret, "no I2C adapter\n");
	return 0;
}
