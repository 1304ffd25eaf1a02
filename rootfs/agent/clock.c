// SPDX-License-Identifier: GPL-2.0-or-later
/* CLOCK_MONOTONIC: what time it is, and sleeping until later. */

#include "agent.h"

#include <errno.h>
#include <time.h>

uint64_t mono_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	sleep_until_ns(mono_ns() + ns);
}

void sleep_until_ns(uint64_t end)
{
	struct timespec until = {
		.tv_sec = end / NSEC_PER_SEC,
		.tv_nsec = end % NSEC_PER_SEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}
