/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: The meta-rtperf authors */
/*
 * The events of the driver's trace.h, as LTTng writes them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rtperf_daq

#if !defined(RTPERF_DAQ_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define RTPERF_DAQ_EVENTS_H

#include <lttng/tracepoint-event.h>
#include <linux/types.h>

LTTNG_TRACEPOINT_EVENT_CLASS(rtperf_daq_stamp,
	TP_PROTO(int device, u32 edge, s64 time_ns),
	TP_ARGS(device, edge, time_ns),
	TP_FIELDS(
		ctf_integer(int, device, device)
		ctf_integer(u32, edge, edge)
		ctf_integer(s64, time_ns, time_ns)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(rtperf_daq_stamp, rtperf_daq_hardirq,
	TP_PROTO(int device, u32 edge, s64 time_ns),
	TP_ARGS(device, edge, time_ns)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(rtperf_daq_stamp, rtperf_daq_thread,
	TP_PROTO(int device, u32 edge, s64 time_ns),
	TP_ARGS(device, edge, time_ns)
)

LTTNG_TRACEPOINT_EVENT(rtperf_daq_i2c_start,
	TP_PROTO(int device, u8 command),
	TP_ARGS(device, command),
	TP_FIELDS(
		ctf_integer(int, device, device)
		ctf_integer(u8, command, command)
	)
)

LTTNG_TRACEPOINT_EVENT(rtperf_daq_i2c_done,
	TP_PROTO(int device, u8 command, int error),
	TP_ARGS(device, command, error),
	TP_FIELDS(
		ctf_integer(int, device, device)
		ctf_integer(u8, command, command)
		ctf_integer(int, error, error)
	)
)

LTTNG_TRACEPOINT_EVENT(rtperf_daq_spi_start,
	TP_PROTO(int device, u32 length),
	TP_ARGS(device, length),
	TP_FIELDS(
		ctf_integer(int, device, device)
		ctf_integer(u32, length, length)
	)
)

LTTNG_TRACEPOINT_EVENT(rtperf_daq_spi_done,
	TP_PROTO(int device, u32 length, int error),
	TP_ARGS(device, length, error),
	TP_FIELDS(
		ctf_integer(int, device, device)
		ctf_integer(u32, length, length)
		ctf_integer(int, error, error)
	)
)

LTTNG_TRACEPOINT_EVENT(rtperf_daq_pushed,
	TP_PROTO(int device, u32 sequence, u32 flags, const s64 *times),
	TP_ARGS(device, sequence, flags, times),
	TP_FIELDS(
		ctf_integer(int, device, device)
		ctf_integer(u32, sequence, sequence)
		ctf_integer_hex(u32, flags, flags)
		ctf_integer(s64, edge_ns, times[0])
		ctf_integer(s64, hardirq_ns, times[1])
		ctf_integer(s64, thread_ns, times[2])
		ctf_integer(s64, pushed_ns, times[3])
	)
)

LTTNG_TRACEPOINT_EVENT(rtperf_daq_lost,
	TP_PROTO(int device, u32 sequence, u32 count),
	TP_ARGS(device, sequence, count),
	TP_FIELDS(
		ctf_integer(int, device, device)
		ctf_integer(u32, sequence, sequence)
		ctf_integer(u32, count, count)
	)
)

#endif /* RTPERF_DAQ_EVENTS_H */

#include <lttng/define_trace.h>
