// SPDX-License-Identifier: GPL-2.0-or-later
/* What a script can say: one function a verb, and the table of them. */

#include "agent.h"
#include "attributes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_LINE	"eascope-script 1"
#define HOUR_MS		(3600 * 1000ULL)
#define HOUR_US		(HOUR_MS * 1000)
/* How long a program may take to start its threads. */
#define THREAD_PATIENCE	(10 * NSEC_PER_SEC)
/* The kernel's own limit. */
#define LONGEST_SLICE_US	100000
#define SLICE_TRIES		10

static bool exited;

/* What was found is shown, but a whole file would hide the sentence around it. */
#define SHOWN 120

static void read_or_fail(const char *verb, const char *path, struct text *text)
{
	int error = file_read(path, text);

	if (error < 0)
		fail("%s %s: %s", verb, path, strerror(-error));
}

static void verb_file(char *rest)
{
	const char *path = script_word(&rest, "file: PATH");
	const char *word = script_word(&rest, "file: LENGTH");
	size_t length = script_unsigned(word, "file: LENGTH", INT_MAX);
	const char *bytes;
	int fd;

	script_done(rest);
	bytes = script_bytes(length);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		fail("file %s: %s", path, strerror(errno));
	while (length > 0) {
		ssize_t put = write(fd, bytes, length);

		if (put < 0)
			fail("file %s: %s", path, strerror(errno));
		bytes += put;
		length -= put;
	}
	close(fd);
}

static void verb_write(char *rest)
{
	const char *path = script_word(&rest, "write: PATH");
	char *value = script_rest(&rest, "write: VALUE");
	size_t length = strlen(value);
	int error;

	/* As "echo VALUE > PATH" would; the line's own NUL is there to be replaced. */
	value[length] = '\n';
	error = file_write(path, value, length + 1);
	value[length] = '\0';
	if (error < 0)
		fail("write %s %s: %s", path, value, strerror(-error));
}

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Changes bytes of a file that is there, a program for instance; its length stays. */
static void verb_bytes(char *rest)
{
	const char *path = script_word(&rest, "bytes: PATH");
	const char *word = script_word(&rest, "bytes: OFFSET");
	uint64_t offset = script_unsigned(word, "bytes: OFFSET", INT32_MAX);
	const char *hex = script_word(&rest, "bytes: HEX");
	unsigned char bytes[64];
	size_t length = strlen(hex) / 2;
	struct stat file;
	int fd;

	script_done(rest);
	for (size_t i = 0; i < length && length <= sizeof(bytes); i++) {
		if (digit(hex[2 * i]) < 0 || digit(hex[2 * i + 1]) < 0)
			length = 0;
		bytes[i] = digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]);
	}
	if (length < 1 || length > sizeof(bytes) || strlen(hex) % 2)
		fail("bytes: HEX = '%s': allowed: 1 to %zu bytes as pairs of 0-9a-f", hex,
		     sizeof(bytes));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &file) < 0)
		fail("bytes %s: %s", path, strerror(errno));
	if (offset + length > (uint64_t)file.st_size)
		fail("bytes %s: OFFSET = '%s': allowed: within the file's %lld bytes", path, word,
		     (long long)file.st_size);
	if (pwrite(fd, bytes, length, offset) != (ssize_t)length)
		fail("bytes %s: %s", path, strerror(errno));
	close(fd);
}

static void verb_mkdir(char *rest)
{
	const char *path = script_word(&rest, "mkdir: PATH");

	script_done(rest);
	if (mkdir(path, 0755) < 0)
		fail("mkdir %s: %s", path, strerror(errno));
}

static void verb_expect(char *rest)
{
	const char *path = script_word(&rest, "expect: PATH");
	const char *value = trim(script_rest(&rest, "expect: VALUE"));
	struct text text = { 0 };
	const char *found;

	read_or_fail("expect", path, &text);
	found = trim(text.data);
	if (strcmp(found, value) != 0)
		fail("expect %s: found '%.*s', wanted '%s'", path, SHOWN, found, value);
	text_free(&text);
}

static void verb_contains(char *rest)
{
	const char *path = script_word(&rest, "contains: PATH");
	const char *value = script_rest(&rest, "contains: TEXT");
	struct text text = { 0 };

	read_or_fail("contains", path, &text);
	if (!memmem(text.data, text.length, value, strlen(value)))
		fail("contains %s: '%s' is not in '%.*s'", path, value, SHOWN, text.data);
	text_free(&text);
}

