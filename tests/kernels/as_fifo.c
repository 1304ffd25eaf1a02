// SPDX-License-Identifier: GPL-2.0-or-later
/* as_fifo PROGRAM ARGUMENT...: becomes PROGRAM under SCHED_FIFO; busybox has no chrt. */
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sched_param param = { .sched_priority = 10 };

	if (argc < 2)
		return 2;
	if (!sched_setscheduler(0, SCHED_FIFO, &param))
		execv(argv[1], argv + 1);
	perror("as_fifo");
	return 1;
}
