// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracing into the kernel's ring buffers; nothing reads them before "trace-collect". */

#include "agent.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCALING_CUR_FREQ	"/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq"

static struct trace trace = { .switch_fd = -1, .marker_fd = -1 };

static void set(const char *name, const char *value)
{
	char path[256];
	int error;

	snprintf(path, sizeof(path), TRACEFS "/%s", name);
	error = file_write(path, value, strlen(value));
	if (error < 0)
		fail("trace-setup: write %s to %s: %s", value, path, strerror(-error));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void enable_event(char *event)
{
	char *colon = strchr(event, ':');
	char path[256];

	if (!colon || colon == event || !colon[1] || strchr(event, '/'))
		fail("trace-setup: EVENT = '%s': allowed: system:name", event);
	*colon = '/';
	snprintf(path, sizeof(path), TRACEFS "/events/%s/enable", event);
	if (access(path, F_OK) < 0) {
		*colon = ':';
		fail("trace-setup: the kernel has no event '%s'", event);
	}
	for (unsigned int i = 0; i < trace.events; i++)
		if (strcmp(trace.event[i], event) == 0)
			return;
	if (trace.events == TRACE_EVENTS_MAX)
		fail("trace-setup: more than %d events", TRACE_EVENTS_MAX);
	snprintf(path, sizeof(path), "events/%s/enable", event);
	set(path, "1");
	trace.event[trace.events++] = event;
}

void trace_setup(uint64_t buffer_kb, char *events)
{
	char number[32];

	if (trace.set)
		fail("trace-setup: it was done before");
	if (buffer_kb == 0)
		fail("trace-setup: BUFFER_KB = '0': allowed: 1 or more");
	if (access(TRACEFS "/tracing_on", F_OK) < 0)
		fail("trace-setup: the kernel has no tracefs");
	set("tracing_on", "0");
	set("trace_clock", "mono");
	set("options/overwrite", "0");
	set("options/record-cmd", "1");
	/* One entry per thread that ran; the kernel's 128 would drop names of large scenarios. */
	set("saved_cmdlines_size", "1024");
	snprintf(number, sizeof(number), "%llu", (unsigned long long)buffer_kb);
	set("buffer_size_kb", number);
	set("trace", "\n");	/* opening it for writing empties the buffers */
	for (;;) {
		while (*events == ' ')
			events++;
		if (!*events)
			break;
		enable_event(script_word(&events, "trace-setup: EVENT"));
	}
	qsort(trace.event, trace.events, sizeof(trace.event[0]), by_name);
	trace.switch_fd = open(TRACEFS "/tracing_on", O_WRONLY | O_CLOEXEC);
	if (trace.switch_fd < 0)
		fail("trace-setup: tracing_on: %s", strerror(errno));
	trace.marker_fd = open(TRACEFS "/trace_marker", O_WRONLY | O_CLOEXEC);
	if (trace.marker_fd < 0)
		fail("trace-setup: trace_marker: %s", strerror(errno));
	trace.cpus = sysconf(_SC_NPROCESSORS_CONF);
	trace.set = true;
}

static void switch_to(const char *value)
{
	if (pwrite(trace.switch_fd, value, 1, 0) != 1)
		fail("tracing_on: %s", strerror(errno));
}

/* Without "trace-setup" the run is one without tracing. */
void trace_on(void)
{
	if (trace.set)
		switch_to("1");
}

void trace_symbol(const char *address, const char *name)
{
	text_str(&trace.symbols, address);
	text_str(&trace.symbols, " T ");
	text_str(&trace.symbols, name);
	text_str(&trace.symbols, "\n");
}

static void write_marker(const char *marker, int length)
{
	if (write(trace.marker_fd, marker, length) == length)
		return;
	trace_none_lost();
	fail("trace_marker: %s", strerror(errno));
}

void trace_mark(const char *name)
{
	char marker[64];

	if (trace.set)
		write_marker(marker, snprintf(marker, sizeof(marker), "eascope: %s\n", name));
}

static char *sysfs(struct text *text, const char *format, unsigned int cpu)
{
	char path[128];
	int error;

	snprintf(path, sizeof(path), format, cpu);
	error = file_read(path, text);
	if (error < 0)
		fail("trace-state: %s: %s", path, strerror(-error));
	return trim(text->data);
}

/*
 * Events tell of changes, so before the first one a reader knows nothing. Clocks are markers that
 * LISA takes for events (devlib writes the same), and counters of systrace. They are all there before
 * the next event of a clock, or CPUs of a domain would seem to differ. A CPU that the agent then runs
 * on for a moment has events of its own: out of its idle state, and who runs there.
 */
void trace_state(void)
{
	struct text online = { 0 };
	cpu_set_t all, one;
	char marker[128];

	if (!trace.set || sched_getaffinity(0, sizeof(all), &all) < 0)
		return;
	write_marker(marker, snprintf(marker, sizeof(marker), "eascope: online = %.64s\n",
				      sysfs(&online, "/sys/devices/system/cpu/online", 0)));
	text_free(&online);
	for (unsigned int cpu = 0; cpu < trace.cpus; cpu++) {
		struct text text = { 0 };
		const char *khz = sysfs(&text, SCALING_CUR_FREQ, cpu);

		write_marker(marker, snprintf(marker, sizeof(marker),
					      "cpu_frequency_devlib: state=%.16s cpu_id=%u\n",
					      khz, cpu));
		write_marker(marker, snprintf(marker, sizeof(marker),
					      "C|%d|cpu%u clock, kHz|%.16s\n", getpid(), cpu, khz));
		text_free(&text);
	}
	for (unsigned int cpu = 0; cpu < trace.cpus; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) < 0)
			fail("trace-state: cpu %u: %s", cpu, strerror(errno));
	}
	sched_setaffinity(0, sizeof(all), &all);
}

static void none_lost(unsigned int cpu, const char *stats, const char *what)
{
	const char *found = strstr(stats, what);	/* at the beginning of a line */

	if (!found)
		fail("ring buffer of cpu %u: the kernel's statistics lack '%s'", cpu,
		     what + 1);
	found += strlen(what);
	if (strtoull(found, NULL, 10) != 0)
		fail("ring buffer of cpu %u was too small: %s%.*s", cpu, what + 1,
		     (int)strcspn(found, "\n"), found);
}

void trace_none_lost(void)
{
	if (!trace.set)
		return;
	for (unsigned int cpu = 0; cpu < trace.cpus; cpu++) {
		struct text stats = { 0 };
		char path[64];
		int error;

		snprintf(path, sizeof(path), TRACEFS "/per_cpu/cpu%u/stats", cpu);
		error = file_read(path, &stats);
		if (error < 0)
			fail("%s: %s", path, strerror(-error));
		none_lost(cpu, stats.data, "\noverrun: ");
		none_lost(cpu, stats.data, "\ncommit overrun: ");
		none_lost(cpu, stats.data, "\ndropped events: ");
		text_free(&stats);
	}
}

void trace_collect(void)
{
	if (!trace.set)
		fail("trace-collect: there was no trace-setup");
	switch_to("0");
	trace_none_lost();
	tracedat_write(&trace);
}
