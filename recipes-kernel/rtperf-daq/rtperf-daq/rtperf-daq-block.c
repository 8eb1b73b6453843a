// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * One block as it came over SPI: is it whole, and what does it say?
 */
#include <linux/crc32.h>
#include <linux/string.h>

#include "rtperf-daq.h"

enum rtperf_daq_verdict rtperf_daq_block_check(const u8 *block, u8 channels,
					       u8 samples)
{
	const struct rtperf_daq_block_header *header = (const void *)block;
	size_t length = rtperf_daq_block_bytes(channels, samples) -
			RTPERF_DAQ_CRC_BYTES;
	__le32 crc;

	if (header->sync != RTPERF_DAQ_SYNC)
		return RTPERF_DAQ_BAD_FORMAT;

	memcpy(&crc, block + length, sizeof(crc));
	if (le32_to_cpu(crc) != ~crc32_le(~0, block, length))
		return RTPERF_DAQ_BAD_CRC;

	if (header->layout != RTPERF_DAQ_LAYOUT ||
	    header->channels != channels || header->samples != samples)
		return RTPERF_DAQ_BAD_FORMAT;
	return RTPERF_DAQ_GOOD;
}

/* The block has been checked. Samples keep the device's byte order. */
void rtperf_daq_block_decode(const u8 *block, u8 channels, u8 samples,
			     struct rtperf_daq_scan *scan)
{
	const struct rtperf_daq_block_header *header = (const void *)block;

	scan->times[RTPERF_DAQ_EDGE] = le64_to_cpu(header->edge_ns);
	scan->sequence = le32_to_cpu(header->sequence);
	scan->flags = le32_to_cpu(header->flags) & RTPERF_DAQ_FLAG_OVERRUN;
	memcpy((u8 *)scan + rtperf_daq_samples_offset(samples),
	       block + sizeof(*header),
	       rtperf_daq_payload_bytes(channels, samples));
}
