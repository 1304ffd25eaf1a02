// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * member: runs a program of a scenario, and says in a line how it went wrong.
 *
 *	member setup			what programs expect of a system: /dev/shm, a bounded /tmp with a reserve
 *	member run NAME KEY=VALUE... -- PROGRAM ARGUMENT...
 *	member stop NAME		asks that program to end; does not wait
 *	member ready NAME LIMIT_MS PROGRAM ARGUMENT...	until PROGRAM ends with 0, or NAME does
 *	member alive NAME...		fails when one of these programs has ended
 *	member gather FILE PREFIX	the files whose names begin with PREFIX, into one
 *
 * "run" sleeps until its program ends. Its last line is the reason of a failure, so the agent, which
 * shows the end of a log, shows it.
 */
#include "member.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static int setup(void)
{
	if (mkdir("/dev/shm", 0755) < 0 && errno != EEXIST)
		die("/dev/shm: %s", strerror(errno));
	if (mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777,size=25%") < 0)
		die("/dev/shm: %s", strerror(errno));
	/* A program that fills it is to be refused a write before the kernel runs out of memory. */
	if (mount("tmpfs", "/tmp", "tmpfs", MS_REMOUNT, "mode=1777,size=25%") < 0)
		die("/tmp: %s", strerror(errno));
	if (!make_reserve())
		die("/tmp: %s", strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "setup") == 0)
		return setup();
	if (argc >= 5 && strcmp(argv[1], "run") == 0)
		return run(argv + 2);
	if (argc == 3 && strcmp(argv[1], "stop") == 0)
		return stop(argv[2]);
	if (argc >= 5 && strcmp(argv[1], "ready") == 0)
		return ready(argv + 2);
	if (argc >= 3 && strcmp(argv[1], "alive") == 0)
		return alive(argv + 2);
	if (argc == 4 && strcmp(argv[1], "gather") == 0)
		return gather(argv[2], argv[3]);
	fprintf(stderr, "usage: member setup | run NAME KEY=VALUE... -- PROGRAM ARGUMENT... |"
			" stop NAME | ready NAME LIMIT_MS PROGRAM ARGUMENT... | alive NAME... |"
			" gather FILE PREFIX\n");
	return 2;
}
