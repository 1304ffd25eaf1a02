// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * delayed: a task that sleeps with its dequeue pending changes its class, again and again, while
 * another one always runs on the same CPU. Prints the runqueue's util_est and the running task's.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPU		1
#define ROUNDS		40
/* The task's utilization is known as an estimate once it has slept. */
#define UNCHANGED	0x80000000u

static _Atomic int *asleep;

static void fail(const char *what)
{
	perror(what);
	kill(0, SIGKILL);
	exit(1);
}

static void burn_us(long us)
{
	struct timespec now;
	long long end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec * 1000000LL + now.tv_nsec / 1000 + us;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec * 1000000LL + now.tv_nsec / 1000 < end);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static void hog(void)
{
	pin(CPU);
	burn_us(300000);
	usleep(2000);
	for (;;)
		burn_us(1000000);
}

static void sleeper(void)
{
	pin(CPU);
	for (;;) {
		burn_us(12000);
		atomic_store(asleep, 1);
		usleep(30000);
	}
}

static pid_t spawn(void (*body)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid == 0)
		body();
	return pid;
}

static void set_class(pid_t pid, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(pid, policy, &param))
		fail("sched_setscheduler");
}

/* The first number after `key` behind `section`. */
static unsigned int figure(const char *path, const char *section, const char *key)
{
	FILE *file = fopen(path, "r");
	char line[256];
	int there = !*section;

	if (!file)
		fail(path);
	while (fgets(line, sizeof(line), file)) {
		char *colon = strrchr(line, ':');

		if (!there)
			there = !strncmp(line, section, strlen(section));
		else if (strstr(line, key) && colon) {
			fclose(file);
			return strtoul(colon + 1, NULL, 10);
		}
	}
	fprintf(stderr, "%s: no %s\n", path, key);
	kill(0, SIGKILL);
	return 0;
}

int main(void)
{
	char path[64], section[32];
	pid_t running, sleeping;

	/* Who belongs here is killed together. */
	setpgid(0, 0);
	asleep = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (asleep == MAP_FAILED)
		fail("mmap");
	pin(0);
	running = spawn(hog);
	usleep(350000);
	sleeping = spawn(sleeper);
	for (int round = 0; round < ROUNDS; round++) {
		while (!atomic_exchange(asleep, 0))
			usleep(100);
		/* It stays on its runqueue until what always runs has caught up. */
		set_class(sleeping, SCHED_FIFO, 1);
		set_class(sleeping, SCHED_OTHER, 0);
	}
	kill(sleeping, SIGKILL);
	waitpid(sleeping, NULL, 0);
	usleep(50000);
	snprintf(section, sizeof(section), "cfs_rq[%d]:/\n", CPU);
	printf("runqueue %u\n", figure("/sys/kernel/debug/sched/debug", section, ".util_est"));
	snprintf(path, sizeof(path), "/proc/%d/sched", running);
	printf("task %u\n", figure(path, "", "se.avg.util_est") & ~UNCHANGED);
	kill(running, SIGKILL);
	return 0;
}
