// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines for the end of a log, the room for them, and what is known about an end. */
#include "member.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define KEPT		512
/* Of free space: a file that has just been removed leaves some. */
#define FEW_BLOCKS	16
/* Of a file in /tmp. */
#define BLOCK		4096
/* What "setup" keeps of /tmp, and what a report takes of it at once. */
#define RESERVE		(16 * PIECE)
#define PIECE		BLOCK
/* syslog(2): everything that the kernel's ring buffer has. */
#define READ_ALL	3
#define KILLED		"Killed process "

static int open_reserve(int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/member.reserve", folder());
	return open(path, flags | O_RDWR | O_CLOEXEC, 0600);
}

void make_reserve(void)
{
	int fd = open_reserve(O_CREAT);

	if (fd < 0 || fallocate(fd, 0, 0, RESERVE) < 0)
		die("member.reserve: %s", strerror(errno));
	close(fd);
}

/* Frees a piece of the reserve; false where none is left. */
static bool give_piece(void)
{
	int fd = open_reserve(0);
	struct stat state;
	bool given;

	if (fd < 0)
		return false;
	given = fstat(fd, &state) == 0 && state.st_size >= PIECE &&
		ftruncate(fd, state.st_size - PIECE) == 0;
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

/* The end of the kernel's log, as a text. */
static const char *kernel_log(void)
{
	static char log[1 << 16];
	int length = klogctl(READ_ALL, log, sizeof(log) - 1);

	log[length > 0 ? length : 0] = '\0';
	return log;
}

/* Whom the OOM killer has killed: the process pid itself, else the last one. */
static const char *oom_killed(int pid)
{
	static char text[64];
	const char *place = kernel_log();
	char name[17];
	int killed;

	text[0] = '\0';
	while ((place = strstr(place, KILLED))) {
		place += strlen(KILLED);
		if (sscanf(place, "%d (%16[^)])", &killed, name) != 2)
			continue;
		if (killed == pid)
			return ": the OOM killer killed it";
		snprintf(text, sizeof(text), ": the OOM killer killed %s", name);
	}
	return text;
}

const char *circumstances(int pid)
{
	const char *killed = oom_killed(pid);
	struct statvfs space;

	if (*killed)
		return killed;
	if (statvfs(folder(), &space) == 0 && space.f_bavail < FEW_BLOCKS)
		return ": /tmp is full";
	return "";
}

/* The last KEPT bytes of a file; what was read is a text. */
static ssize_t read_tail(const char *path, char tail[KEPT + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	if (fd >= 0) {
		off_t size = lseek(fd, 0, SEEK_END);

		got = pread(fd, tail, KEPT, size > KEPT ? size - KEPT : 0);
		close(fd);
	}
	tail[got > 0 ? got : 0] = '\0';
	return got;
}

static void log_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s.log", folder(), name);
}

void show_log(const char *name)
{
	char path[256], tail[KEPT + 1];

	log_path(path, sizeof(path), name);
	if (read_tail(path, tail) > 0)
		say("%s", tail);
}

/* A log's last line where that is one of ours, or NULL; cuts the text after it. */
static const char *last_words(char *log)
{
	size_t length = strlen(log);
	char *line;

	if (length && log[length - 1] == '\n')
		log[length - 1] = '\0';
	line = strrchr(log, '\n');
	line = line ? line + 1 : log;
	return strncmp(line, "member: ", 8) == 0 ? line : NULL;
}

bool has_failed(const char *name)
{
	char path[256], tail[KEPT + 1];

	log_path(path, sizeof(path), name);
	return read_tail(path, tail) > 0 && last_words(tail);
}

void show_others(const char *name)
{
	char pattern[256], own[256], tail[KEPT + 1];
	const char *words;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*.log", folder());
	log_path(own, sizeof(own), name);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (strcmp(found.gl_pathv[i], own) == 0 || read_tail(found.gl_pathv[i], tail) <= 0)
			continue;
		words = last_words(tail);
		if (words)
			say("%s", words);
	}
	globfree(&found);
}
