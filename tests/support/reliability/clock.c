// SPDX-License-Identifier: GPL-2.0-or-later
/* A wall clock that a test sets: LD_PRELOAD this, and write seconds to $CLOCK_OFFSET_FILE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset_s(void)
{
	const char *path = getenv("CLOCK_OFFSET_FILE");
	char text[32] = { 0 };
	int file;

	if (!path)
		return 0;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	if (read(file, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(file);
	return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int (*real)(clockid_t clock, struct timespec *time);
	int result;

	if (!real)
		real = dlsym(RTLD_NEXT, "clock_gettime");
	result = real(clock, time);
	if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		time->tv_sec += offset_s();
	return result;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	tv->tv_sec = now.tv_sec;
	tv->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *result)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (result)
		*result = now.tv_sec;
	return now.tv_sec;
}
