// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One boot for many runs.
 *
 * Runs of one machine are alike until the guest's agent asks for its script. There QEMU stops and
 * waits for requests on a socket, and forks for each of them: the child is the run, and goes on
 * exactly as this process would have. It gets its folder, script, log and pipe with the request,
 * and takes over what has been written to the console and the counters so far. One run at a time;
 * the parent waits for its end and says what it cost.
 *
 * A forked child has the vCPU thread alone. That is all that a run needs: it owns the clock, runs
 * the timers, writes the console itself and ends the process.
 */
#define _GNU_SOURCE
#include "share.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters.h"
#include "machine.h"
#include "qemu_internals.h"
#include "report.h"

#define MAX_PIECE (64u * 1024)

/* What comes with a request, in this order. */
enum { FD_FOLDER, FD_SCRIPT, FD_LOG, FD_REPORT, N_FDS };

static int console_fd = -1;
static int script_fd = -1;

/* The descriptor by which QEMU writes the guest's console, a file of the working directory. */
static int find_console(void)
{
	char wanted[PATH_MAX], link[32], target[PATH_MAX];

	if (!realpath(config.console, wanted))
		return -1;
	for (int fd = 3; fd < 1024; fd++) {
		ssize_t length;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = 0;
		if (!strcmp(target, wanted))
			return fd;
	}
	return -1;
}

/* QEMU keeps the guest's memory out of its children; here a child is the same guest. */
static void keep_memory_in_children(void)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	unsigned long start = 0, end = 0, from, to;
	char line[4096];

	if (!maps)
		report_end("engine", "cannot read /proc/self/smaps");
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2 && strchr(line, '-') < strchr(line, ' ')) {
			start = from;
			end = to;
		} else if (!strncmp(line, "VmFlags:", 8) && strstr(line, " dc") &&
			   madvise((void *)start, end - start, MADV_DOFORK)) {
			report_end("engine", "cannot share the guest's memory: %s", strerror(errno));
		}
	}
	fclose(maps);
}

static bool receive(int fds[N_FDS])
{
	union {
		char space[CMSG_SPACE(N_FDS * sizeof(int))];
		struct cmsghdr aligned;
	} control;
	char byte;
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *header;
	ssize_t n;

	do {
		n = recvmsg(config.serve_fd, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	header = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!header || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(N_FDS * sizeof(int)))
		return false;
	memcpy(fds, CMSG_DATA(header), N_FDS * sizeof(int));
	return true;
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	char line[256];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (send(config.serve_fd, line, length, MSG_NOSIGNAL) != length)
		_exit(1); /* the Python side is gone */
}

/* The child is the run that was asked for: all that it writes goes to the run's folder. */
static void become(const int fds[N_FDS])
{
	int console;

	/* A run without its parent could not say how it ended. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(config.serve_fd);
	report_open(fds[FD_REPORT]);
	if (fchdir(fds[FD_FOLDER]))
		report_end("engine", "cannot enter the run's folder: %s", strerror(errno));
	dup2(fds[FD_LOG], STDOUT_FILENO);
	dup2(fds[FD_LOG], STDERR_FILENO);
	close(fds[FD_FOLDER]);
	close(fds[FD_LOG]);
	console = open(config.console, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (console < 0 || dup2(console, console_fd) < 0)
		report_end("engine", "cannot write %s: %s", config.console, strerror(errno));
	close(console);
	counters_move();
	script_fd = fds[FD_SCRIPT];
}

static long microseconds(struct timeval time)
{
	return time.tv_sec * 1000000L + time.tv_usec;
}

/* The parent waits for the run and says how its process ended and what it took. */
static void wait_for(pid_t child)
{
	struct rusage usage;
	int status;

	while (wait4(child, &status, 0, &usage) < 0)
		if (errno != EINTR)
			_exit(1);
	say("ended %d %ld", status, microseconds(usage.ru_utime) + microseconds(usage.ru_stime));
}

/* Returns in the child, once for each request. */
static void serve(void)
{
	struct rusage usage;
	int fds[N_FDS];

	console_fd = find_console();
	if (console_fd < 0)
		report_end("engine", "QEMU does not write the console to %s", config.console);
	keep_memory_in_children();
	/* Its handlers would start a thread in the child, which needs none. */
	rcu_disable_atfork();
	counters_flush();
	if (chdir("/"))
		report_end("engine", "cannot leave the folder: %s", strerror(errno));
	report_close();
	getrusage(RUSAGE_SELF, &usage);
	say("booted %ld", microseconds(usage.ru_utime) + microseconds(usage.ru_stime));
	while (receive(fds)) {
		pid_t child;

		/* QEMU's main thread must not be amid something that the child would wait for. */
		bql_lock_impl(__FILE__, __LINE__);
		child = fork();
		bql_unlock();
		if (child == 0) {
			become(fds);
			return;
		}
		for (int i = 0; i < N_FDS; i++)
			close(fds[i]);
		if (child < 0)
			say("failed %s", strerror(errno));
		else
			wait_for(child);
	}
	_exit(0); /* nobody asks any more */
}

static void open_script(void)
{
	if (config.serve_fd >= 0) {
		serve();
		return;
	}
	script_fd = open(config.script, O_RDONLY | O_CLOEXEC);
	if (script_fd < 0)
		report_end("engine", "cannot read the script: %s", strerror(errno));
}

static void write_guest(const struct vcpu *vcpu, uint64_t address, const void *data, size_t length)
{
	if (length && cpu_memory_rw_debug(vcpu->cpu, address, (void *)data, length, true))
		report_end("fail", "the guest asks for its script into memory that it does not map");
}

void share_script(const struct vcpu *vcpu, uint64_t buffer, uint64_t room, uint64_t offset,
		  uint64_t got)
{
	static char piece[MAX_PIECE];
	uint64_t length;
	ssize_t n;

	if (script_fd < 0)
		open_script();
	n = pread(script_fd, piece, room < MAX_PIECE ? room : MAX_PIECE, offset);
	if (n < 0)
		report_end("engine", "cannot read the script: %s", strerror(errno));
	length = n;
	write_guest(vcpu, buffer, piece, length);
	write_guest(vcpu, got, &length, sizeof(length));
}
