// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * recent ROUNDS: a task that ran on CPU 3 waits on CPU 0. It may use CPU 1 too, and a task always
 * runs on each of the two. Then it may use the CPUs 0 to 3, sleeps, and says where it wakes up.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/task.h"

#define BUSY	2
#define HOME	3

static int use_up_to(int last)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu <= last; cpu++)
		CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int wait_and_wake(void)
{
	int before;

	/* Little of it runs, so it fits any CPU. */
	if (nice(10) < 0 || pin(0, 0) || use_up_to(BUSY - 1))
		return fail("recent");
	run_ms(60);
	if (use_up_to(HOME))
		return fail("recent");
	before = sched_getcpu();
	usleep(20000);
	printf("%d %d\n", sched_getcpu(), before);
	return 0;
}

int main(int argc, char **argv)
{
	pid_t busy[BUSY];
	int status, failed = 0;

	if (argc != 2)
		return 2;
	for (int cpu = 0; cpu < BUSY; cpu++) {
		busy[cpu] = fork();
		if (busy[cpu] == 0) {
			if (pin(0, cpu))
				return fail("recent");
			for (;;)
				;
		}
	}
	if (pin(0, HOME))
		return fail("recent");
	usleep(400000);
	for (int round = 0; round < atoi(argv[1]); round++) {
		if (fork() == 0)
			return wait_and_wake();
		wait(&status);
		failed |= status;
	}
	for (int cpu = 0; cpu < BUSY; cpu++)
		kill(busy[cpu], SIGKILL);
	return failed ? 1 : 0;
}
