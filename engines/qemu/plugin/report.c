// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines to the Python side, through a pipe: progress, marks, and how the run ended.
 *
 * Progress depends on the host's clock and goes nowhere else; everything that becomes a result is
 * a function of the guest alone.
 */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"
#include "local_time.h"
#include "machine.h"
#include "turns.h"
#include "vcpu.h"
#include "virtual_time.h"

#define LINE_ROOM 1024
#define PROGRESS_EVERY_MS 100
/* Turns between two looks at the host's clock. */
#define PROGRESS_EVERY_TURNS 8

static int report_fd = -1;

static void send(const char *line, size_t length)
{
	while (length) {
		ssize_t n = write(report_fd, line, length);

		if (n <= 0)
			_exit(1); /* the Python side is gone */
		line += n;
		length -= n;
	}
}

static void __attribute__((format(printf, 1, 2))) send_line(const char *format, ...)
{
	char line[LINE_ROOM];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line) - 1, format, arguments);
	va_end(arguments);
	if (length > (int)sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length] = '\n';
	send(line, length + 1);
}

void report_open(int fd)
{
	report_fd = fd;
}

void report_close(void)
{
	close(report_fd);
	report_fd = -1;
}

void report_mark(uint64_t id, vtime at, uint64_t mono_ns)
{
	send_line("mark %" PRIu64 " %" PRIu64 " %" PRIu64, id, vt_to_ns(at), mono_ns);
}

static uint64_t instructions_in_all(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < config.n_cpus; i++)
		sum += time_instructions(&vcpus[i], 0);
	return sum;
}

void report_progress(vtime at)
{
	static unsigned int turns;
	static int64_t last_ms;
	struct timespec now;
	int64_t now_ms;

	if (++turns % PROGRESS_EVERY_TURNS)
		return;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	now_ms = now.tv_sec * 1000ll + now.tv_nsec / 1000000;
	if (now_ms - last_ms < PROGRESS_EVERY_MS)
		return;
	last_ms = now_ms;
	send_line("progress %" PRIu64 " %" PRIu64, vt_to_ns(at), instructions_in_all());
}

void report_end(const char *kind, const char *format, ...)
{
	char text[LINE_ROOM];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	counters_close();
	for (unsigned int c = 0; c < config.n_clusters; c++)
		send_line("dvfs %u %" PRIu64 " %" PRIu64, c, clusters[c].requests,
			  clusters[c].transitions);
	send_line("progress %" PRIu64 " %" PRIu64, vt_to_ns(turns_base()), instructions_in_all());
	send_line("end %s %s", kind, text);
	/*
	 * Our files are closed, the console is written byte by byte by this thread, and QEMU has
	 * nothing else to save: leave without waiting for its main thread, which would let the
	 * guest run on.
	 */
	_exit(0);
}
