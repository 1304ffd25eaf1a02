// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * margin ROUNDS BUSY [boosted]: where a small task that ran last on a big CPU of juno-r2 is put when it wakes up.
 * The CPUs of the mask BUSY have some work in each period. A boosted task ran last on a little CPU, and has the
 * greatest capacity as its minimum. Prints the CPU of each wake-up.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/task.h"

#define LITTLE	3
#define BIG	5
#define LITTLES	0xfUL
/* Forks overutilize the system at first. */
#define WARMUP	60
/* Of a period of 20 ms. */
#define RUN_US	300

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MIN, .clamp_min = 1024 };
	bool boosted = argc == 4;
	int rounds, before = boosted ? LITTLE : BIG;
	unsigned long busy;

	if (argc < 3 || argc > 4)
		return 2;
	rounds = atoi(argv[1]);
	busy = strtoul(argv[2], NULL, 16);
	setpgid(0, 0);
	for (int cpu = 0; cpu <= BIG; cpu++)
		if (busy & 1UL << cpu && fork() == 0) {
			if (pin(0, cpu))
				return fail("pin");
			for (;;) {
				run_ms(4);
				usleep(16000);
			}
		}
	if (boosted && syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("sched_setattr");
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	for (int round = -WARMUP; round < rounds; round++) {
		int64_t end;

		if (use_cpus(1UL << before))
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
