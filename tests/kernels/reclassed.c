// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reclassed [-C CPU] [-g PROCS] [-f] CPU CLAMP RUN_MS SLEEP_MS: a child with an upper clamp runs on
 * CPU for RUN_MS, becomes SCHED_FIFO and sleeps for good. SLEEP_MS later it wakes for a moment on
 * the CPU of -C, or goes to the group whose cgroup.procs is PROCS, asleep. Then it is made
 * SCHED_OTHER, and sleeps on. With -f it goes to sleep as SCHED_OTHER, and is made SCHED_FIFO if
 * there is no -g.
 *
 * reclassed -t CPU CLAMP RUN_MS TIMES: it runs for RUN_MS as SCHED_OTHER and then for a
 * millisecond as SCHED_FIFO, again and again.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/task.h"

static void woken(int number)
{
	(void)number;
}

static int become(pid_t pid, int policy)
{
	struct sched_param param = { .sched_priority = policy == SCHED_FIFO ? 10 : 0 };

	return sched_setscheduler(pid, policy, &param);
}

static int toggle(int ms, int times)
{
	while (times--) {
		run_ms(ms);
		if (become(0, SCHED_FIFO))
			return fail("reclassed: SCHED_FIFO");
		run_ms(1);
		if (become(0, SCHED_OTHER))
			return fail("reclassed: SCHED_OTHER");
	}
	return 0;
}

static int child(char **argv, bool fair, bool toggles)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MAX };

	attr.clamp_max = atoi(argv[1]);
	signal(SIGUSR1, woken);
	if (pin(0, atoi(argv[0])))
		return fail("reclassed: affinity");
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("reclassed: attributes");
	if (toggles)
		return toggle(atoi(argv[2]), atoi(argv[3]));
	run_ms(atoi(argv[2]));
	if (!fair && become(0, SCHED_FIFO))
		return fail("reclassed: SCHED_FIFO");
	for (;;)
		pause();
}

static int wake(pid_t pid)
{
	if (kill(pid, SIGUSR1))
		return -1;
	return usleep(2000);
}

static int join(pid_t pid, const char *procs)
{
	FILE *file = fopen(procs, "w");

	if (!file)
		return -1;
	fprintf(file, "%d", pid);
	return fclose(file);
}

int main(int argc, char **argv)
{
	const char *cpu = NULL, *procs = NULL;
	bool fair = false, toggles = false;
	int option;
	pid_t pid;

	while ((option = getopt(argc, argv, "C:g:ft")) != -1) {
		if (option == 'C')
			cpu = optarg;
		else if (option == 'g')
			procs = optarg;
		else if (option == 'f')
			fair = true;
		else if (option == 't')
			toggles = true;
		else
			return 2;
	}
	argv += optind;
	if (argc - optind != 4)
		return 2;
	pid = fork();
	if (pid < 0)
		return fail("reclassed: fork");
	if (!pid)
		return child(argv, fair, toggles);
	if (toggles)
		return waitpid(pid, NULL, 0) < 0;
	usleep((atoi(argv[2]) + atoi(argv[3])) * 1000);
	if (cpu && (pin(pid, atoi(cpu)) || wake(pid)))
		return fail("reclassed: another CPU");
	if (procs && join(pid, procs))
		return fail("reclassed: another group");
	if (!(fair && procs) && become(pid, fair ? SCHED_FIFO : SCHED_OTHER))
		return fail("reclassed: another class");
	return waitpid(pid, NULL, 0) < 0;
}
