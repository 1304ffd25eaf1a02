// SPDX-License-Identifier: GPL-2.0-or-later
/* sample FILE PERIOD_US COUNT: prints what FILE holds, a line each PERIOD_US. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct timespec next;
	char text[64];

	if (argc != 4)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int left = atoi(argv[3]); left > 0; left--) {
		int file = open(argv[1], O_RDONLY);
		ssize_t length = file < 0 ? -1 : read(file, text, sizeof(text));

		if (length < 0) {
			perror(argv[1]);
			return 1;
		}
		close(file);
		if (fwrite(text, 1, length, stdout) != (size_t)length)
			return 1;
		next.tv_nsec += atoi(argv[2]) * 1000L;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return 0;
}
