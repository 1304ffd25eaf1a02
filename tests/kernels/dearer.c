// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dearer ROUNDS: where a small task that may use CPUs 0 and 1, and ran last on 0, is put when it
 * wakes up. On CPU 0 one small task runs then, boosted to a higher OPP; on CPU 1 there are two
 * without a boost. Prints how often it was put on 0 and on 1.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/eas.h"
#include "include/task.h"

#define PERIOD_US	20000
#define BOOST		300
/* Within a period: the task is on its CPU, others run, the task wakes up. */
#define READY_US	8000
/* Leaving the deepest idle state takes a part of that. */
#define OTHERS_FROM_US	11300
#define WAKEUP_US	13000
#define OTHERS_UNTIL_US	13200
#define DONE_US		15000
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

static void both(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CPU_SET(1, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		kill(0, SIGKILL);
}

static void run_on(int cpu, int boost, int64_t start)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MIN, .clamp_min = boost };

	if (pin(0, cpu) || (boost && syscall(SYS_sched_setattr, 0, &attr, 0)))
		kill(0, SIGKILL);
	for (int64_t round = 0;; round++) {
		sleep_until(start + round * PERIOD_US + OTHERS_FROM_US);
		burn_until(start + round * PERIOD_US + OTHERS_UNTIL_US);
	}
}

/* Others run for some periods, until EAS places them; the first period after that. */
static int warm_up(int64_t start)
{
	long before = -1;

	for (int round = WARMUP; round < MOST_WARMUP; round++) {
		long called;

		sleep_until(start + round * PERIOD_US);
		called = feec_called();
		if (before >= 0 && called > before)
			return round;
		before = called;
	}
	fprintf(stderr, "EAS places no task\n");
	kill(0, SIGKILL);
	return -1;
}

int main(int argc, char **argv)
{
	int64_t start = now_us() + 50000;
	int found[2] = { 0 }, first, rounds;

	if (argc != 2)
		return 2;
	/* Who belongs here is killed together. */
	setpgid(0, 0);
	rounds = atoi(argv[1]);
	for (int other = 0; other < 3; other++)
		if (fork() == 0)
			run_on(other > 0, other ? 0 : BOOST, start);
	first = warm_up(start);
	for (int round = first; round < first + rounds; round++) {
		if (pin(0, 0))
			return fail("dearer: affinity");
		sleep_until(start + round * PERIOD_US + READY_US);
		both();
		sleep_until(start + round * PERIOD_US + WAKEUP_US);
		found[sched_getcpu()]++;
		burn_until(start + round * PERIOD_US + DONE_US);
	}
	printf("%d %d\n", found[0], found[1]);
	fflush(stdout);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	return 0;
}
