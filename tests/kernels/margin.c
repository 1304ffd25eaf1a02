// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * margin ROUNDS BUSY: where a small task that ran last on a big CPU of juno-r2 is put when it wakes up.
 * The CPUs 0 to BUSY - 1 have some work in each period. Prints the CPU of each wake-up.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "include/task.h"

#define LITTLES	0xfUL
#define BIG	5
/* Forks overutilize the system at first. */
#define WARMUP	60
/* Of a period of 20 ms. */
#define RUN_US	300

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[1]) : 0, busy = argc == 3 ? atoi(argv[2]) : 0;

	setpgid(0, 0);
	for (int cpu = 0; cpu < busy; cpu++)
		if (fork() == 0) {
			if (pin(0, cpu))
				return fail("pin");
			for (;;) {
				run_ms(7);
				usleep(13000);
			}
		}
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	for (int round = -WARMUP; round < rounds; round++) {
		int64_t end;

		if (use_cpus(1UL << BIG))
			return fail("use_cpus");
		usleep(15000);
		if (use_cpus(LITTLES | 1UL << BIG))
			return fail("use_cpus");
		usleep(5000);
		if (round >= 0)
			printf("%d\n", sched_getcpu());
		for (end = now_us() + RUN_US; now_us() < end;)
			;
	}
	fflush(stdout);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	return 0;
}
