// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * latnice N PROGRAM ARGUMENT...: becomes PROGRAM with a latency_nice of N, which its children
 * inherit. latnice -p TID N: gives it to a thread. latnice -p TID: prints what a thread has. A TID
 * of 0 is latnice itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attributes.h"

#define MOST_TID	4194304

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return 1;
}

static long number(const char *text, long least, long most)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most) {
		fprintf(stderr, "latnice: '%s': allowed: %ld..%ld\n", text, least, most);
		exit(2);
	}
	return value;
}

static int set(pid_t tid, const char *value)
{
	struct attributes attributes = {
		.size = sizeof(attributes),
		.flags = KEEP_ALL | LATENCY_NICE,
		.latency_nice = number(value, -20, 19),
	};

	return syscall(SYS_sched_setattr, tid, &attributes, 0) ? fail("latnice") : 0;
}

static int print(pid_t tid)
{
	struct attributes attributes = { 0 };

	if (syscall(SYS_sched_getattr, tid, &attributes, sizeof(attributes), 0))
		return fail("latnice");
	if (attributes.size < sizeof(attributes)) {
		fprintf(stderr, "latnice: the kernel has no latency_nice\n");
		return 1;
	}
	printf("%d\n", attributes.latency_nice);
	return 0;
}

int main(int argc, char **argv)
{
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "-p")) {
		pid_t tid = number(argv[2], 0, MOST_TID);

		return argc == 3 ? print(tid) : set(tid, argv[3]);
	}
	if (argc < 3 || !strcmp(argv[1], "-p")) {
		fprintf(stderr, "usage: latnice N PROGRAM ARGUMENT... | latnice -p TID [N]\n");
		return 2;
	}
	if (set(0, argv[1]))
		return 1;
	execv(argv[2], argv + 2);
	return fail(argv[2]);
}
