// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * preempted CPU OTHER MS: a task that never sleeps runs on CPU for 100 ms, then may use OTHER as
 * well, for MS. On both, a real-time task runs for 1 ms of each 10 ms. Prints where it is at the end.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "include/task.h"

static pid_t urgent_on(int cpu)
{
	struct sched_param param = { .sched_priority = 10 };
	pid_t pid = fork();

	if (pid)
		return pid;
	if (pin(0, cpu) || sched_setscheduler(0, SCHED_FIFO, &param))
		exit(fail("preempted: policy"));
	for (;;) {
		usleep(9000);
		run_ms(1);
	}
}

int main(int argc, char **argv)
{
	pid_t urgent[2];
	cpu_set_t both;

	if (argc != 4)
		return 2;
	if (pin(0, atoi(argv[1])))
		return fail("preempted: affinity");
	urgent[0] = urgent_on(atoi(argv[1]));
	urgent[1] = urgent_on(atoi(argv[2]));
	run_ms(100);
	CPU_ZERO(&both);
	CPU_SET(atoi(argv[1]), &both);
	CPU_SET(atoi(argv[2]), &both);
	if (sched_setaffinity(0, sizeof(both), &both))
		return fail("preempted: affinity");
	run_ms(atoi(argv[3]));
	printf("%d\n", sched_getcpu());
	for (int own = 0; own < 2; own++)
		kill(urgent[own], SIGKILL);
	return 0;
}
