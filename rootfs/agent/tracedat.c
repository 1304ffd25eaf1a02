// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.dat, version 6, as trace-cmd, KernelShark and LISA read it, straight from tracefs.
 *
 * The layout is that of trace-cmd.dat.v6(5): magic, how a page and an event look, the formats of
 * events by system, symbols, names of threads, options, and per CPU the ring buffer's raw pages.
 * "trace-cmd extract" would write the same, at many times the instructions: it reads the formats of
 * every event that the kernel has, and all kernel symbols. Here the formats are those of the
 * enabled events, and the symbols those that the script names: readers want the one that a marker
 * carries, and reading /proc/kallsyms would take 600 million instructions. Little-endian machines with 64-bit longs only, as arm64 kernels of eascope are.
 */

#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CPUS_MAX	64

enum { OPTION_DONE = 0, OPTION_TRACECLOCK = 4, OPTION_UNAME = 5 };

/* Written by user space and trace_printk, whatever was enabled. */
static const char *const own_events[] = { "print", "bprint", "raw_data" };

struct pages {
	uint64_t offset;
	uint64_t size;
};

static void add_number(struct text *out, uint64_t value, unsigned int bytes)
{
	text_add(out, &value, bytes);
}

static void add_string(struct text *out, const char *string)
{
	text_add(out, string, strlen(string) + 1);
}

/* A file, by default of tracefs, after its length, which takes size_bytes. */
static void add_file(struct text *out, const char *name, unsigned int size_bytes)
{
	struct text content = { 0 };
	char path[256];
	int error;

	snprintf(path, sizeof(path), "%s%s", name[0] == '/' ? "" : TRACEFS "/", name);
	error = file_read(path, &content);
	if (error < 0)
		fail("trace-collect: %s: %s", path, strerror(-error));
	add_number(out, content.length, size_bytes);
	text_add(out, content.data, content.length);
	text_free(&content);
}

static void add_format(struct text *out, const char *event)
{
	char name[256];

	snprintf(name, sizeof(name), "events/%s/format", event);
	add_file(out, name, 8);
}

static size_t system_length(const char *event)
{
	return strcspn(event, "/");
}

static bool same_system(const char *a, const char *b)
{
	size_t length = system_length(a);

	return length == system_length(b) && memcmp(a, b, length) == 0;
}

/* Events are sorted, so those of one system stand together. */
static void add_systems(struct text *out, const struct trace *trace)
{
	unsigned int systems = 0;
	unsigned int next;

	for (unsigned int i = 0; i < trace->events; i++)
		systems += i == 0 || !same_system(trace->event[i], trace->event[i - 1]);
	add_number(out, systems, 4);
	for (unsigned int i = 0; i < trace->events; i = next) {
		next = i + 1;
		while (next < trace->events && same_system(trace->event[i], trace->event[next]))
			next++;
		text_add(out, trace->event[i], system_length(trace->event[i]));
		add_number(out, 0, 1);
		add_number(out, next - i, 4);
		for (unsigned int k = i; k < next; k++)
			add_format(out, trace->event[k]);
	}
}

static void add_head(struct text *out, const struct trace *trace, uint64_t page_size)
{
	static const char magic[] = { 0x17, 0x08, 0x44 };

	text_add(out, magic, sizeof(magic));
	text_str(out, "tracing");
	add_string(out, "6");
	add_number(out, 0, 1);			/* little-endian */
	add_number(out, sizeof(long), 1);
	add_number(out, page_size, 4);
	add_string(out, "header_page");
	add_file(out, "events/header_page", 8);
	add_string(out, "header_event");
	add_file(out, "events/header_event", 8);
	add_number(out, ARRAY_SIZE(own_events), 4);
	for (size_t i = 0; i < ARRAY_SIZE(own_events); i++) {
		char event[64];

		snprintf(event, sizeof(event), "ftrace/%s", own_events[i]);
		add_format(out, event);
	}
	add_systems(out, trace);
	add_number(out, trace->symbols.length, 4);
	text_add(out, trace->symbols.data, trace->symbols.length);
	add_file(out, "printk_formats", 4);
	add_file(out, "saved_cmdlines", 8);
	add_number(out, trace->cpus, 4);
	add_string(out, "options  ");
	add_number(out, OPTION_TRACECLOCK, 2);
	add_number(out, strlen("[mono]") + 1, 4);
	add_string(out, "[mono]");
	add_number(out, OPTION_UNAME, 2);
	add_file(out, "/proc/device-tree/model", 4);
	add_number(out, OPTION_DONE, 2);
	add_string(out, "flyrecord");
}

static void add_tail(struct text *out, const struct pages *pages, unsigned int cpus)
{
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		add_number(out, pages[cpu].offset, 8);
		add_number(out, pages[cpu].size, 8);
	}
	add_number(out, strlen("[mono]"), 8);
	text_str(out, "[mono]");
}

/* Streams one CPU's pages to the file at pages->offset. */
static void send_pages(unsigned int cpu, size_t page_size, struct pages *pages)
{
	static char buffer[CHUNK];
	size_t used = 0;
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), TRACEFS "/per_cpu/cpu%u/trace_pipe_raw", cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		fail("trace-collect: %s: %s", path, strerror(errno));
	do {
		got = read(fd, buffer + used, page_size);
		if (got > 0 && (size_t)got != page_size)
			fail("trace-collect: %s: %zd bytes instead of a page of %zu", path, got,
			     page_size);
		if (got < 0 && errno != EAGAIN)
			fail("trace-collect: %s: %s", path, strerror(errno));
		if (got > 0)
			used += got;
		if (used + page_size > sizeof(buffer) || (got <= 0 && used > 0)) {
			transport()->write_file(FILE_TRACE, pages->offset + pages->size, buffer,
						used);
			pages->size += used;
			used = 0;
		}
	} while (got > 0);
	close(fd);
}

/* The page's size is what the ring buffer says (its sub-buffers may be larger than a page). */
static size_t find_page_size(void)
{
	struct text text = { 0 };
	unsigned long kb = 0;

	if (file_read(TRACEFS "/buffer_subbuf_size_kb", &text) == 0)
		sscanf(text.data, "%lu", &kb);
	text_free(&text);
	return kb ? kb * 1024 : (size_t)sysconf(_SC_PAGESIZE);
}

static uint64_t align(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

void tracedat_write(const struct trace *trace)
{
	static struct pages pages[CPUS_MAX];
	size_t page_size = find_page_size();
	struct text head = { 0 };
	uint64_t next;

	if (trace->cpus > CPUS_MAX)
		fail("trace-collect: %u CPUs: allowed: up to %d", trace->cpus, CPUS_MAX);
	if (page_size > CHUNK)
		fail("trace-collect: sub-buffers of %zu bytes: allowed: up to %d", page_size,
		     CHUNK);
	add_head(&head, trace, page_size);
	next = head.length + trace->cpus * 16 + 8 + strlen("[mono]");
	for (unsigned int cpu = 0; cpu < trace->cpus; cpu++) {
		pages[cpu].offset = align(next, page_size);
		send_pages(cpu, page_size, &pages[cpu]);
		next = pages[cpu].offset + pages[cpu].size;
	}
	/* The table of pages is known only now; the space for it is at the front. */
	add_tail(&head, pages, trace->cpus);
	for (size_t sent = 0; sent < head.length;) {
		size_t length = head.length - sent;

		if (length > CHUNK)
			length = CHUNK;
		transport()->write_file(FILE_TRACE, sent, head.data + sent, length);
		sent += length;
	}
	text_free(&head);
}
