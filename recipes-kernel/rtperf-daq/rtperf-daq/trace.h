/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: The meta-rtperf authors */
/*
 * One event for each stage of a block. Each names the device (N of
 * iio:deviceN), since two may stream at once.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rtperf_daq

#if !defined(RTPERF_DAQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RTPERF_DAQ_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

DECLARE_EVENT_CLASS(rtperf_daq_stamp,
	TP_PROTO(int device, u32 edge, s64 time_ns),
	TP_ARGS(device, edge, time_ns),
	TP_STRUCT__entry(
		__field(int, device)
		__field(u32, edge)
		__field(s64, time_ns)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->edge = edge;
		__entry->time_ns = time_ns;
	),
	TP_printk("device=%d edge=%u time_ns=%lld",
		  __entry->device, __entry->edge, __entry->time_ns)
);

/* The hard handler has stamped edge number `edge`. */
DEFINE_EVENT(rtperf_daq_stamp, rtperf_daq_hardirq,
	TP_PROTO(int device, u32 edge, s64 time_ns),
	TP_ARGS(device, edge, time_ns)
);

/* The threaded handler has started; `edge` is the newest edge it knows of. */
DEFINE_EVENT(rtperf_daq_stamp, rtperf_daq_thread,
	TP_PROTO(int device, u32 edge, s64 time_ns),
	TP_ARGS(device, edge, time_ns)
);

TRACE_EVENT(rtperf_daq_i2c_start,
	TP_PROTO(int device, u8 command),
	TP_ARGS(device, command),
	TP_STRUCT__entry(
		__field(int, device)
		__field(u8, command)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->command = command;
	),
	TP_printk("device=%d command=%u", __entry->device, __entry->command)
);

TRACE_EVENT(rtperf_daq_i2c_done,
	TP_PROTO(int device, u8 command, int error),
	TP_ARGS(device, command, error),
	TP_STRUCT__entry(
		__field(int, device)
		__field(u8, command)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->command = command;
		__entry->error = error;
	),
	TP_printk("device=%d command=%u error=%d",
		  __entry->device, __entry->command, __entry->error)
);

TRACE_EVENT(rtperf_daq_spi_start,
	TP_PROTO(int device, u32 length),
	TP_ARGS(device, length),
	TP_STRUCT__entry(
		__field(int, device)
		__field(u32, length)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->length = length;
	),
	TP_printk("device=%d length=%u", __entry->device, __entry->length)
);

TRACE_EVENT(rtperf_daq_spi_done,
	TP_PROTO(int device, u32 length, int error),
	TP_ARGS(device, length, error),
	TP_STRUCT__entry(
		__field(int, device)
		__field(u32, length)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->length = length;
		__entry->error = error;
	),
	TP_printk("device=%d length=%u error=%d",
		  __entry->device, __entry->length, __entry->error)
);

/* A good block is in the buffer, with all its times. */
TRACE_EVENT(rtperf_daq_pushed,
	TP_PROTO(int device, u32 sequence, u32 flags, const s64 *times),
	TP_ARGS(device, sequence, flags, times),
	TP_STRUCT__entry(
		__field(int, device)
		__field(u32, sequence)
		__field(u32, flags)
		__field(s64, edge_ns)
		__field(s64, hardirq_ns)
		__field(s64, thread_ns)
		__field(s64, pushed_ns)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->sequence = sequence;
		__entry->flags = flags;
		__entry->edge_ns = times[0];
		__entry->hardirq_ns = times[1];
		__entry->thread_ns = times[2];
		__entry->pushed_ns = times[3];
	),
	TP_printk("device=%d sequence=%u flags=0x%x edge_ns=%lld hardirq_ns=%lld thread_ns=%lld pushed_ns=%lld",
		  __entry->device, __entry->sequence, __entry->flags,
		  __entry->edge_ns, __entry->hardirq_ns, __entry->thread_ns,
		  __entry->pushed_ns)
);

/* `count` blocks from `sequence` on never came. */
TRACE_EVENT(rtperf_daq_lost,
	TP_PROTO(int device, u32 sequence, u32 count),
	TP_ARGS(device, sequence, count),
	TP_STRUCT__entry(
		__field(int, device)
		__field(u32, sequence)
		__field(u32, count)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->sequence = sequence;
		__entry->count = count;
	),
	TP_printk("device=%d sequence=%u count=%u",
		  __entry->device, __entry->sequence, __entry->count)
);

#endif /* RTPERF_DAQ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
