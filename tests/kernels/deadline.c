// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deadline ROUNDS: a deadline task reserves 6 of 10.1 ms on CPU 4 and uses 5 of them, so it sleeps
 * while its reservation is still in force. A task that never sleeps goes there ROUNDS times, and is
 * then free to use CPU 0 as well.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPU		4
#define USED_US		5000
#define RUNTIME_NS	6000000
/* Not a multiple of the tick: ticks come at every phase of it. */
#define PERIOD_NS	10100000

struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void burn(long long us)
{
	long long end = now_us() + us;

	while (now_us() < end)
		;
}

static void use(unsigned long mask)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < 64; cpu++)
		if (mask & 1UL << cpu)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static void reserve(void)
{
	struct attributes wanted = {
		.size = sizeof(wanted), .policy = 6 /* SCHED_DEADLINE */,
		.runtime = RUNTIME_NS, .deadline = PERIOD_NS, .period = PERIOD_NS,
	};
	struct timespec next;

	use(1UL << CPU);
	burn(1000);
	/* It is admitted only if it may use every CPU. */
	use(~0UL);
	if (syscall(SYS_sched_setattr, 0, &wanted, 0))
		fail("sched_setattr");
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		burn(USED_US);
		next.tv_nsec += PERIOD_NS;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, status;
	pid_t pid = fork();

	if (pid == 0)
		reserve();
	burn(20000);
	while (rounds--) {
		use(1UL << CPU);
		burn(1000);
		use(1UL << CPU | 1);
		burn(8000);
	}
	if (waitpid(pid, &status, WNOHANG) == pid)
		return 1;
	kill(pid, SIGKILL);
	return 0;
}
