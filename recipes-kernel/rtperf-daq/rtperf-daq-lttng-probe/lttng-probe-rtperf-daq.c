// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * Lets LTTng record the driver's events. The name is the one that LTTng's
 * session daemon looks for: --extra-kmod-probes=rtperf-daq.
 */
#include <linux/module.h>
#include <lttng/tracer.h>

/* The driver's own declarations: a definition that differs won't compile. */
#include "trace.h"
#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE

/* LTTng looks beside its own headers first: no name of theirs will do. */
#define LTTNG_PACKAGE_BUILD
#define CREATE_TRACE_POINTS
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE rtperf_daq_events

#include "rtperf_daq_events.h"

MODULE_AUTHOR("The meta-rtperf authors");
MODULE_DESCRIPTION("LTTng probe for rtperf-daq");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
