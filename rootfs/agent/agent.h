/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eascope guest agent: PID 1 of the simulated machine.
 *
 * It reads a script, does what each line says, and powers the machine off. Between "start" and
 * "stop" it only sleeps. Whatever goes wrong ends in fail(), which tells the engine the reason:
 * no path waits for something that may never come, apart from "wait" without a time limit, which
 * the engine's own limit ends.
 */
#ifndef EASCOPE_AGENT_H
#define EASCOPE_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "messages.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define __printf(f, a)	__attribute__((format(printf, f, a)))
#define __noreturn	__attribute__((noreturn))

/* Largest piece handed to a transport's write_file; also the buffer of streamed reads. */
#define CHUNK		(64 * 1024)
#define NSEC_PER_SEC	1000000000ULL
#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_USEC	1000ULL

/* ---- transport.c: how words get out of the machine; one file per way ---- */

struct text;

struct transport {
	const char *name;
	/* value of /proc/device-tree/eascope/compatible that asks for it */
	const char *compatible;
	void (*read_script)(struct text *script);
	/* id: one of MARK_READY, MARK_START, MARK_STOP */
	void (*mark)(unsigned int id, uint64_t mono_ns);
	/* any order of offsets within a name; length 0 makes the file exist */
	void (*write_file)(const char *name, uint64_t offset, const void *data, size_t length);
	void (*fail)(const char *reason);
	void (*exit)(int code);
};

extern const struct transport transport_hint;
extern const struct transport transport_m5ops;
extern const struct transport transport_console;

const struct transport *transport(void);
void transport_choose(void);

/* ---- fail.c: the ways out ---- */

void __noreturn fail(const char *format, ...) __printf(1, 2);
void __noreturn finish(int code);
void console_drain(void);
/* Which line of the script a failure names (0: none), and how the engine learns of it. */
void fail_at(unsigned int number);
void fail_through(void (*way)(const char *reason));

/* ---- clock.c ---- */

uint64_t mono_ns(void);
void sleep_ns(uint64_t ns);
void sleep_until_ns(uint64_t end);

/* ---- text.c: growing strings and whole files ---- */

struct text {
	char *data;	/* always NUL-terminated once something was added */
	size_t length;
	size_t room;
};

void text_add(struct text *text, const void *data, size_t length);
void text_str(struct text *text, const char *string);
void text_free(struct text *text);
/* The file's content is added to text; 0 or -errno. */
int file_read(const char *path, struct text *text);
/* One write(2) of all bytes to an existing file; 0 or -errno. */
int file_write(const char *path, const char *data, size_t length);
char *trim(char *string);

/* ---- script.c: lines of the script, and which one is being done ---- */

void script_open(struct text *text);
/* Where the script is a file: under another init, and on the console. */
void script_set_path(const char *path);
const char *script_path(void);
/* Next line without its newline, or NULL at the end. */
char *script_line(void);
/* The raw bytes that follow a "file" line. */
const char *script_bytes(size_t length);
/* Cuts the next blank-separated word off *rest; fails naming "what" when there is none. */
char *script_word(char **rest, const char *what);
/* What is left of the line; fails when that is nothing. */
char *script_rest(char **rest, const char *what);
void script_done(char *rest);
uint64_t script_unsigned(const char *word, const char *what, uint64_t largest);

/* ---- verbs.c ---- */

void script_run(void);

/* ---- child.c: programs that the script starts ---- */

void child_setup(void);
/* With a group, its path: the program starts in it. */
void child_spawn(const char *name, char *command, const char *group);
/* Waits for a good end; limit_ns 0: without a limit. */
void child_wait(const char *name, uint64_t limit_ns);
void child_kill(const char *name);
pid_t child_pid(const char *name);

/* ---- trace.c: ring buffers; tracedat.c: trace.dat from them ---- */

#define TRACEFS		"/sys/kernel/tracing"
#define TRACE_EVENTS_MAX 128

struct trace {
	bool set;
	int switch_fd;			/* tracing_on */
	int marker_fd;			/* trace_marker */
	const char *event[TRACE_EVENTS_MAX];	/* "system/name", sorted */
	unsigned int events;
	unsigned int cpus;
	struct text symbols;		/* as in /proc/kallsyms, a line each */
};

void trace_setup(uint64_t buffer_kb, char *events);
/* A line of the symbols that trace.dat carries: those that its readers ask for. */
void trace_symbol(const char *address, const char *name);
void trace_on(void);
/* "eascope: NAME" among the trace's markers; nothing without tracing. */
void trace_mark(const char *name);
/* Every CPU's clock as markers, and an event of its idle state; nothing without tracing. */
void trace_state(void);
/* Fails when a ring buffer has lost events: it was too small. */
void trace_none_lost(void);
void trace_collect(void);
void tracedat_write(const struct trace *trace);

/* ---- collect.c: files out of the machine ---- */

void collect_file(const char *path, const char *name);
void report_add(const char *path);
void report_send(void);

#endif
