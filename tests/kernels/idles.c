// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * idles CPU PERIODS NICE: a task with this latency_nice wakes up on CPU every 40 ms. Prints how often
 * the CPU entered its first idle state and how often a deeper one, and by how many us the task was late
 * on average.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/task.h"

#define PERIOD_US	40000
#define STATES		8

static void usage(int cpu, long *first, long *deeper)
{
	*first = *deeper = 0;
	for (int state = 0; state < STATES; state++) {
		char path[96];
		long count;
		FILE *file;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/usage", cpu, state);
		file = fopen(path, "r");
		if (!file)
			break;
		if (fscanf(file, "%ld", &count) == 1)
			*(state ? deeper : first) += count;
		fclose(file);
	}
}

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_KEEP_ALL | FLAG_LATENCY_NICE };
	long before[2], after[2];
	int64_t next, late = 0;
	int cpu, periods;

	if (argc != 4)
		return 2;
	cpu = atoi(argv[1]);
	periods = atoi(argv[2]);
	attr.latency_nice = atoi(argv[3]);
	if (pin(0, cpu) || syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("idles");
	/* Queued once with the value. */
	usleep(2000);
	usage(cpu, &before[0], &before[1]);
	next = now_us() + PERIOD_US;
	for (int period = 0; period < periods; period++, next += PERIOD_US) {
		struct timespec time = { next / 1000000, next % 1000000 * 1000 };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
		late += now_us() - next;
	}
	usage(cpu, &after[0], &after[1]);
	printf("%ld %ld %ld\n", after[0] - before[0], after[1] - before[1], (long)(late / periods));
	return 0;
}
