// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * boosted ROUNDS FIRST LAST [none]: a small task that may use the CPUs FIRST to LAST, boosted to the
 * greatest capacity, wakes up again and again. Prints the CPU of each wake-up. With none it has no
 * boost, and no utilization: it does nothing.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/task.h"

/* Forks overutilize the system at first. */
#define WARMUP		50

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MIN, .clamp_min = 1024 };
	cpu_set_t set;

	if (argc != 4 && argc != 5)
		return 2;
	if (argc == 5)
		attr.clamp_min = 0;
	CPU_ZERO(&set);
	for (int cpu = atoi(argv[2]); cpu <= atoi(argv[3]); cpu++)
		CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("boosted");
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	for (int round = WARMUP + atoi(argv[1]); round > 0; round--) {
		usleep(20000);
		if (round <= atoi(argv[1]))
			printf("%d\n", sched_getcpu());
		if (argc == 4)
			run_ms(1);
	}
	return 0;
}
