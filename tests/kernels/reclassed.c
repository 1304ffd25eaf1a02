// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reclassed [-C CPU] [-g PROCS] CPU CLAMP RUN_MS SLEEP_MS: a child with an upper clamp runs on CPU
 * for RUN_MS, becomes SCHED_FIFO and sleeps for good. SLEEP_MS later it wakes for a moment on the
 * CPU of -C, or goes to the group whose cgroup.procs is PROCS, asleep. Then it is made SCHED_OTHER,
 * and sleeps on.
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

#define FLAG_CLAMP_MAX	0x40

/* As the kernel has it; the C library's headers may be older. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t clamp_min, clamp_max;
};

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static void woken(int number)
{
	(void)number;
}

static int pin(pid_t pid, const char *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(atoi(cpu), &set);
	return sched_setaffinity(pid, sizeof(set), &set);
}

static int child(char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MAX };
	struct sched_param param = { .sched_priority = 10 };
	int64_t end = now_ms() + atoi(argv[2]);

	attr.clamp_max = atoi(argv[1]);
	signal(SIGUSR1, woken);
	if (pin(0, argv[0]))
		return fail("reclassed: affinity");
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("reclassed: attributes");
	while (now_ms() < end)
		;
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		return fail("reclassed: SCHED_FIFO");
	for (;;)
		pause();
}

static int wake(pid_t pid)
{
	if (kill(pid, SIGUSR1))
		return -1;
	return usleep(2000);
}

static int join(pid_t pid, const char *procs)
{
	FILE *file = fopen(procs, "w");

	if (!file)
		return -1;
	fprintf(file, "%d", pid);
	return fclose(file);
}

int main(int argc, char **argv)
{
	const char *cpu = NULL, *procs = NULL;
	struct sched_param other = { 0 };
	int option;
	pid_t pid;

	while ((option = getopt(argc, argv, "C:g:")) != -1) {
		if (option == 'C')
			cpu = optarg;
		else if (option == 'g')
			procs = optarg;
		else
			return 2;
	}
	argv += optind;
	if (argc - optind != 4)
		return 2;
	pid = fork();
	if (pid < 0)
		return fail("reclassed: fork");
	if (!pid)
		return child(argv);
	usleep((atoi(argv[2]) + atoi(argv[3])) * 1000);
	if (cpu && (pin(pid, cpu) || wake(pid)))
		return fail("reclassed: another CPU");
	if (procs && join(pid, procs))
		return fail("reclassed: another group");
	if (sched_setscheduler(pid, SCHED_OTHER, &other))
		return fail("reclassed: SCHED_OTHER");
	return waitpid(pid, NULL, 0) < 0;
}
