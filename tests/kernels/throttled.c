// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * throttled CPU: as a period of its group's bandwidth begins, a task works on CPU for 150 ms; then
 * another one runs there until the group is throttled. When that one runs again, it wakes the first.
 * Prints for how many ms it could not run.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/task.h"

#define STOPPED_US	50000
#define MOST_US		5000000

static int clamp(unsigned int most)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MAX, .clamp_max = most };

	return syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* For how many us it could not run, at last. */
static int64_t run_until_stopped(void)
{
	int64_t begin = now_us(), last = begin, now;

	while ((now = now_us()) - last < STOPPED_US && now - begin < MOST_US)
		last = now;
	return now - last;
}

/* Its estimated utilization is high when it wakes up. */
static int work(int ready, int again)
{
	char byte = 0;

	run_ms(150);
	if (write(ready, &byte, 1) != 1 || read(again, &byte, 1) != 1)
		return fail("throttled: pipe");
	run_ms(1);
	return 0;
}

/* Its own is low: it has not slept since it began to work. */
static int wake(int ready, int again)
{
	int64_t stopped_us;
	char byte = 0;

	if (read(ready, &byte, 1) != 1)
		return fail("throttled: pipe");
	stopped_us = run_until_stopped();
	if (write(again, &byte, 1) != 1)
		return fail("throttled: pipe");
	printf("%d\n", (int)(stopped_us / 1000));
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int ready[2], again[2], status, failed = 0;

	if (argc != 2)
		return 2;
	if (pin(0, atoi(argv[1])) || pipe(ready) || pipe(again) || clamp(100))
		return fail("throttled: setup");
	/* Until a period begins, it is capped, so its CPU is not overutilized. */
	run_until_stopped();
	if (clamp(1024))
		return fail("throttled: clamp");
	if (fork() == 0)
		return work(ready[1], again[0]);
	if (fork() == 0)
		return wake(ready[0], again[1]);
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
