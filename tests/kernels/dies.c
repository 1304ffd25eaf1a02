// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dies GROUP CLAMP ROUNDS: a task with an upper clamp always runs in GROUP, which is made for it, until
 * it is killed. The group goes away at once.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/task.h"

static int capped(const char *group, int clamp)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MAX, .clamp_max = clamp };
	char path[128];
	int file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	file = open(path, O_WRONLY);
	if (file < 0 || write(file, "0", 1) != 1)
		return fail("dies: group");
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("dies: capped");
	for (;;)
		;
}

int main(int argc, char **argv)
{
	int rounds;
	pid_t pid;

	if (argc != 4 || pin(0, 0))
		return 2;
	for (rounds = atoi(argv[3]); rounds; rounds--) {
		if (mkdir(argv[1], 0755))
			return fail("dies: mkdir");
		pid = fork();
		if (!pid)
			return capped(argv[1], atoi(argv[2]));
		usleep(60000);
		if (pid < 0 || kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
			return fail("dies: kill");
		if (rmdir(argv[1]))
			return fail("dies: rmdir");
		usleep(60000);
	}
	return 0;
}
