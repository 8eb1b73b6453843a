// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * A DAQ device without hardware: brings its own GPIO chip, I2C adapter and SPI
 * controller, and puts on them what the driver binds to. The driver can't tell.
 */
#include <linux/device.h>
#include <linux/gpio/machine.h>
#include <linux/i2c.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/slab.h>
#include <linux/spi/spi.h>
#include <linux/sysfs.h>

#include "rtperf-daq-sim.h"

#define MAX_DEVICES	4
#define MAX_HOLD_US	20000
#define MAX_STORM	1000

static unsigned int devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "simulated devices, 1 to 4 (default 1)");

static unsigned int channels = 2;
module_param(channels, uint, 0444);
MODULE_PARM_DESC(channels, "channels in a block, 1 to 8 (default 2)");

static unsigned int samples = 8;
module_param(samples, uint, 0444);
MODULE_PARM_DESC(samples, "samples of a channel in a block, a power of two up to 64 (default 8)");

static unsigned int period_us = 1000;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "time from block to block at first, 50 to 10000000 (default 1000)");

unsigned int rtperf_daq_sim_jitter_us;
module_param_named(jitter_us, rtperf_daq_sim_jitter_us, uint, 0644);
MODULE_PARM_DESC(jitter_us, "put off each edge by up to this, below the period (default 0)");

static int set_hold_us(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 0, MAX_HOLD_US);
}

static const struct kernel_param_ops hold_us_ops = {
	.set = set_hold_us,
	.get = param_get_uint,
};

unsigned int rtperf_daq_sim_hold_us;
module_param_cb(hold_us, &hold_us_ops, &rtperf_daq_sim_hold_us, 0644);
MODULE_PARM_DESC(hold_us, "before each edge, run a hard interrupt handler that takes this long, up to 20000 (default 0)");

unsigned int rtperf_daq_sim_drop_every;
module_param_named(drop_every, rtperf_daq_sim_drop_every, uint, 0644);
MODULE_PARM_DESC(drop_every, "leave out a sequence number before every so-manieth block (default 0: never)");

unsigned int rtperf_daq_sim_corrupt_every;
module_param_named(corrupt_every, rtperf_daq_sim_corrupt_every, uint, 0644);
MODULE_PARM_DESC(corrupt_every, "flip a bit in every so-manieth block (default 0: never)");

static int set_storm(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 0, MAX_STORM);
}

static const struct kernel_param_ops storm_ops = {
	.set = set_storm,
	.get = param_get_uint,
};

unsigned int rtperf_daq_sim_storm;
module_param_cb(storm, &storm_ops, &rtperf_daq_sim_storm, 0644);
MODULE_PARM_DESC(storm, "extra edges with each block, up to 1000 (default 0)");

static struct platform_device *rtperf_daq_sim_devices[MAX_DEVICES];

static ssize_t rtperf_daq_sim_counter_show(struct device *dev,
					   struct device_attribute *attr,
					   char *text)
{
	struct dev_ext_attribute *ext = container_of(attr,
						     struct dev_ext_attribute,
						     attr);
	struct rtperf_daq_sim *sim = dev_get_drvdata(dev);
	unsigned long flags;
	u64 value;

	raw_spin_lock_irqsave(&sim->lock, flags);
	value = sim->counters[(unsigned long)ext->var];
	raw_spin_unlock_irqrestore(&sim->lock, flags);
	return sysfs_emit(text, "%llu\n", value);
}

#define RTPERF_DAQ_SIM_COUNTER(_name, which)				\
	static struct dev_ext_attribute dev_attr_##_name = {		\
		__ATTR(_name, 0444, rtperf_daq_sim_counter_show, NULL),	\
		(void *)(which)						\
	}

