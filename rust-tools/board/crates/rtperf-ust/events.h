/* SPDX-FileCopyrightText: The meta-rtperf authors */
/* SPDX-License-Identifier: MIT OR Apache-2.0 */

/*
 * The events. `measurement` is the name of the sample file without .npy, so
 * that events and samples join; `task` and `round` are those of the sample.
 */

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER rtperf

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./events.h"

#if !defined(RTPERF_UST_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define RTPERF_UST_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	rtperf, round_start,
	LTTNG_UST_TP_ARGS(const char *, measurement, uint16_t, task, uint32_t, round),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(measurement, measurement)
		lttng_ust_field_integer(uint16_t, task, task)
		lttng_ust_field_integer(uint32_t, round, round)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(rtperf, round_start, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(
	rtperf, handoff,
	LTTNG_UST_TP_ARGS(const char *, measurement, uint16_t, task, uint32_t, round,
			  int64_t, latency_ns),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(measurement, measurement)
		lttng_ust_field_integer(uint16_t, task, task)
		lttng_ust_field_integer(uint32_t, round, round)
		lttng_ust_field_integer(int64_t, latency_ns, latency_ns)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(rtperf, handoff, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(
	rtperf, over_bound,
	LTTNG_UST_TP_ARGS(const char *, measurement, uint16_t, task, uint32_t, round,
			  int64_t, latency_ns, int64_t, bound_ns),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(measurement, measurement)
		lttng_ust_field_integer(uint16_t, task, task)
		lttng_ust_field_integer(uint32_t, round, round)
		lttng_ust_field_integer(int64_t, latency_ns, latency_ns)
		lttng_ust_field_integer(int64_t, bound_ns, bound_ns)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(rtperf, over_bound, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

#endif

#include <lttng/tracepoint-event.h>
