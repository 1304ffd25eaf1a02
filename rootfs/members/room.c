// SPDX-License-Identifier: GPL-2.0-or-later
/* The folder of all logs, lines at the end of our log, and the room for them. */
#include "member.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a log that is full, what stays. */
#define KEPT		512
/* Of a file in /tmp. A report takes one at a time of the reserve. */
#define BLOCK		4096
/* What "setup" keeps of /tmp. */
#define RESERVE		(16 * BLOCK)

const char *folder(void)
{
	const char *given = getenv("TMPDIR");	/* never set in a guest */

	return given ? given : "/tmp";
}

static int open_reserve(int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/member.reserve", folder());
	return open(path, flags | O_RDWR | O_CLOEXEC, 0600);
}

bool make_reserve(void)
{
	int fd = open_reserve(O_CREAT);
	bool made = fd >= 0 && fallocate(fd, 0, 0, RESERVE) == 0;

	if (fd >= 0)
		close(fd);
	return made;
}

/* Frees a piece of the reserve; false where none is left. */
static bool give_piece(void)
{
	int fd = open_reserve(0);
	struct stat state;
	bool given;

	if (fd < 0)
		return false;
	given = fstat(fd, &state) == 0 && state.st_size >= BLOCK &&
		ftruncate(fd, state.st_size - BLOCK) == 0;
	close(fd);
	return given;
}

void keep_room(void)
{
	/* A block beyond the log's end is the log's, whoever fills /tmp later. */
	while (fallocate(STDERR_FILENO, FALLOC_FL_KEEP_SIZE, 0, BLOCK) < 0 && errno == ENOSPC)
		if (!give_piece())
			break;
}

/* Cuts a full log down to its end, so that a line fits behind it: in the log's first block. */
static void make_room(void)
{
	char tail[KEPT];
	int fd = open("/proc/self/fd/2", O_RDWR | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t kept = size > KEPT ? pread(fd, tail, sizeof(tail), size - KEPT) : 0;

	if (kept > 0 && (pwrite(fd, tail, kept, 0) < 0 || ftruncate(fd, kept) < 0))
		_exit(1);
	if (fd >= 0)
		close(fd);
}

void say(const char *format, ...)
{
	char line[KEPT + 256];
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
	while (write(STDERR_FILENO, line, length) != length)
		if (!give_piece())
			_exit(1);
}
