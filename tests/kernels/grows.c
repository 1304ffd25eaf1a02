// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * grows CPU MS: a task without utilization begins to run on CPU, from which it may go anywhere, and
 * runs until it has left, for at most MS. Prints where it is then, and how often the system became
 * overutilized meanwhile.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "include/eas.h"
#include "include/task.h"

/* A small task on CPUs of mask: load balance looks at the system, and EAS places the task. */
static pid_t small(unsigned long mask)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (use_cpus(mask))
		exit(fail("grows: affinity"));
	for (;;) {
		usleep(5000);
		run_ms(1);
	}
}

/* Forks overutilize the system, and what a CPU has left: wait until EAS places tasks for a while. */
static int wait_for_eas(void)
{
	long called = feec_called(), set = counted("overutilized_set");

	for (int looks = 0; looks < 25; looks++) {
		long called_before = called, set_before = set;

		/* What the looks used has decayed. */
		usleep(300000);
		called = feec_called();
		set = counted("overutilized_set");
		if (called > called_before + 30 && set == set_before)
			return 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	pid_t other;
	long before;
	int cpu;

	if (argc != 3)
		return 2;
	cpu = atoi(argv[1]);
	other = small(0xf & ~(1UL << cpu));
	if (pin(0, cpu))
		return fail("grows: affinity");
	if (wait_for_eas())
		return fail("grows: EAS");
	before = counted("overutilized_set");
	if (use_cpus(~0UL))
		return fail("grows: affinity");
	for (int64_t end = now_us() + 1000LL * atoi(argv[2]);
	     now_us() < end && sched_getcpu() == cpu;)
		;
	printf("%d %ld\n", sched_getcpu(), counted("overutilized_set") - before);
	kill(other, SIGKILL);
	return 0;
}
