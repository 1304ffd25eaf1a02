// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * placing ROUNDS PREV MASK [FIRST [POLICY]]: where a small task that ran last on the CPU PREV is put
 * when it wakes up. CPU 3 has utilization left then of a task that sleeps. On each of the CPUs of MASK a
 * small task runs; the other ones of 0 to 3 are idle. Prints how often it was put on which of these. It
 * looks from the period FIRST on, with 0 or by default once EAS places tasks. The small tasks of MASK
 * have POLICY: i is SCHED_IDLE, f is SCHED_FIFO without its boost, b is boosted to a little's second OPP.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/attr.h"
#include "include/eas.h"

#define LITTLES	0xfUL
#define LOADED	3
/* The first OPP has 181 and the second one 322. */
#define BOOST	200
#define PERIOD_US	20000
/* Within a period: the loaded CPU is busy, the task is on its CPU, others run, the task wakes up. */
#define LOADED_UNTIL_US	6000
#define READY_US	8000
#define OTHERS_FROM_US	11000
#define WAKEUP_US	13000
#define OTHERS_UNTIL_US	13500
/* The task then runs for longer than a tick. */
#define DONE_US		18500
/* Forks overutilize the system at first. Only a pass of load balance says when that has ended. */
#define WARMUP		100
#define MOST_WARMUP	700

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void burn_until(long long end)
{
	while (now_us() < end)
		;
}

static void sleep_until(long long end)
{
	struct timespec until = { .tv_sec = end / 1000000, .tv_nsec = end % 1000000 * 1000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void use(unsigned long mask)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < 64; cpu++)
		if (mask & 1UL << cpu)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		kill(0, SIGKILL);
	}
}

/* Runs on cpu from begin_us to end_us of each period; leaving an idle state takes a part of it. */
static void run_on(int cpu, long long start, long long begin_us, long long end_us)
{
	use(1UL << cpu);
	for (long long round = 0;; round++) {
		sleep_until(start + round * PERIOD_US + begin_us);
		burn_until(start + round * PERIOD_US + end_us);
	}
}

static void set_policy(char policy)
{
	struct attr attr = { .size = sizeof(attr), .policy = SCHED_IDLE };

	if (policy == 'f') {
		attr.policy = SCHED_FIFO;
		attr.priority = 10;
		attr.flags = FLAG_CLAMP_MIN;
	}
	if (policy == 'b') {
		attr.policy = SCHED_OTHER;
		attr.flags = FLAG_CLAMP_MIN;
		attr.clamp_min = BOOST;
	}
	if (policy && syscall(SYS_sched_setattr, 0, &attr, 0)) {
		perror("sched_setattr");
		kill(0, SIGKILL);
	}
}

/* Others run for some periods, until EAS places them; the first period after that. */
static int warm_up(long long start)
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
	long long start = now_us() + 50000, first, rounds;
	int found[4] = { 0 }, prev;
	unsigned long mask;

	if (argc < 4 || argc > 6)
		return 2;
	/* Who belongs here is killed together. */
	setpgid(0, 0);
	rounds = atoll(argv[1]);
	prev = atoi(argv[2]);
	mask = strtoul(argv[3], NULL, 0);
	if (fork() == 0)
		run_on(LOADED, start, 0, LOADED_UNTIL_US);
	for (int cpu = 0; cpu <= LOADED; cpu++)
		if (mask & 1UL << cpu && fork() == 0) {
			set_policy(argc > 5 ? *argv[5] : 0);
			run_on(cpu, start, OTHERS_FROM_US, OTHERS_UNTIL_US);
		}
	first = argc > 4 ? atoll(argv[4]) : 0;
	if (!first)
		first = warm_up(start);
	for (long long round = first; round < first + rounds; round++) {
		use(1UL << prev);
		sleep_until(start + round * PERIOD_US + READY_US);
		use(LITTLES);
		sleep_until(start + round * PERIOD_US + WAKEUP_US);
		if (sched_getcpu() > LOADED)
			kill(0, SIGKILL);
		found[sched_getcpu()]++;
		burn_until(start + round * PERIOD_US + DONE_US);
	}
	printf("%d %d %d %d\n", found[0], found[1], found[2], found[3]);
	fflush(stdout);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	return 0;
}
