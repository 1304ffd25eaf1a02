// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * launch DELAY_US CPUS PROGRAM ARGUMENT...: becomes PROGRAM, so much later and on these CPUs only.
 *
 * CPUS is "any" or numbers with commas. The delay is what a scenario's seed sets.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_DELAY_US	1000000000L

static void bad(const char *what, const char *value)
{
	fprintf(stderr, "launch: %s = '%s'\n", what, value);
	exit(2);
}

static long number(const char *text, char **end, long most, const char *what)
{
	long value;

	errno = 0;
	value = strtol(text, end, 10);
	if (errno || *end == text || value < 0 || value > most)
		bad(what, text);
	return value;
}

static void pin(const char *list)
{
	cpu_set_t cpus;
	char *end;

	CPU_ZERO(&cpus);
	for (const char *next = list; ; next = end + 1) {
		CPU_SET(number(next, &end, CPU_SETSIZE - 1, "CPUS"), &cpus);
		if (!*end)
			break;
		if (*end != ',')
			bad("CPUS", list);
	}
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0) {
		fprintf(stderr, "launch: CPUS = '%s': %s\n", list, strerror(errno));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct timespec delay;
	long delay_us;
	char *end;

	if (argc < 4) {
		fprintf(stderr, "usage: launch DELAY_US CPUS PROGRAM ARGUMENT...\n");
		return 2;
	}
	delay_us = number(argv[1], &end, MOST_DELAY_US, "DELAY_US");
	if (*end)
		bad("DELAY_US", argv[1]);
	if (strcmp(argv[2], "any") != 0)
		pin(argv[2]);
	delay.tv_sec = delay_us / 1000000;
	delay.tv_nsec = delay_us % 1000000 * 1000;
	nanosleep(&delay, NULL);
	execv(argv[3], argv + 3);
	fprintf(stderr, "launch: %s: %s\n", argv[3], strerror(errno));
	return 1;
}
