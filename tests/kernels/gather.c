// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gather MS TASK...: tasks that always run, and where they go. A TASK is the number of the CPU on
 * which it runs for 80 ms, and letters: p, it stays there; f, it does so under SCHED_FIFO; t, it
 * does so in a group that may run for 1 of 100 ms; w, it sleeps for 800 us of each ms, also when a
 * tick may be; m, it is moved to the CPU of the one before it, and free there.
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

#define PINNED_US	80000
#define STAYS	"pft"
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
		if (period_us && (now + period_us / 2) % period_us >= work_us)
			usleep(period_us - (now + period_us / 2) % period_us);
}

static int be(const char *task, int64_t end_us)
{
	struct sched_param urgent = { .sched_priority = 1 };
	int rests = strchr(task, 'w') != NULL;

	if (pin(0, atoi(task)))
		return fail(task);
	if (strchr(task, 'f') && sched_setscheduler(0, SCHED_FIFO, &urgent))
		return fail("fifo");
	if (strchr(task, 't')) {
		if (mkdir(GROUP, 0755) && errno != EEXIST)
			return fail("mkdir");
		if (put(GROUP "/cpu.max", "1000 100000") || put(GROUP "/cgroup.procs", "0"))
			return 1;
	}
	work_until(strpbrk(task, STAYS) ? INT64_MAX : end_us, rests ? 200 : 0, rests ? 1000 : 0);
	printf("%d\n", sched_getcpu());
	return 0;
}

int main(int argc, char **argv)
{
	int64_t free_us = now_us() + PINNED_US;
	pid_t tasks[64];
	cpu_set_t all;
	int status, failed = 0;

	if (argc < 3 || argc > 64)
		return 2;
	/* Between two ticks, of 4 ms */
	free_us += 4000 - free_us % 4000 + 1500;
	for (int task = 2; task < argc; task++) {
		tasks[task] = fork();
		if (!tasks[task])
			return be(argv[task], free_us + 1000LL * atoi(argv[1]));
	}
	usleep(free_us - now_us());
	memset(&all, 0xff, sizeof(all));
	for (int task = 3; task < argc; task++)
		if (strchr(argv[task], 'm') && pin(tasks[task], atoi(argv[task - 1])))
			return fail("move");
	for (int task = 2; task < argc; task++)
		if (!strpbrk(argv[task], STAYS) && sched_setaffinity(tasks[task], sizeof(all), &all))
			return fail("affinity");
	for (int task = 2; task < argc; task++) {
		if (strpbrk(argv[task], STAYS))
			continue;
		waitpid(tasks[task], &status, 0);
		failed |= status;
	}
	for (int task = 2; task < argc; task++)
		if (strpbrk(argv[task], STAYS))
			kill(tasks[task], SIGKILL);
	return failed ? 1 : 0;
}
