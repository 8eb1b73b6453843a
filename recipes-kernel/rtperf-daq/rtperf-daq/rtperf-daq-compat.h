/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: The meta-rtperf authors */
/*
 * Where kernels 6.1 to 6.18 differ. Kbuild looks into the kernel's headers and
 * sets HAVE_...; nothing else in these modules knows of kernel versions.
 */
#ifndef RTPERF_DAQ_COMPAT_H
#define RTPERF_DAQ_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/i2c.h>
#include <linux/spi/spi.h>

/* i2c_driver's probe with one argument had a name of its own before 6.3. */
#ifdef HAVE_I2C_PROBE_NEW
#define rtperf_i2c_probe_op probe_new
#else
#define rtperf_i2c_probe_op probe
#endif

/* i2c_algorithm's transfer was called master_xfer before 6.11. */
#ifdef HAVE_I2C_ALGORITHM_XFER
#define rtperf_i2c_xfer_op xfer
#else
#define rtperf_i2c_xfer_op master_xfer
#endif

static inline void
rtperf_hrtimer_setup(struct hrtimer *timer,
		     enum hrtimer_restart (*function)(struct hrtimer *),
		     clockid_t clock, enum hrtimer_mode mode)
{
#ifdef HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

static inline struct spi_controller *
rtperf_devm_spi_alloc(struct device *dev, unsigned int size)
{
#ifdef HAVE_SPI_ALLOC_HOST
	return devm_spi_alloc_host(dev, size);
#else
	return devm_spi_alloc_master(dev, size);
#endif
}

#endif /* RTPERF_DAQ_COMPAT_H */
