// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reclassed CPU CLAMP RUN_MS SLEEP_MS: a child with an upper clamp runs on CPU for RUN_MS, becomes
 * SCHED_FIFO and sleeps for good. SLEEP_MS later it is made SCHED_OTHER, and sleeps on.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FLAG_CLAMP_MAX	0x40

/* As the kernel has it; the C library's headers may be older. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t clamp_min, clamp_max;
};

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static int child(char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MAX };
	struct sched_param fifo = { .sched_priority = 10 };
	int64_t end = now_ms() + atoi(argv[3]);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	attr.clamp_max = atoi(argv[2]);
	if (sched_setaffinity(0, sizeof(set), &set))
		return fail("reclassed: affinity");
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("reclassed: attributes");
	while (now_ms() < end)
		;
	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		return fail("reclassed: SCHED_FIFO");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	struct sched_param other = { 0 };
	pid_t pid;

	if (argc != 5)
		return 2;
	pid = fork();
	if (pid < 0)
		return fail("reclassed: fork");
	if (!pid)
		return child(argv);
	usleep((atoi(argv[3]) + atoi(argv[4])) * 1000);
	if (sched_setscheduler(pid, SCHED_OTHER, &other))
		return fail("reclassed: SCHED_OTHER");
	return waitpid(pid, NULL, 0) < 0;
}