/* A word of the file: "NO_X" does not have "X", as it does for "contains". */
static void verb_word(char *rest)
{
	const char *path = script_word(&rest, "word: PATH");
	const char *wanted = script_word(&rest, "word: WORD");
	struct text text = { 0 };
	char *next, *found;

	script_done(rest);
	read_or_fail("word", path, &text);
	next = text.data;
	do
		found = strsep(&next, " \t\n");
	while (found && strcmp(found, wanted) != 0);
	if (!found)
		fail("word %s: no '%s' in it", path, wanted);
	text_free(&text);
}

static void verb_exists(char *rest)
{
	const char *path = script_word(&rest, "exists: PATH");

	script_done(rest);
	if (access(path, F_OK) < 0)
		fail("exists %s: %s", path, strerror(errno));
}

static void verb_absent(char *rest)
{
	const char *path = script_word(&rest, "absent: PATH");

	script_done(rest);
	if (access(path, F_OK) == 0)
		fail("absent %s: it is there", path);
	if (errno != ENOENT && errno != ENOTDIR)
		fail("absent %s: %s", path, strerror(errno));
}

/* Whether the thread with this number has the name; one that has just ended has none. */
static bool has_name(const char *number, const char *name)
{
	char path[64];
	struct text text = { 0 };
	bool same;

	/* A thread's folder is there, though it is not listed. */
	snprintf(path, sizeof(path), "/proc/%.20s/comm", number);
	same = file_read(path, &text) == 0 && strcmp(trim(text.data), name) == 0;
	text_free(&text);
	return same;
}

/* The number of a thread among those that a folder of /proc lists, or 0. */
static pid_t thread_in(const char *folder, const char *name)
{
	struct dirent *entry;
	pid_t found = 0;
	DIR *proc = opendir(folder);

	if (!proc)
		fail("thread %s: %s: %s", name, folder, strerror(errno));
	while (!found && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) && has_name(entry->d_name, name))
			found = atoi(entry->d_name);
	closedir(proc);
	return found;
}

/* A program or a thread of the kernel is there, by the name that the kernel shows. */
static void verb_thread(char *rest)
{
	const char *name = script_word(&rest, "thread: NAME");

	script_done(rest);
	if (!thread_in("/proc", name))
		fail("thread %s: there is none of this name", name);
}

/* A thread of the kernel may run on these CPUs alone; one that belongs to a CPU stays there. */
static void verb_affinity(char *rest)
{
	const char *name = script_word(&rest, "affinity: NAME");
	pid_t pid = thread_in("/proc", name);
	cpu_set_t cpus, set;

	CPU_ZERO(&cpus);
	do
		CPU_SET(script_unsigned(script_word(&rest, "affinity: CPU"), "affinity: CPU",
					CPU_SETSIZE - 1), &cpus);
	while (*rest);
	if (!pid)
		fail("affinity %s: there is none of this name", name);
	if (sched_setaffinity(pid, sizeof(cpus), &cpus) < 0)
		fail("affinity %s: %s", name, strerror(errno));
	if (sched_getaffinity(pid, sizeof(set), &set) < 0 || !CPU_EQUAL(&cpus, &set))
		fail("affinity %s: the kernel has another one", name);
}

/* A thread of a program, as soon as it is there. */
static pid_t thread_of(const char *program, const char *thread, const char *what)
{
	uint64_t end = mono_ns() + THREAD_PATIENCE;
	char folder[64];
	pid_t tid;

	snprintf(folder, sizeof(folder), "/proc/%d/task", child_pid(program));
	while (!(tid = thread_in(folder, thread))) {
		if (mono_ns() > end)
			fail("%s %s: no thread %s", what, program, thread);
		sleep_ns(NSEC_PER_MSEC);
	}
	return tid;
}

/* What the kernel has. */
static struct attributes attributes_of(pid_t tid, const char *what, const char *thread)
{
	struct attributes attributes = { 0 };

	if (syscall(SYS_sched_getattr, tid, &attributes, sizeof(attributes), 0) < 0)
		fail("%s %s: %s", what, thread, strerror(errno));
	return attributes;
}

