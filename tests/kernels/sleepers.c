// SPDX-License-Identifier: GPL-2.0-or-later
/* sleepers N: N tasks that run for some milliseconds and sleep shortly, most with negative lag. */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int tasks = argc > 1 ? atoi(argv[1]) : 1;
	int own = 1;

	for (; own < tasks; own++)
		if (fork() == 0)
			break;
	/* Own lengths, so that they do not march in step. Reading the clock would be dear. */
	for (;;) {
		for (long turns = 140000 + 49000 * (own % 7); turns > 0; turns--)
			__asm__ volatile("");
		usleep(500 + 300 * (own % 5));
	}
}
