// SPDX-License-Identifier: GPL-2.0-or-later
/* latnice N PROGRAM ...: becomes PROGRAM with a latency_nice of N, which its children inherit. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/task.h"

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_KEEP_ALL | FLAG_LATENCY_NICE };

	if (argc < 3)
		return 2;
	attr.latency_nice = atoi(argv[1]);
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("latnice");
	execv(argv[2], argv + 2);
	return fail(argv[2]);
}
