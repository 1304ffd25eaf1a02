// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forks GROUP|-: a task is capped to 100, by itself or by its group, and makes a child that always runs
 * on CPU 4. The child is made in the folder GROUP of another group; without one, attributes are reset.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/task.h"

#define RESET_ON_FORK	0x01

int main(int argc, char **argv)
{
	struct attr attr = {
		.size = sizeof(attr),
		.flags = FLAG_CLAMP_MAX | RESET_ON_FORK,
		.clamp_max = 100,
	};
	struct clone_args child = { .exit_signal = SIGCHLD };
	pid_t pid;

	if (argc != 2)
		return 2;
	if (argv[1][0] == '/') {
		child.flags = CLONE_INTO_CGROUP;
		child.cgroup = open(argv[1], O_PATH);
	} else if (syscall(SYS_sched_setattr, 0, &attr, 0)) {
		return fail("forks: attributes");
	}
	pid = syscall(SYS_clone3, &child, sizeof(child));
	if (pid < 0)
		return fail("forks: clone3");
	if (pid)
		return wait(NULL) < 0;
	if (pin(0, 4))
		return fail("forks: affinity");
	for (;;)
		;
}
