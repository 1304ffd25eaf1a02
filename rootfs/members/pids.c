// SPDX-License-Identifier: GPL-2.0-or-later
/* The process ids of "member run", by the names of their programs. */
#include "member.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void pid_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s.pid", folder(), name);
}

bool note_pid(const char *name)
{
	char path[PATH_MAX];
	FILE *file;
	bool noted;

	pid_path(path, sizeof(path), name);
	file = fopen(path, "we");
	if (!file)
		return false;
	noted = fprintf(file, "%d\n", getpid()) > 0;
	return fclose(file) == 0 && noted;
}

void forget_pid(const char *name)
{
	char path[PATH_MAX];

	pid_path(path, sizeof(path), name);
	unlink(path);
}

int pid_of(const char *name)
{
	char path[PATH_MAX], line[32] = "";
	FILE *file;

	pid_path(path, sizeof(path), name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return atoi(line);
}
