// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * returns: a task uses up its reservation of 2 in 20 ms, leaves SCHED_DEADLINE before a tick sees
 * that, and comes back in the next period, before what it overran is made up for. Says when it has
 * slept and woken up after that.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

static int set_policy(uint32_t policy)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr), .policy = policy };

	if (policy) {
		attr.runtime = RUNTIME_US * 1000;
		attr.deadline = attr.period = PERIOD_US * 1000;
	}
	return syscall(SYS_sched_setattr, 0, &attr, 0);
}

int main(void)
{
	for (int turn = 0; turn < TURNS; turn++) {
		long long start = now_us();

		if (set_policy(6))
			return 1;
		/* A tick comes every 4 ms. */
		while (now_us() < start + RUNTIME_US + 50 + 100 * (turn % 19))
			;
		if (set_policy(0))
			return 1;
		sleep_until(start + PERIOD_US + 200 + 400 * (turn % 7));
		if (set_policy(6))
			return 1;
		sleep_until(now_us() + 1000);
		if (set_policy(0))
			return 1;
		sleep_until(now_us() + 3 * PERIOD_US);
		dprintf(STDOUT_FILENO, "back\n");
	}
	return 0;
}
