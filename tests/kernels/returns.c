// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * returns: a task uses up its reservation of 2 in 20 ms, leaves SCHED_DEADLINE before a tick sees
 * that, and comes back in the next period, before what it overran is made up for. Says when it has
 * slept and woken up after that, how long it had run before, and what runtime it was back with, in us.
 *
 * returns asleep: it uses it up with a lock held and sleeps. A task with an earlier deadline waits
 * for the lock meanwhile, and gives up before it wakes up.
 */
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/attr.h"

#define TURNS		40
#define RUNTIME_US	2000
#define PERIOD_US	20000

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void sleep_until(long long us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int set_policy(uint32_t policy, uint64_t part)
{
	struct attr attr = { .size = sizeof(attr), .policy = policy };

	if (policy) {
		attr.runtime = RUNTIME_US * 1000 / part;
		attr.deadline = attr.period = PERIOD_US * 1000 / part;
	}
	return syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* A tick comes every 4 ms: in some turns none comes in between. */
static void overrun(long long start, int turn)
{
	while (now_us() < start + RUNTIME_US + 50 + 100 * (turn % 19))
		;
}

/* What is left of its runtime, as the kernel shows it. */
static long long left_us(void)
{
	FILE *file = fopen("/proc/self/sched", "r");
	long long left = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "dl.runtime :%lld", &left);
	if (file)
		fclose(file);
	return left / 1000;
}

static int leave_and_return(int turn)
{
	long long start = now_us(), ran, left;

	if (set_policy(6, 1))
		return 1;
	overrun(start, turn);
	ran = now_us() - start;
	if (set_policy(0, 1))
		return 1;
	sleep_until(start + PERIOD_US + 200 + 400 * (turn % 7));
	if (set_policy(6, 1))
		return 1;
	left = left_us();
	sleep_until(now_us() + 1000);
	if (set_policy(0, 1))
		return 1;
	sleep_until(now_us() + 3 * PERIOD_US);
	dprintf(STDOUT_FILENO, "%lld %lld ", ran, left);
	return 0;
}

static int lock(uint32_t *futex, const struct timespec *until)
{
	return syscall(SYS_futex, futex, FUTEX_LOCK_PI, 0, until, NULL, 0);
}

static int sleep_boosted(int turn)
{
	uint32_t *futex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long long start = now_us();
	struct timespec until;

	if (!fork()) {
		if (lock(futex, NULL) || set_policy(6, 1))
			_exit(1);
		overrun(now_us(), turn);
		sleep_until(start + 4 * PERIOD_US);
		_exit(0);
	}
	sleep_until(start + PERIOD_US / 2);
	if (set_policy(6, 4))
		return 1;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1500 * PERIOD_US;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (!lock(futex, &until) || set_policy(0, 1))
		return 1;
	while (wait(NULL) > 0)
		;
	munmap(futex, 4096);
	return 0;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int turn = 0; turn < TURNS; turn++) {
		if (argc > 1 ? sleep_boosted(turn) : leave_and_return(turn))
			return 1;
		dprintf(STDOUT_FILENO, "back\n");
	}
	return 0;
}
