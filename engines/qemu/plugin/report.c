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

#include "virtual_time.h"

#define LINE_ROOM 1024
#define PROGRESS_EVERY_MS 100
/* Turns between two looks at the host's clock. */
#define PROGRESS_EVERY_TURNS 8

static int report_fd = -1;
static void (*before_end)(void);

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

void report_dvfs(unsigned int cluster, uint64_t requests, uint64_t transitions)
{
	send_line("dvfs %u %" PRIu64 " %" PRIu64, cluster, requests, transitions);
}

bool report_wants_progress(void)
{
	static unsigned int turns;
	static int64_t last_ms;
	struct timespec now;
	int64_t now_ms;

	if (++turns % PROGRESS_EVERY_TURNS)
		return false;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	now_ms = now.tv_sec * 1000ll + now.tv_nsec / 1000000;
	if (now_ms - last_ms < PROGRESS_EVERY_MS)
		return false;
	last_ms = now_ms;
	return true;
}

void report_progress(vtime at, uint64_t instructions)
{
	send_line("progress %" PRIu64 " %" PRIu64, vt_to_ns(at), instructions);
}

void report_before_end(void (*last_words)(void))
{
	before_end = last_words;
}

void report_end(const char *kind, const char *format, ...)
{
	char text[LINE_ROOM];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (before_end)
		before_end();
	send_line("end %s %s", kind, text);
	/*
	 * Our files are closed, the console is written byte by byte by this thread, and QEMU has
	 * nothing else to save: leave without waiting for its main thread, which would let the
	 * guest run on.
	 */
	_exit(0);
}

void report_powered_off(void)
{
	/* QEMU's main thread would end the process, but a forked run has none. */
	report_end("fail", "the guest powered off or restarted before its agent's EXIT");
}