/* A thread of a program gets a latency_nice, and must have it then. */
static void verb_latency_nice(char *rest)
{
	const char *name = script_word(&rest, "latency-nice: PROGRAM");
	const char *thread = script_word(&rest, "latency-nice: THREAD");
	const char *word = script_word(&rest, "latency-nice: N");
	struct attributes attributes = { .size = sizeof(attributes), .flags = KEEP_ALL | LATENCY_NICE };
	long value = script_unsigned(word + (*word == '-'), "latency-nice: N", *word == '-' ? 20 : 19);
	pid_t tid;

	script_done(rest);
	value = *word == '-' ? -value : value;
	attributes.latency_nice = value;
	tid = thread_of(name, thread, "latency-nice");
	if (syscall(SYS_sched_setattr, tid, &attributes, 0) < 0)
		fail("latency-nice %s %s: %s", thread, word, strerror(errno));
	attributes = attributes_of(tid, "latency-nice", thread);
	if (attributes.size < sizeof(attributes) || attributes.latency_nice != value)
		fail("latency-nice %s %s: the kernel has %d", thread, word, attributes.latency_nice);
}

/*
 * A thread of a program gets a policy and, unless it is 0, a slice of EEVDF, and must have them
 * then. A negative policy is the one that it has.
 */
static void schedule(const char *what, const char *program, const char *thread, int policy,
		     uint64_t slice_ns)
{
	pid_t tid = thread_of(program, thread, what);
	struct attributes attributes;

	/* Who states its policy meanwhile has the default again. */
	for (int tries = 0; tries < SLICE_TRIES; tries++) {
		attributes = attributes_of(tid, what, thread);
		if ((policy < 0 || (int)attributes.policy == policy) &&
		    (!slice_ns || attributes.runtime == slice_ns))
			return;
		if (policy >= 0)
			attributes.policy = policy;
		if (slice_ns)
			attributes.runtime = slice_ns;
		if (syscall(SYS_sched_setattr, tid, &attributes, 0) < 0)
			fail("%s %s: %s", what, thread, strerror(errno));
	}
	attributes = attributes_of(tid, what, thread);
	fail("%s %s: the kernel has policy %u, %llu ns", what, thread, attributes.policy,
	     (unsigned long long)attributes.runtime);
}

static void verb_slice(char *rest)
{
	const char *name = script_word(&rest, "slice: PROGRAM");
	const char *thread = script_word(&rest, "slice: THREAD");
	const char *word = script_word(&rest, "slice: US");
	uint64_t us = script_unsigned(word, "slice: US", LONGEST_SLICE_US);

	script_done(rest);
	schedule("slice", name, thread, -1, us * NSEC_PER_USEC);
}

static void verb_batch(char *rest)
{
	const char *name = script_word(&rest, "batch: PROGRAM");
	const char *thread = script_word(&rest, "batch: THREAD");

	script_done(rest);
	schedule("batch", name, thread, SCHED_BATCH, 0);
}

/* A thread of a program goes to a threaded group. */
static void verb_move(char *rest)
{
	const char *name = script_word(&rest, "move: PROGRAM");
	const char *thread = script_word(&rest, "move: THREAD");
	const char *group = script_word(&rest, "move: GROUP");
	char path[PATH_MAX], tid[16];
	int error;

	script_done(rest);
	snprintf(path, sizeof(path), "%s/cgroup.threads", group);
	snprintf(tid, sizeof(tid), "%d\n", thread_of(name, thread, "move"));
	error = file_write(path, tid, strlen(tid));
	if (error < 0)
		fail("move %s %s: %s", thread, group, strerror(-error));
}

static void verb_report(char *rest)
{
	const char *path = script_word(&rest, "report: PATH");

	script_done(rest);
	report_add(path);
}

static void verb_barrier(char *rest)
{
	script_done(rest);
	transport()->mark(MARK_READY, mono_ns());
}

static void verb_trace_setup(char *rest)
{
	const char *word = script_word(&rest, "trace-setup: BUFFER_KB");
	uint64_t buffer_kb = script_unsigned(word, "trace-setup: BUFFER_KB", 1024 * 1024);

	trace_setup(buffer_kb, rest);
}

static void verb_trace_symbol(char *rest)
{
	const char *address = script_word(&rest, "trace-symbol: ADDRESS");
	const char *name = script_word(&rest, "trace-symbol: NAME");

	script_done(rest);
	trace_symbol(address, name);
}

static void verb_trace_state(char *rest)
{
	script_done(rest);
	trace_state();
}

static void verb_spawn(char *rest)
{
	const char *name = script_word(&rest, "spawn: NAME");

	child_spawn(name, script_rest(&rest, "spawn: program"), NULL);
}

static void verb_spawn_in(char *rest)
{
	const char *group = script_word(&rest, "spawn-in: GROUP");
	const char *name = script_word(&rest, "spawn-in: NAME");

	child_spawn(name, script_rest(&rest, "spawn-in: program"), group);
}

