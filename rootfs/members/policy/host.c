// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors, time, files. */
#include "policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void stop(int code, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "policy: ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	exit(code);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void until_ns(uint64_t ns)
{
	struct timespec at = { ns / 1000000000, ns % 1000000000 };

	while (!ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

/* 0, or what the kernel says of the write. */
static int put(const char *path, const char *value)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (file < 0 || write(file, value, strlen(value)) < 0)
		error = errno;
	if (file >= 0)
		close(file);
	return error;
}

void must_put(const char *path, const char *value)
{
	int error = put(path, value);

	if (error)
		stop(1, "%s: '%s': %s", path, value, strerror(error));
}

bool get(const char *path, char *text, size_t room)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? -1 : read(file, text, room - 1);

	if (file >= 0)
		close(file);
	if (length < 0)
		return false;
	text[length] = 0;
	text[strcspn(text, "\n")] = 0;
	return true;
}
