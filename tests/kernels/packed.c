// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * packed TASKS NICE: small tasks with this latency_nice, which began on different CPUs, run for 0.2 of
 * 8 ms each, at times of their own. Prints on how many CPUs they woke up in the last third, the number
 * of these wake-ups, and how many were on the CPUs 4 and 5.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/task.h"

#define PERIOD_US	8000
#define PERIODS		90
#define CPUS		6

static void work(int number, int tasks, int64_t start, int *found)
{
	int64_t next = start + PERIOD_US * number / tasks;

	for (int period = 0; period < PERIODS; period++, next += PERIOD_US) {
		struct timespec time = { next / 1000000, next % 1000000 * 1000 };
		int64_t begin;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
		begin = now_us();
		/* Its own CPU at first. */
		if (period == PERIODS / 3)
			use_cpus((1UL << CPUS) - 1);
		if (period >= PERIODS * 2 / 3)
			__atomic_fetch_add(&found[sched_getcpu()], 1, __ATOMIC_RELAXED);
		while (now_us() < begin + 200)
			;
	}
}

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_KEEP_ALL | FLAG_LATENCY_NICE };
	int *found = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int64_t start = now_us() + 100000;
	int tasks, used = 0, all = 0;

	if (argc != 3 || found == MAP_FAILED)
		return 2;
	tasks = atoi(argv[1]);
	attr.latency_nice = atoi(argv[2]);
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("packed");
	for (int number = 0; number < tasks; number++)
		if (!fork()) {
			pin(0, number % CPUS);
			work(number, tasks, start, found);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		used += found[cpu] > 0;
		all += found[cpu];
	}
	printf("%d %d %d\n", used, all, found[4] + found[5]);
	return 0;
}
