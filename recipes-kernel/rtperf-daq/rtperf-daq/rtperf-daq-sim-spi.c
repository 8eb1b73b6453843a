// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: The meta-rtperf authors
/*
 * The device's SPI bus: the latched block, byte after byte.
 */
#include <linux/crc32.h>
#include <linux/device.h>
#include <linux/minmax.h>
#include <linux/spi/spi.h>
#include <linux/string.h>

#include "rtperf-daq-compat.h"
#include "rtperf-daq-sim.h"

/* A ramp in each channel, steeper from one to the next. */
static __le16 rtperf_daq_sim_sample(u32 sequence, u8 samples, int channel,
				    int sample)
{
	return cpu_to_le16((sequence * samples + sample) * 16 * (channel + 1));
}

static u8 *rtperf_daq_sim_put_samples(struct rtperf_daq_sim *sim, u8 *to,
				      u32 sequence)
{
	int channel, sample;

	for (channel = 0; channel < sim->channels; channel++) {
		for (sample = 0; sample < sim->samples; sample++) {
			__le16 value = rtperf_daq_sim_sample(sequence,
							     sim->samples,
							     channel, sample);

			memcpy(to, &value, sizeof(value));
			to += sizeof(value);
		}
	}
	return to;
}

/* A wrong bit in the first sample, after the CRC was taken. */
static void rtperf_daq_sim_corrupt(struct rtperf_daq_sim *sim)
{
	unsigned long flags;

	sim->block[sizeof(struct rtperf_daq_block_header)] ^= 0x01;
	raw_spin_lock_irqsave(&sim->lock, flags);
	sim->counters[RTPERF_DAQ_SIM_CORRUPTED]++;
	raw_spin_unlock_irqrestore(&sim->lock, flags);
}

/* Puts the captured block together; bus_lock is held. */
void rtperf_daq_sim_spi_latch(struct rtperf_daq_sim *sim,
			      const struct rtperf_daq_sim_capture *capture)
{
	unsigned int every = READ_ONCE(rtperf_daq_sim_corrupt_every);
	struct rtperf_daq_block_header header = {
		.sync = RTPERF_DAQ_SYNC,
		.layout = RTPERF_DAQ_LAYOUT,
		.channels = sim->channels,
		.samples = sim->samples,
		.sequence = cpu_to_le32(capture->sequence),
		.edge_ns = cpu_to_le64(capture->edge_ns),
		.flags = cpu_to_le32(capture->flags),
	};
	u8 *end;
	__le32 crc;

	memcpy(sim->block, &header, sizeof(header));
	end = rtperf_daq_sim_put_samples(sim, sim->block + sizeof(header),
					 capture->sequence);
	crc = cpu_to_le32(~crc32_le(~0, sim->block, end - sim->block));
	memcpy(end, &crc, sizeof(crc));

	if (every && ++sim->latched % every == 0)
		rtperf_daq_sim_corrupt(sim);
}

/* Past the block's end the line is high; what the host sends is ignored. */
static unsigned int rtperf_daq_sim_shift_out(struct rtperf_daq_sim *sim,
					     struct spi_transfer *transfer,
					     unsigned int at)
{
	unsigned int size = rtperf_daq_block_bytes(sim->channels, sim->samples);
	unsigned int n = min(transfer->len, size - min(at, size));

	if (transfer->rx_buf) {
		memcpy(transfer->rx_buf, sim->block + min(at, size), n);
		memset(transfer->rx_buf + n, 0xff, transfer->len - n);
	}
	return at + transfer->len;
}

static int rtperf_daq_sim_transfer(struct spi_controller *controller,
				   struct spi_message *message)
{
	struct rtperf_daq_sim *sim =
		*(struct rtperf_daq_sim **)spi_controller_get_devdata(controller);
	struct spi_transfer *transfer;
	unsigned int at = 0;

	mutex_lock(&sim->bus_lock);
	list_for_each_entry(transfer, &message->transfers, transfer_list)
		at = rtperf_daq_sim_shift_out(sim, transfer, at);
	mutex_unlock(&sim->bus_lock);

	message->actual_length = at;
	message->status = 0;
	spi_finalize_current_message(controller);
	return 0;
}

int rtperf_daq_sim_spi_setup(struct rtperf_daq_sim *sim)
{
	struct spi_controller *controller;
	struct rtperf_daq_sim **back;
	int ret;

	controller = rtperf_devm_spi_alloc(sim->dev, sizeof(*back));
	if (!controller)
		return -ENOMEM;
	back = spi_controller_get_devdata(controller);
	*back = sim;
	sim->controller = controller;

	controller->bus_num = -1;
	controller->num_chipselect = 1;
	controller->bits_per_word_mask = SPI_BPW_MASK(8);
	controller->transfer_one_message = rtperf_daq_sim_transfer;
	ret = devm_spi_register_controller(sim->dev, controller);
	if (ret)
		return dev_err_probe(sim->dev, ret, "no SPI controller\n");
	return 0;
}
