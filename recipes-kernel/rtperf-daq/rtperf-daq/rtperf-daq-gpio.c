// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * The device's data-ready line, and the interrupt behind it.
 */
#include <linux/device.h>
#include <linux/gpio/consumer.h>
#include <linux/interrupt.h>

#include "rtperf-daq.h"

int rtperf_daq_gpio_setup(struct rtperf_daq *daq)
{
	struct gpio_desc *line;
	int irq;

	line = devm_gpiod_get(daq->dev, "drdy", GPIOD_IN);
	if (IS_ERR(line))
		return dev_err_probe(daq->dev, PTR_ERR(line),
				     "no data-ready line (drdy-gpios)\n");
	/* Such a line's interrupt comes in a thread: there is nothing to stamp. */
	if (gpiod_cansleep(line))
		return dev_err_probe(daq->dev, -EINVAL,
				     "the data-ready line is behind a bus that sleeps\n");
	irq = gpiod_to_irq(line);
	if (irq < 0)
		return dev_err_probe(daq->dev, irq,
				     "the data-ready line has no interrupt\n");
	daq->irq = irq;
	daq->irq_trigger = gpiod_is_active_low(line) ? IRQF_TRIGGER_FALLING :
						       IRQF_TRIGGER_RISING;
	return 0;
}
