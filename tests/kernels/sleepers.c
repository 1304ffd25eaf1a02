// SPDX-License-Identifier: GPL-2.0-or-later
/* sleepers N: N tasks that run for some milliseconds and sleep shortly, most with negative lag. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	int tasks = argc > 1 ? atoi(argv[1]) : 1;
	int own = 1;

	for (; own < tasks; own++)
		if (fork() == 0)
			break;
	/* Own lengths, so that they do not march in step. */
	for (;;) {
		long long end = now_us() + 2000 + 700 * (own % 7);

		while (now_us() < end)
			;
		usleep(500 + 300 * (own % 5));
	}
}
