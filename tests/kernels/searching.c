// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * searching ROUNDS NICE [BOOST [MS]]: all CPUs but 3 always run. A task that may use the CPUs 0 to 3
 * was last on CPU 0, for MS, and waits for an event; one on CPU 1 sends it. Prints how often it woke
 * up on which of the CPUs 0 to 3. NICE is its latency_nice.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/task.h"

#define LITTLES	0xfUL
#define IDLE	3

static void burn_on(int cpu)
{
	if (pin(0, cpu) || setpriority(PRIO_PROCESS, 0, 19))
		kill(0, SIGKILL);
	for (;;)
		;
}

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_KEEP_ALL | FLAG_LATENCY_NICE };
	int found[4] = { 0 }, ready = eventfd(0, 0), event = eventfd(0, 0);
	uint64_t word = 1;
	int rounds;

	if (argc < 3 || ready < 0 || event < 0)
		return 2;
	setpgid(0, 0);
	rounds = atoi(argv[1]);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		if (cpu != IDLE && !fork())
			burn_on(cpu);
	if (!fork()) {
		if (pin(0, 1))
			kill(0, SIGKILL);
		while (read(ready, &word, sizeof(word)) > 0) {
			usleep(4000);
			if (write(event, &word, sizeof(word)) < 0)
				kill(0, SIGKILL);
		}
	}
	attr.latency_nice = atoi(argv[2]);
	if (argc > 3) {
		attr.flags |= FLAG_CLAMP_MIN;
		attr.clamp_min = atoi(argv[3]);
	}
	if (syscall(SYS_sched_setattr, 0, &attr, 0) || setpriority(PRIO_PROCESS, 0, -10))
		return fail("searching");
	for (int round = 0; round < rounds; round++) {
		if (pin(0, 0))
			return fail("searching");
		run_ms(argc > 4 ? atoi(argv[4]) : 0);
		if (write(ready, &word, sizeof(word)) < 0 || use_cpus(LITTLES) ||
		    read(event, &word, sizeof(word)) < 0)
			return fail("searching");
		found[sched_getcpu()]++;
	}
	printf("%d %d %d %d\n", found[0], found[1], found[2], found[3]);
	fflush(stdout);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	return 0;
}
