/* SPDX-FileCopyrightText: The meta-rtperf authors */
/* SPDX-License-Identifier: MIT OR Apache-2.0 */

/*
 * What rtperf-run finds by name in librtperf-ust.so. The tracepoints are
 * macros on liblttng-ust's headers, hence C; loaded at run time, so that
 * rtperf-run itself needs no LTTng. The counterpart is ust.rs in rtperf-probe.
 */

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "events.h"

#include <lttng/ust-fork.h>
#include <lttng/ust-thread.h>
#include <signal.h>

#define EXPORT __attribute__((visibility("default")))

/* Raised whenever a function or an event's meaning changes. */
#define ABI 1

EXPORT uint32_t rtperf_ust_abi(void)
{
	return ABI;
}

/* Does what the thread's first event would do otherwise: it allocates. */
EXPORT void rtperf_ust_init_thread(void)
{
	lttng_ust_init_thread();
}

EXPORT void rtperf_ust_round_start(const char *measurement, uint16_t task, uint32_t round)
{
	lttng_ust_tracepoint(rtperf, round_start, measurement, task, round);
}

EXPORT void rtperf_ust_handoff(const char *measurement, uint16_t task, uint32_t round,
			       int64_t latency_ns)
{
	lttng_ust_tracepoint(rtperf, handoff, measurement, task, round, latency_ns);
}

EXPORT void rtperf_ust_over_bound(const char *measurement, uint16_t task, uint32_t round,
				  int64_t latency_ns, int64_t bound_ns)
{
	lttng_ust_tracepoint(rtperf, over_bound, measurement, task, round, latency_ns, bound_ns);
}

/*
 * Only the forking thread lives on in a child. These stop liblttng-ust's
 * threads around a fork and start new ones in the child, which registers as a
 * process of its own; liblttng-ust-fork does the same, but only preloaded.
 */
EXPORT void rtperf_ust_before_fork(sigset_t *signals)
{
	lttng_ust_before_fork(signals);
}

EXPORT void rtperf_ust_after_fork_parent(sigset_t *signals)
{
	lttng_ust_after_fork_parent(signals);
}

EXPORT void rtperf_ust_after_fork_child(sigset_t *signals)
{
	lttng_ust_after_fork_child(signals);
}
