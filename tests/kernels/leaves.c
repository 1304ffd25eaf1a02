// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leaves CPU DELAY_US ROUNDS: a task wakes up on CPU, runs, and falls asleep just after DELAY_US. If
 * a tick may come then, it falls asleep before. Two capped tasks share CPU 0 meanwhile, so that a CPU
 * that becomes idle balances load. Prints in how many rounds it fell asleep after DELAY_US.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/task.h"

/* Of CLOCK_MONOTONIC. */
#define TICK_US		4000
#define AFTER_US	500
#define BEFORE_US	1500

static pid_t capped(void)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MAX, .clamp_max = 100 };
	pid_t pid = fork();

	if (pid)
		return pid;
	if (pin(0, 0) || syscall(SYS_sched_setattr, 0, &attr, 0))
		exit(fail("leaves: attributes"));
	for (;;)
		;
}

int main(int argc, char **argv)
{
	pid_t others[2];
	int after = 0;

	if (argc != 4)
		return 2;
	others[0] = capped();
	others[1] = capped();
	if (pin(0, atoi(argv[1])))
		return fail("leaves: affinity");
	/* From now on its estimated utilization is high when it wakes up. */
	run_ms(150);
	for (int rounds = atoi(argv[3]); rounds > 0; rounds--) {
		int64_t due, end, into;

		/* The delay, a whole number of ticks, then ends between two of them. */
		usleep(405500 - (now_us() + 401000) % TICK_US);
		due = now_us() + atoi(argv[2]);
		end = due - BEFORE_US;
		into = due % TICK_US;
		if (into > AFTER_US && into < TICK_US - 2 * AFTER_US) {
			end = due + AFTER_US;
			after++;
		}
		while (now_us() < end)
			;
	}
	usleep(100000);
	printf("%d\n", after);
	for (int own = 0; own < 2; own++)
		kill(others[own], SIGKILL);
	return 0;
}
