// SPDX-License-Identifier: GPL-2.0-or-later
/* From a request to the running program: CPUs, clamps, nice, user, name. */
#include "member.h"
#include "attributes.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_SIZE	256

static void fail(const struct request *request, const char *what)
{
	fprintf(stderr, "member: %s: %s: %s\n", request->name, what, strerror(errno));
	_exit(126);
}

static void pin(const struct request *request)
{
	cpu_set_t cpus;
	char *end;

	CPU_ZERO(&cpus);
	for (const char *next = request->cpus; ; next = end + 1) {
		unsigned long cpu = strtoul(next, &end, 10);

		if (end == next || cpu >= CPU_SETSIZE || (*end && *end != ','))
			die("cpus = '%s': allowed: numbers with commas", request->cpus);
		CPU_SET(cpu, &cpus);
		if (!*end)
			break;
	}
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		fail(request, "cpus");
}

static void clamp(const struct request *request)
{
	struct attributes attributes = { .size = sizeof(attributes), .flags = KEEP_ALL };

	if (request->uclamp_min >= 0) {
		attributes.flags |= CLAMP_MIN;
		attributes.util_min = request->uclamp_min;
	}
	if (request->uclamp_max >= 0) {
		attributes.flags |= CLAMP_MAX;
		attributes.util_max = request->uclamp_max;
	}
	if (syscall(SYS_sched_setattr, 0, &attributes, 0) < 0)
		fail(request, "uclamp");
}

/* Its threads and children inherit it. */
static void take_latency_nice(const struct request *request)
{
	struct attributes attributes = {
		.size = sizeof(attributes),
		.flags = KEEP_ALL | LATENCY_NICE,
		.latency_nice = request->latency_nice,
	};

	if (syscall(SYS_sched_setattr, 0, &attributes, 0) < 0)
		fail(request, "latency-nice");
}

/* The kernel names a program after the path by which it is started: the scenario's name for it. */
static void under_own_name(const struct request *request, char *path, size_t size)
{
	snprintf(path, size, "%s/members", folder());
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		fail(request, path);
	snprintf(path, size, "%s/members/%s", folder(), request->name);
	unlink(path);
	if (symlink(request->argv[0], path) < 0)
		fail(request, path);
}

void become(const struct request *request)
{
	char path[PATH_SIZE];
	sigset_t none;

	setpgid(0, 0);
	under_own_name(request, path, sizeof(path));
	if (request->cpus)
		pin(request);
	if (request->uclamp_min >= 0 || request->uclamp_max >= 0)
		clamp(request);
	if (request->has_latency_nice)
		take_latency_nice(request);
	if (request->has_nice && setpriority(PRIO_PROCESS, 0, request->nice) < 0)
		fail(request, "nice");
	if (request->uid >= 0 &&
	    (setgroups(0, NULL) < 0 || setgid(request->uid) < 0 || setuid(request->uid) < 0))
		fail(request, "user");
	/*
	 * A trace has a thread's name where that comes onto a CPU or leaves it, and the program may
	 * do neither: it comes back from here under its name.
	 */
	prctl(PR_SET_NAME, request->name);
	sleep_us(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(path, request->argv);
	fail(request, request->argv[0]);
	_exit(126);
}
