// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * iowait WRITER_CPU CPU CLAMP: on CPU, with an upper clamp, faults a page of a file in again and
 * again that a child on WRITER_CPU writes: the kernel waits for the page's lock as for I/O.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/task.h"

#define PAGE		4096

static int write_always(int file)
{
	static char page[PAGE];

	while (pwrite(file, page, PAGE, 0) == PAGE)
		;
	return fail("iowait: write");
}

static int fault_always(int file)
{
	volatile char *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);

	if (page == MAP_FAILED)
		return fail("iowait: mmap");
	for (;;) {
		(void)*page;
		if (madvise((void *)page, PAGE, MADV_DONTNEED))
			return fail("iowait: madvise");
	}
}

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MAX };
	int file = open("/tmp/page", O_RDWR | O_CREAT, 0600);

	if (argc != 4)
		return 2;
	if (file < 0 || ftruncate(file, PAGE))
		return fail("iowait: /tmp/page");
	switch (fork()) {
	case -1:
		return fail("iowait: fork");
	case 0:
		return pin(0, atoi(argv[1])) ? fail("iowait: affinity") : write_always(file);
	}
	attr.clamp_max = atoi(argv[3]);
	if (pin(0, atoi(argv[2])))
		return fail("iowait: affinity");
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("iowait: attributes");
	return fault_always(file);
}
