// SPDX-License-Identifier: GPL-2.0-or-later
/* What is known about an end, and the logs of other programs. */
#include "member.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Of a log, what is read of its end. */
#define KEPT		512
/* Of free space: a file that has just been removed leaves some. */
#define FEW_BLOCKS	16
/* syslog(2): everything that the kernel's ring buffer has. */
#define READ_ALL	3
#define KILLED		"Killed process "

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
