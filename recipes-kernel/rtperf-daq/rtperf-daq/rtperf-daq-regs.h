/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: The meta-rtperf authors */
/*
 * The device as its datasheet (docs/daq.md) has it: registers on I2C, one
 * block on SPI. The driver and the simulator share nothing else.
 */
#ifndef RTPERF_DAQ_REGS_H
#define RTPERF_DAQ_REGS_H

#include <linux/bits.h>
#include <linux/types.h>

/* I2C: the first byte written is the register, which then counts up. */
#define RTPERF_DAQ_REG_CHIP_ID		0x00	/* ro */
#define RTPERF_DAQ_REG_REVISION		0x01	/* ro */
#define RTPERF_DAQ_REG_STATUS		0x02	/* ro */
#define RTPERF_DAQ_REG_COMMAND		0x03	/* wo */
#define RTPERF_DAQ_REG_CHANNELS		0x04	/* ro */
#define RTPERF_DAQ_REG_SAMPLES		0x05	/* ro */
#define RTPERF_DAQ_REG_PERIOD		0x08	/* rw, 4 bytes, little endian, us */

#define RTPERF_DAQ_CHIP_ID		0xd4
#define RTPERF_DAQ_REVISION		0x10	/* 1.0 */

#define RTPERF_DAQ_STATUS_RUNNING	BIT(0)
#define RTPERF_DAQ_STATUS_READY		BIT(1)

#define RTPERF_DAQ_CMD_START		0x01
#define RTPERF_DAQ_CMD_STOP		0x02
#define RTPERF_DAQ_CMD_LATCH		0x03

#define RTPERF_DAQ_PERIOD_MIN_US	50U
#define RTPERF_DAQ_PERIOD_MAX_US	10000000U

#define RTPERF_DAQ_MAX_CHANNELS		8
#define RTPERF_DAQ_MAX_SAMPLES		64	/* a power of two, 1 to 64 */

/* One step of a sample is 125 uV. */
#define RTPERF_DAQ_SCALE_UV		125

/* SPI, mode 0: header, samples channel by channel, CRC. Little endian. */
struct rtperf_daq_block_header {
	u8 sync;
	u8 layout;
	u8 channels;
	u8 samples;
	__le32 sequence;
	__le64 edge_ns;
	__le32 flags;
} __packed;

#define RTPERF_DAQ_SYNC			0xa5
#define RTPERF_DAQ_LAYOUT		1

/* A block was overwritten, unread, since the one read before this. */
#define RTPERF_DAQ_BLOCK_OVERRUN	BIT(0)

/* CRC-32 of IEEE 802.3 over everything before it. */
#define RTPERF_DAQ_CRC_BYTES		4

#define RTPERF_DAQ_SAMPLE_BYTES		2

static inline size_t rtperf_daq_payload_bytes(u8 channels, u8 samples)
{
	return (size_t)channels * samples * RTPERF_DAQ_SAMPLE_BYTES;
}

static inline size_t rtperf_daq_block_bytes(u8 channels, u8 samples)
{
	return sizeof(struct rtperf_daq_block_header) +
	       rtperf_daq_payload_bytes(channels, samples) +
	       RTPERF_DAQ_CRC_BYTES;
}

#define RTPERF_DAQ_MAX_BLOCK_BYTES					\
	(sizeof(struct rtperf_daq_block_header) +			\
	 RTPERF_DAQ_MAX_CHANNELS * RTPERF_DAQ_MAX_SAMPLES *		\
	 RTPERF_DAQ_SAMPLE_BYTES + RTPERF_DAQ_CRC_BYTES)

#endif /* RTPERF_DAQ_REGS_H */
