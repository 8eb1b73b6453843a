// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * The device's data-ready line: a GPIO chip of one input with interrupt.
 */
#include <linux/device.h>
#include <linux/gpio/driver.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/irqdomain.h>
#include <linux/module.h>

#include "rtperf-daq-sim.h"

static int rtperf_daq_sim_gpio_get(struct gpio_chip *chip, unsigned int line)
{
	return rtperf_daq_sim_is_ready(gpiochip_get_data(chip));
}

static int rtperf_daq_sim_gpio_direction(struct gpio_chip *chip,
					 unsigned int line)
{
	return GPIO_LINE_DIRECTION_IN;
}

static int rtperf_daq_sim_gpio_input(struct gpio_chip *chip, unsigned int line)
{
	return 0;
}

static void rtperf_daq_sim_irq_ack(struct irq_data *data)
{
}

static void rtperf_daq_sim_irq_mask(struct irq_data *data)
{
	struct gpio_chip *chip = irq_data_get_irq_chip_data(data);
	struct rtperf_daq_sim *sim = gpiochip_get_data(chip);

	WRITE_ONCE(sim->unmasked, false);
	gpiochip_disable_irq(chip, irqd_to_hwirq(data));
}

static void rtperf_daq_sim_irq_unmask(struct irq_data *data)
{
	struct gpio_chip *chip = irq_data_get_irq_chip_data(data);
	struct rtperf_daq_sim *sim = gpiochip_get_data(chip);

	gpiochip_enable_irq(chip, irqd_to_hwirq(data));
	WRITE_ONCE(sim->unmasked, true);
}

static int rtperf_daq_sim_irq_set_type(struct irq_data *data, unsigned int type)
{
	return type == IRQ_TYPE_EDGE_RISING ? 0 : -EINVAL;
}

static const struct irq_chip rtperf_daq_sim_irq_chip = {
	.name = "rtperf-daq-sim",
	.irq_ack = rtperf_daq_sim_irq_ack,
	.irq_mask = rtperf_daq_sim_irq_mask,
	.irq_unmask = rtperf_daq_sim_irq_unmask,
	.irq_set_type = rtperf_daq_sim_irq_set_type,
	.flags = IRQCHIP_IMMUTABLE,
	GPIOCHIP_IRQ_RESOURCE_HELPERS,
};

/* From hard interrupt context, as a chained interrupt would be. */
void rtperf_daq_sim_gpio_edge(struct rtperf_daq_sim *sim)
{
	if (READ_ONCE(sim->unmasked))
		generic_handle_domain_irq(sim->gpio.irq.domain, 0);
}

int rtperf_daq_sim_gpio_setup(struct rtperf_daq_sim *sim)
{
	struct gpio_chip *chip = &sim->gpio;
	int ret;

	chip->label = dev_name(sim->dev);
	chip->parent = sim->dev;
	chip->owner = THIS_MODULE;
	chip->base = -1;
	chip->ngpio = 1;
	chip->get = rtperf_daq_sim_gpio_get;
	chip->get_direction = rtperf_daq_sim_gpio_direction;
	chip->direction_input = rtperf_daq_sim_gpio_input;

	gpio_irq_chip_set_chip(&chip->irq, &rtperf_daq_sim_irq_chip);
	chip->irq.default_type = IRQ_TYPE_NONE;
	chip->irq.handler = handle_edge_irq;

	ret = devm_gpiochip_add_data(sim->dev, chip, sim);
	if (ret)
		return dev_err_probe(sim->dev, ret, "no GPIO chip\n");
	return 0;
}
