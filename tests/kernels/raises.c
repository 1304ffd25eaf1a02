// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * raises ROUNDS OTHERS: where a task that needs a little CPU's second OPP, and ran last on the big
 * CPU 4, is put when it wakes up and may use CPUs 3 and 4. On each of the OTHERS first little CPUs a
 * task works for seven tenths of the time at the first OPP, and is capped to it. Prints how often it
 * was put on 3 and on 4.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/eas.h"
#include "include/task.h"

#define PERIOD_US	20000
#define WAKEUP_US	12000
#define DONE_US		18500
#define OTHERS_PERIOD_US	4000
#define OTHERS_RUN_US	2800
/* The first OPP has 181. */
#define OTHERS_CAP	170
/* Forks overutilize the system at first. Only a pass of load balance says when that has ended. */
#define WARMUP		100
#define MOST_WARMUP	700

static void burn_until(int64_t end)
{
	while (now_us() < end)
		;
}

static void sleep_until(int64_t end)
{
	struct timespec until = { .tv_sec = end / 1000000, .tv_nsec = end % 1000000 * 1000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void work_on(int cpu)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MAX, .clamp_max = OTHERS_CAP };

	if (pin(0, cpu) || syscall(SYS_sched_setattr, 0, &attr, 0))
		kill(0, SIGKILL);
	for (int64_t begin = now_us();; begin += OTHERS_PERIOD_US) {
		sleep_until(begin);
		burn_until(begin + OTHERS_RUN_US);
	}
}

int main(int argc, char **argv)
{
	int64_t start = now_us() + 50000;
	int found[2] = { 0 }, rounds, counting = 0;
	long before = -1;

	if (argc != 3)
		return 2;
	/* Who belongs here is killed together. */
	setpgid(0, 0);
	rounds = atoi(argv[1]);
	for (int other = 0; other < atoi(argv[2]); other++)
		if (fork() == 0)
			work_on(other);
	for (int round = 0; counting < rounds; round++) {
		long called = feec_called();

		if (round == MOST_WARMUP)
			return fail("raises: EAS places no task");
		if (pin(0, 4) || use_cpus(1UL << 3 | 1UL << 4))
			return fail("raises: affinity");
		sleep_until(start + round * PERIOD_US + WAKEUP_US);
		/* From then on each wake-up is one of EAS's. */
		if (round > WARMUP && (counting || called > before))
			found[sched_getcpu() == 4]++, counting++;
		before = called;
		if (pin(0, 4))
			return fail("raises: affinity");
		burn_until(start + round * PERIOD_US + DONE_US);
	}
	printf("%d %d\n", found[0], found[1]);
	fflush(stdout);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	return 0;
}
