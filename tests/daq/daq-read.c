// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT
/*
 * Reads blocks from an rtperf-daq device and checks what can be checked from
 * user space. usage: daq-read N BLOCKS [samples] [wait=MS] [length=SCANS]
 * Prints one line; exit status 0 when as many blocks came, 3 when the device
 * went away, 1 for anything else.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BASE "/sys/bus/iio/devices/iio:device"
#define MAX_BLOCKS 100000

struct scan { int64_t time[4]; uint32_t sequence, flags; };
enum { EDGE_HARDIRQ, HARDIRQ_THREAD, THREAD_USER, STAGES };
static const char *stage_name[] = { "edge-hardirq", "hardirq-thread", "thread-user" };
static int64_t *stage[STAGES];
static int device;

static int put(const char *name, const char *value)
{
	char path[256];
	snprintf(path, sizeof(path), BASE "%d/%s", device, name);
	int fd = open(path, O_WRONLY);
	int ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	if (!ok)
		fprintf(stderr, "daq-read: %s: cannot write %s: %s\n", path, value, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

static int get(const char *name, char *text, size_t size)
{
	char path[256];
	snprintf(path, sizeof(path), BASE "%d/%s", device, name);
	FILE *file = fopen(path, "r");
	int ok = file && fgets(text, size, file);
	if (file)
		fclose(file);
	text[ok ? strcspn(text, "\n") : 0] = 0;
	return ok;
}

/* The documented order of the scan; a driver that changed it must fail here. */
static int check_labels(void)
{
	static const char *label[] = { "edge", "hardirq", "thread", "pushed", "sequence", "flags" };
	static const char *type[] = { "le:s64/64>>0", "le:u32/32>>0" };
	char name[64], text[64];
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "in_count%d_label", i);
		if (!get(name, text, sizeof(text)) || strcmp(text, label[i]))
			return fprintf(stderr, "daq-read: %s is '%s', not %s\n", name, text, label[i]), 0;
		snprintf(name, sizeof(name), "scan_elements/in_count%d_index", i);
		if (!get(name, text, sizeof(text)) || atoi(text) != i)
			return fprintf(stderr, "daq-read: %s is %s\n", name, text), 0;
		snprintf(name, sizeof(name), "scan_elements/in_count%d_type", i);
		if (!get(name, text, sizeof(text)) || strcmp(text, type[i >= 4]))
			return fprintf(stderr, "daq-read: %s is %s\n", name, text), 0;
	}
	return 1;
}

/* Counts the voltage channels and their samples, from their type files. */
static int count_channels(int *samples)
{
	char name[64], text[64];
	int n = 0;
	for (;; n++) {
		snprintf(name, sizeof(name), "scan_elements/in_voltage%d_type", n);
		if (!get(name, text, sizeof(text)))
			return n;
		char *x = strchr(text, 'X');
		*samples = x ? atoi(x + 1) : 1;
	}
}

static int enable(int channels, int with_samples)
{
	char name[64];
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "scan_elements/in_count%d_en", i);
		if (!put(name, "1"))
			return 0;
	}
	for (int i = 0; i < channels; i++) {
		snprintf(name, sizeof(name), "scan_elements/in_voltage%d_en", i);
		if (!put(name, with_samples ? "1" : "0"))
			return 0;
	}
	return 1;
}

static int samples_right(const uint8_t *at, uint32_t sequence, int channels, int samples)
{
	for (int c = 0; c < channels; c++)
		for (int s = 0; s < samples; s++, at += 2) {
			uint16_t want = (sequence * samples + s) * 16 * (c + 1);
			if ((at[0] | at[1] << 8) != want)
				return 0;
		}
	return 1;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void report(int n, unsigned lost, int late, int wrong)
{
	printf("blocks=%d lost=%u late=%d wrong=%d", n, lost, late, wrong);
	for (int i = 0; i < STAGES && n; i++) {
		qsort(stage[i], n, sizeof(**stage), compare);
		printf(" %s=%lld/%lld/%lld", stage_name[i], (long long)stage[i][0],
		       (long long)stage[i][n / 2], (long long)stage[i][n - 1]);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	int blocks = argc > 2 ? atoi(argv[2]) : 0, with_samples = 0, wait_ms = 0, samples = 1;
	char length[16] = "256", path[64];
	if (blocks < 1 || blocks > MAX_BLOCKS)
		return fprintf(stderr, "usage: daq-read N BLOCKS [samples] [wait=MS] [length=SCANS]\n"), 1;
	device = atoi(argv[1]);
	for (int i = 3; i < argc; i++) {
		if (!strcmp(argv[i], "samples"))
			with_samples = 1;
		sscanf(argv[i], "wait=%d", &wait_ms);
		sscanf(argv[i], "length=%15s", length);
	}
	struct sched_param priority = { .sched_priority = 60 };
	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		return perror("daq-read: SCHED_FIFO"), 1;

	int channels = count_channels(&samples);
	size_t each = 2 * samples, first = (sizeof(struct scan) + each - 1) / each * each;
	size_t largest = each > 8 ? each : 8, size = sizeof(struct scan);
	if (with_samples)
		size = (first + channels * each + largest - 1) / largest * largest;
	uint8_t *scan = malloc(size);
	for (int i = 0; i < STAGES; i++)
		stage[i] = calloc(blocks, sizeof(**stage));
	snprintf(path, sizeof(path), "/dev/iio:device%d", device);
	if (!channels || !check_labels() || !enable(channels, with_samples) || !put("buffer/length", length))
		return 1;
	int fd = open(path, O_RDONLY);
	if (fd < 0)
		return perror(path), 1;
	if (!put("buffer/enable", "1"))
		return 1;
	usleep(wait_ms * 1000);

	int n = 0, late = 0, wrong = 0, gone = 0;
	unsigned lost = 0;
	uint32_t next = 0;
	while (n < blocks) {
		ssize_t got = read(fd, scan, size);
		int64_t user = now_ns();
		if (got != (ssize_t)size) {
			gone = got < 0 && errno == ENODEV;
			fprintf(stderr, "daq-read: read gave %zd: %s\n", got, got < 0 ? strerror(errno) : "short");
			break;
		}
		struct scan s;
		memcpy(&s, scan, sizeof(s));
		lost += s.sequence - next;
		next = s.sequence + 1;
		late += !!(s.flags & 2);
		int ordered = s.time[1] <= s.time[2] && s.time[2] <= s.time[3] && s.time[3] <= user &&
			      (s.time[0] <= s.time[1] || (s.flags & 2));
		wrong += !ordered || (with_samples && !samples_right(scan + first, s.sequence, channels, samples));
		stage[EDGE_HARDIRQ][n] = s.time[1] - s.time[0];
		stage[HARDIRQ_THREAD][n] = s.time[2] - s.time[1];
		stage[THREAD_USER][n] = user - s.time[2];
		n++;
	}
	if (!gone)
		put("buffer/enable", "0");
	close(fd);
	report(n, lost, late, wrong);
	return gone ? 3 : n < blocks;
}