RTPERF_DAQ_SIM_COUNTER(blocks, RTPERF_DAQ_SIM_BLOCKS);
RTPERF_DAQ_SIM_COUNTER(overwritten, RTPERF_DAQ_SIM_OVERWRITTEN);
RTPERF_DAQ_SIM_COUNTER(skipped, RTPERF_DAQ_SIM_SKIPPED);
RTPERF_DAQ_SIM_COUNTER(dropped, RTPERF_DAQ_SIM_DROPPED);
RTPERF_DAQ_SIM_COUNTER(corrupted, RTPERF_DAQ_SIM_CORRUPTED);

static struct attribute *rtperf_daq_sim_attrs[] = {
	&dev_attr_blocks.attr.attr,
	&dev_attr_overwritten.attr.attr,
	&dev_attr_skipped.attr.attr,
	&dev_attr_dropped.attr.attr,
	&dev_attr_corrupted.attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(rtperf_daq_sim);

static void rtperf_daq_sim_remove_i2c(void *client)
{
	i2c_unregister_device(client);
}

static void rtperf_daq_sim_remove_spi(void *spi)
{
	spi_unregister_device(spi);
}

static void rtperf_daq_sim_remove_lookup(void *table)
{
	gpiod_remove_lookup_table(table);
}

static int rtperf_daq_sim_add_i2c(struct rtperf_daq_sim *sim,
				  const struct software_node *node)
{
	struct i2c_board_info info = {
		.type = "rtperf-daq-ctl",
		.addr = RTPERF_DAQ_SIM_I2C_ADDRESS,
		.swnode = node,
	};

	sim->client = i2c_new_client_device(&sim->adapter, &info);
	if (IS_ERR(sim->client))
		return dev_err_probe(sim->dev, PTR_ERR(sim->client),
				     "cannot add the I2C half\n");
	return devm_add_action_or_reset(sim->dev, rtperf_daq_sim_remove_i2c,
					sim->client);
}

/* The SPI half finds its line by its own name. */
static int rtperf_daq_sim_add_lookup(struct rtperf_daq_sim *sim,
				     const char *spi_name)
{
	struct gpiod_lookup_table *table;

	if (!spi_name)
		return -ENOMEM;
	table = devm_kzalloc(sim->dev, struct_size(table, table, 2), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	table->dev_id = spi_name;
	table->table[0] = GPIO_LOOKUP(sim->gpio.label, 0, "drdy",
				      GPIO_ACTIVE_HIGH);
	gpiod_add_lookup_table(table);
	return devm_add_action_or_reset(sim->dev, rtperf_daq_sim_remove_lookup,
					table);
}

/* Newer kernels name an SPI device by its node, older ones by its bus. */
static int rtperf_daq_sim_add_lookups(struct rtperf_daq_sim *sim)
{
	int ret;

	ret = rtperf_daq_sim_add_lookup(sim, devm_kasprintf(sim->dev, GFP_KERNEL,
							    "spi-%s",
							    sim->data_node.name));
	if (ret)
		return ret;
	return rtperf_daq_sim_add_lookup(sim, devm_kasprintf(sim->dev, GFP_KERNEL,
							     "spi%d.0",
							     sim->controller->bus_num));
}

static int rtperf_daq_sim_add_spi(struct rtperf_daq_sim *sim,
				  const struct software_node *node)
{
	struct spi_board_info info = {
		.modalias = "rtperf-daq",
		.max_speed_hz = 10000000,
		.swnode = node,
	};
	struct spi_device *spi;

	spi = spi_new_device(sim->controller, &info);
	if (!spi)
		return dev_err_probe(sim->dev, -ENODEV,
				     "cannot add the SPI half\n");
	return devm_add_action_or_reset(sim->dev, rtperf_daq_sim_remove_spi,
					spi);
}

/* The SPI half's one property points at the I2C half, as a phandle would. */
static int rtperf_daq_sim_init_nodes(struct rtperf_daq_sim *sim)
{
	sim->data_node.name = devm_kasprintf(sim->dev, GFP_KERNEL, "%s-data",
					     dev_name(sim->dev));
	if (!sim->data_node.name)
		return -ENOMEM;
	sim->control_ref[0] = SOFTWARE_NODE_REFERENCE(&sim->control_node);
	sim->data_properties[0] = PROPERTY_ENTRY_REF_ARRAY("rtperf,control",
							   sim->control_ref);
	sim->data_node.properties = sim->data_properties;
	return 0;
}

/* Taken down in reverse: the halves go first, and the driver with them. */
static int rtperf_daq_sim_connect(struct rtperf_daq_sim *sim)
{
	int ret;

	ret = rtperf_daq_sim_gpio_setup(sim);
	if (ret)
		return ret;
	ret = rtperf_daq_sim_timer_setup(sim);
	if (ret)
		return ret;
	ret = rtperf_daq_sim_spi_setup(sim);
	if (ret)
		return ret;
	ret = rtperf_daq_sim_i2c_setup(sim);
	if (ret)
		return ret;
	ret = rtperf_daq_sim_init_nodes(sim);
	if (ret)
		return ret;
	ret = rtperf_daq_sim_add_i2c(sim, &sim->control_node);
	if (ret)
		return ret;
	ret = rtperf_daq_sim_add_lookups(sim);
	if (ret)
		return ret;
	return rtperf_daq_sim_add_spi(sim, &sim->data_node);
}

static int rtperf_daq_sim_probe(struct platform_device *pdev)
{
	struct rtperf_daq_sim *sim;

	sim = devm_kzalloc(&pdev->dev, sizeof(*sim), GFP_KERNEL);
	if (!sim)
		return -ENOMEM;
	sim->dev = &pdev->dev;
	sim->channels = channels;
	sim->samples = samples;
	sim->period_us = period_us;
	mutex_init(&sim->bus_lock);
	platform_set_drvdata(pdev, sim);
	return rtperf_daq_sim_connect(sim);
}

static struct platform_driver rtperf_daq_sim_driver = {
	.driver = {
		.name = "rtperf-daq-sim",
		.dev_groups = rtperf_daq_sim_groups,
	},
	.probe = rtperf_daq_sim_probe,
};

static int __init rtperf_daq_sim_check_parameters(void)
{
	const char *bad = NULL;

	if (!devices || devices > MAX_DEVICES)
		bad = "devices";
	else if (!channels || channels > RTPERF_DAQ_MAX_CHANNELS)
		bad = "channels";
	else if (samples > RTPERF_DAQ_MAX_SAMPLES || !is_power_of_2(samples))
		bad = "samples";
	else if (period_us < RTPERF_DAQ_PERIOD_MIN_US ||
		 period_us > RTPERF_DAQ_PERIOD_MAX_US)
		bad = "period_us";
	if (!bad)
		return 0;
	pr_err("rtperf-daq-sim: parameter %s is out of range; see modinfo\n",
	       bad);
	return -EINVAL;
}

static void rtperf_daq_sim_remove_devices(unsigned int n)
{
	while (n--)
		platform_device_unregister(rtperf_daq_sim_devices[n]);
}

static int __init rtperf_daq_sim_init(void)
{
	struct platform_device *pdev;
	unsigned int i;
	int ret;

	ret = rtperf_daq_sim_check_parameters();
	if (ret)
		return ret;
	ret = platform_driver_register(&rtperf_daq_sim_driver);
	if (ret)
		return ret;
	for (i = 0; i < devices; i++) {
		pdev = platform_device_register_simple("rtperf-daq-sim", i,
						       NULL, 0);
		if (IS_ERR(pdev)) {
			rtperf_daq_sim_remove_devices(i);
			platform_driver_unregister(&rtperf_daq_sim_driver);
			return PTR_ERR(pdev);
		}
		rtperf_daq_sim_devices[i] = pdev;
	}
	return 0;
}
module_init(rtperf_daq_sim_init);

static void __exit rtperf_daq_sim_exit(void)
{
	rtperf_daq_sim_remove_devices(devices);
	platform_driver_unregister(&rtperf_daq_sim_driver);
}
module_exit(rtperf_daq_sim_exit);

MODULE_AUTHOR("The meta-rtperf authors");
MODULE_DESCRIPTION("Simulated device for rtperf-daq, with faults to plant");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
