// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stuck N CPU MASK MS [BUSY [YIELD [TICKS]]]: N tasks that never sleep run on CPU for 100 ms, then may use
 * the CPUs of MASK for MS. Each says where it is at nine tenths of MS and after how many microseconds it had
 * left CPU, or -1. On each CPU of BUSY a task always runs, from 400 ms before the others begin. With
 * YIELD the N tasks yield all the time. On each CPU of TICKS a task outside of the group wakes up
 * every 5 ms.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void use(unsigned long mask)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < 64; cpu++)
		if (mask & 1UL << cpu)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static void leave_group(void)
{
	int file = open("/sys/fs/cgroup/cgroup.procs", O_WRONLY);

	if (file < 0 || write(file, "0", 1) != 1) {
		perror("cgroup.procs");
		exit(1);
	}
	close(file);
}

int main(int argc, char **argv)
{
	int tasks, cpu, status, failed = 0, busy = 0, yield;
	unsigned long mask, always, ticks;
	pid_t others[64];
	long long ms;

	if (argc < 5 || argc > 8)
		return 2;
	always = argc > 5 ? strtoul(argv[5], NULL, 0) : 0;
	yield = argc > 6 && atoi(argv[6]);
	ticks = argc > 7 ? strtoul(argv[7], NULL, 0) : 0;
	tasks = atoi(argv[1]);
	cpu = atoi(argv[2]);
	mask = strtoul(argv[3], NULL, 0);
	ms = atoll(argv[4]);
	for (int on = 0; on < 64; on++) {
		if (!((always | ticks) & 1UL << on))
			continue;
		others[busy] = fork();
		if (others[busy++] == 0) {
			use(1UL << on);
			if (ticks)
				leave_group();
			for (;;)
				if (ticks)
					usleep(5000);
		}
	}
	if (busy)
		usleep(400000);
	for (int own = 0; own < tasks; own++) {
		long long freed, left = -1;
		int late = cpu;

		if (fork() != 0)
			continue;
		use(1UL << cpu);
		for (freed = now_us() + 100000; now_us() < freed;)
			;
		freed = now_us();
		use(mask);
		while (now_us() < freed + 1000 * ms) {
			if (left < 0 && sched_getcpu() != cpu)
				left = now_us() - freed;
			/* Later, one that has ended wakes its parent, which moves another. */
			if (now_us() < freed + 900 * ms)
				late = sched_getcpu();
			if (yield)
				sched_yield();
		}
		printf("%d %lld\n", late, left);
		return 0;
	}
	for (int own = 0; own < tasks; own++) {
		wait(&status);
		failed |= status;
	}
	while (busy > 0)
		kill(others[--busy], SIGKILL);
	return failed ? 1 : 0;
}
