// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines for the end of a log, and what is known about an end. */
#include "member.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define KEPT		512
/* Of free space: a file that has just been removed leaves some. */
#define FEW_BLOCKS	16

/* Cuts a full log down to its end, so that a line fits behind it. */
static void make_room(void)
{
	char tail[KEPT];
	int fd = open("/proc/self/fd/2", O_RDWR | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t kept;

	if (size <= KEPT)
		return;
	kept = pread(fd, tail, sizeof(tail), size - KEPT);
	if (ftruncate(fd, 0) == 0 && kept > 0 && write(STDERR_FILENO, tail, kept) < 0)
		_exit(1);
	close(fd);
}

void say(const char *format, ...)
{
	char line[512];
	va_list args;
	int length;

	va_start(args, format);
	/* A program need not end its last line. */
	length = 1 + vsnprintf(line + 1, sizeof(line) - 2, format, args);
	va_end(args);
	if (length > (int)sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[0] = '\n';
	line[length++] = '\n';
	if (write(STDERR_FILENO, line, length) == length)
		return;
	make_room();
	if (write(STDERR_FILENO, line, length) < 0)
		_exit(1);
}

static unsigned long oom_kills(void)
{
	unsigned long count = 0;
	char line[128];
	FILE *file = fopen("/proc/vmstat", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "oom_kill %lu", &count) == 1)
			break;
	if (file)
		fclose(file);
	return count;
}

const char *circumstances(void)
{
	struct statvfs space;

	if (getpid() != 1 && oom_kills() > 0)
		return ": the kernel ran out of memory";
	if (statvfs(folder(), &space) == 0 && space.f_bavail < FEW_BLOCKS)
		return ": /tmp is full";
	return "";
}

/* The end of another program's log, into ours. */
void show_log(const char *name)
{
	char path[256], tail[KEPT];
	ssize_t got;
	off_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/%s.log", folder(), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	size = lseek(fd, 0, SEEK_END);
	got = pread(fd, tail, sizeof(tail), size > KEPT ? size - KEPT : 0);
	if (got > 0)
		say("%.*s", (int)got, tail);
	close(fd);
}
