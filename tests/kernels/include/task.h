/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several programs of these tests do with a task. */
#ifndef TASK_H
#define TASK_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "attr.h"

static inline int fail(const char *what)
{
	perror(what);
	return 1;
}

static inline int pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set);
}

/* The calling task may use the CPUs of @mask. */
static inline int use_cpus(unsigned long mask)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < 64; cpu++)
		if (mask & 1UL << cpu)
			CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static inline int64_t now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static inline void run_ms(int ms)
{
	int64_t end = now_us() + ms * 1000LL;

	while (now_us() < end)
		;
}

#endif
