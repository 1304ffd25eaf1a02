// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gather MS TASK...: tasks that always run, and where they go. A TASK is the number of the CPU on
 * which it runs for 50 ms, and letters: p, it stays there; f, it does so under SCHED_FIFO; t, it
 * does so in a group that may run for 1 of 100 ms; w, it sleeps for 800 us of each ms.
 * After MS each of those that do not stay says on which CPU it is, a line each.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/task.h"

#define PINNED_US	50000
#define GROUP	"/sys/fs/cgroup/throttled"

static int put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);
	int failed = file < 0 || write(file, text, strlen(text)) < 0;

	if (file >= 0)
		close(file);
	return failed ? fail(path) : 0;
}

/* Until @end, but not where @work_us of each @period_us are over. */
static void work_until(int64_t end, int work_us, int period_us)
{
	for (int64_t now = now_us(); now < end; now = now_us())
		if (period_us && now % period_us >= work_us)
			usleep(period_us - now % period_us);
}

static int be(const char *task, int64_t free_us, int64_t end_us)
{
	struct sched_param urgent = { .sched_priority = 1 };
	int work_us = 0, period_us = 0;

	if (pin(0, atoi(task)))
		return fail(task);
	if (strchr(task, 'f') && sched_setscheduler(0, SCHED_FIFO, &urgent))
		return fail("fifo");
	if (strchr(task, 't') && put(GROUP "/cgroup.procs", "0"))
		return 1;
	if (strchr(task, 'w')) {
		work_us = 200;
		period_us = 1000;
	}
	work_until(free_us, work_us, period_us);
	if (strpbrk(task, "pft"))
		for (;;)
			work_until(INT64_MAX, work_us, period_us);
	if (use_cpus(~0UL))
		return fail("affinity");
	work_until(end_us, work_us, period_us);
	printf("%d\n", sched_getcpu());
	return 0;
}

int main(int argc, char **argv)
{
	int64_t begin = now_us();
	int status, failed = 0;
	pid_t stays[64];
	int staying = 0;

	if (argc < 3 || argc > 64 || (mkdir(GROUP, 0755) && errno != EEXIST))
		return 2;
	if (put(GROUP "/cpu.max", "1000 100000"))
		return 1;
	for (int task = 2; task < argc; task++) {
		pid_t pid = fork();

		if (!pid)
			return be(argv[task], begin + PINNED_US, begin + PINNED_US + 1000LL * atoi(argv[1]));
		if (strpbrk(argv[task], "pft"))
			stays[staying++] = pid;
	}
	for (int task = 2 + staying; task < argc; task++) {
		wait(&status);
		failed |= status;
	}
	while (staying > 0)
		kill(stays[--staying], SIGKILL);
	return failed ? 1 : 0;
}