static void verb_wait(char *rest)
{
	const char *name = script_word(&rest, "wait: NAME");
	uint64_t limit_ms = 0;

	if (*rest) {
		const char *word = script_word(&rest, "wait: TIMEOUT_MS");

		limit_ms = script_unsigned(word, "wait: TIMEOUT_MS", HOUR_MS);
		script_done(rest);
	}
	child_wait(name, limit_ms * NSEC_PER_MSEC);
}

static void verb_kill(char *rest)
{
	const char *name = script_word(&rest, "kill: NAME");

	script_done(rest);
	child_kill(name);
}

static void verb_sleep_ms(char *rest)
{
	const char *word = script_word(&rest, "sleep-ms: N");

	script_done(rest);
	sleep_ns(script_unsigned(word, "sleep-ms: N", HOUR_MS) * NSEC_PER_MSEC);
}

static void verb_sleep_us(char *rest)
{
	const char *word = script_word(&rest, "sleep-us: N");

	script_done(rest);
	sleep_ns(script_unsigned(word, "sleep-us: N", HOUR_US) * NSEC_PER_USEC);
}

/* When the window began. */
static uint64_t start_ns;

static void verb_until_ms(char *rest)
{
	const char *word = script_word(&rest, "until-ms: N");

	script_done(rest);
	if (!start_ns)
		fail("until-ms %s: before start", word);
	sleep_until_ns(start_ns + script_unsigned(word, "until-ms: N", HOUR_MS) * NSEC_PER_MSEC);
}

static void verb_start(char *rest)
{
	script_done(rest);
	trace_on();
	/* The marker first: it takes time, and the window is what lies between the marks. */
	trace_mark("START");
	start_ns = mono_ns();
	transport()->mark(MARK_START, start_ns);
}

static void verb_stop(char *rest)
{
	script_done(rest);
	/*
	 * Tracing goes on until trace-collect: rt-app gives up when its marker cannot be written,
	 * and it still runs here.
	 */
	transport()->mark(MARK_STOP, mono_ns());
	trace_mark("STOP");
}

static void verb_trace_collect(char *rest)
{
	script_done(rest);
	trace_collect();
}

static void verb_collect(char *rest)
{
	const char *path = script_word(&rest, "collect: PATH");
	const char *name = script_word(&rest, "collect: NAME");

	script_done(rest);
	if (strchr(name, '/') || name[0] == '.')
		fail("collect: NAME = '%s': allowed: a plain file name", name);
	collect_file(path, name);
}

static void verb_exit(char *rest)
{
	script_done(rest);
	report_send();
	console_drain();
	transport()->exit(0);
	exited = true;
}

static const struct verb {
	const char *name;
	void (*run)(char *rest);
} verbs[] = {
	{ "file", verb_file },
	{ "write", verb_write },
	{ "mkdir", verb_mkdir },
	{ "bytes", verb_bytes },
	{ "expect", verb_expect },
	{ "contains", verb_contains },
	{ "word", verb_word },
	{ "exists", verb_exists },
	{ "absent", verb_absent },
	{ "thread", verb_thread },
	{ "affinity", verb_affinity },
	{ "latency-nice", verb_latency_nice },
	{ "slice", verb_slice },
	{ "batch", verb_batch },
	{ "move", verb_move },
	{ "report", verb_report },
	{ "barrier", verb_barrier },
	{ "trace-setup", verb_trace_setup },
	{ "trace-symbol", verb_trace_symbol },
	{ "trace-state", verb_trace_state },
	{ "spawn", verb_spawn },
	{ "spawn-in", verb_spawn_in },
	{ "wait", verb_wait },
	{ "kill", verb_kill },
	{ "sleep-ms", verb_sleep_ms },
	{ "sleep-us", verb_sleep_us },
	{ "until-ms", verb_until_ms },
	{ "start", verb_start },
	{ "stop", verb_stop },
	{ "trace-collect", verb_trace_collect },
	{ "collect", verb_collect },
	{ "exit", verb_exit },
};

static void run_line(char *line)
{
	char *name = script_word(&line, "verb");

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(name, verbs[i].name) == 0) {
			verbs[i].run(line);
			return;
		}
	}
	fail("unknown verb '%s'", name);
}

void script_run(void)
{
	char *line = script_line();

	if (!line || strcmp(line, FIRST_LINE) != 0)
		fail("the script's first line must be '%s'", FIRST_LINE);
	while (!exited) {
		line = script_line();
		if (!line)
			fail("the script ends without 'exit'");
		run_line(line);
	}
}
