// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * naps N MASK MS RUN_US HOGS: N tasks that may use the CPUs of MASK run for about RUN_US and sleep
 * shortly, for MS. On each CPU of HOGS, a task always runs.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/task.h"

#define MOST	64

static int nap(unsigned long mask, int64_t end, int run_us, int sleep_us)
{
	if (use_cpus(mask))
		return fail("naps: affinity");
	while (now_us() < end) {
		int64_t until = now_us() + run_us;

		while (now_us() < until)
			;
		usleep(sleep_us);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int tasks, hogs = 0, status, failed = 0;
	pid_t others[MOST], nappers[MOST];
	int64_t end;

	if (argc != 6 || atoi(argv[1]) > MOST)
		return 2;
	tasks = atoi(argv[1]);
	end = now_us() + 1000LL * atoi(argv[3]);
	for (int cpu = 0; cpu < MOST; cpu++) {
		if (!(strtoul(argv[5], NULL, 0) & 1UL << cpu))
			continue;
		others[hogs] = fork();
		if (others[hogs++] == 0) {
			if (pin(0, cpu))
				return fail("naps: affinity");
			for (;;)
				;
		}
	}
	/* Own lengths, so that they do not march in step. */
	for (int own = 0; own < tasks; own++) {
		nappers[own] = fork();
		if (nappers[own] == 0)
			return nap(strtoul(argv[2], NULL, 0), end,
				   atoi(argv[4]) + 300 * own, 700 + 300 * own);
	}
	for (int own = 0; own < tasks; own++) {
		waitpid(nappers[own], &status, 0);
		failed |= status;
	}
	while (hogs > 0)
		kill(others[--hogs], SIGKILL);
	return failed ? 1 : 0;
}
