// SPDX-License-Identifier: GPL-2.0-or-later
/* What every part uses: refusals, numbers, sleep. */
#include "member.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void die(const char *format, ...)
{
	char reason[512];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	say("member: %s", reason);
	exit(2);
}

long number(const char *text, long least, long most, const char *what)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most)
		die("%s = '%s': allowed: %ld..%ld", what, text, least, most);
	return value;
}

void sleep_us(long us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}
