// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * latnice_race ROUNDS: two threads set the latency_nice of a task that moves between CPUs, sleeps and
 * ends, again and again, and a third that of its group. Each value that is read was set, and the last
 * one that is set is the one that stays. Prints how many were set, and how often the task ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/task.h"

#define GROUP_FILE	"/sys/fs/cgroup/group/cpu.latency.nice"
#define LIFE		40	/* rounds of a task */
/* So many tasks end at least. */
#define LIVES 20

static atomic_int target, stop;
static atomic_long done;
static int cpus;

static void broken(const char *what, long value)
{
	printf("%s: %ld: %s\n", what, value, strerror(errno));
	fflush(stdout);
	_exit(1);
}

/* Return: whether the task was there. */
static int set(pid_t pid, int nice)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_KEEP_ALL | FLAG_LATENCY_NICE };

	attr.latency_nice = nice;
	if (!syscall(SYS_sched_setattr, pid, &attr, 0))
		return 1;
	if (errno != ESRCH)
		broken("set", nice);
	return 0;
}

static int get(pid_t pid)
{
	struct attr attr;

	if (syscall(SYS_sched_getattr, pid, &attr, sizeof(attr), 0))
		broken("get", pid);
	return attr.latency_nice;
}

/* One sets even values, the other odd ones. */
static void *writer(void *argument)
{
	unsigned int state = (long)argument;

	while (!atomic_load(&stop))
		if (set(atomic_load(&target), 2 * (int)(rand_r(&state) % 20) - 20 + (int)(long)argument))
			atomic_fetch_add(&done, 1);
	return NULL;
}

static void put_group(const char *text)
{
	int fd = open(GROUP_FILE, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		broken(text, fd);
	close(fd);
}

static void *group_writer(void *unused)
{
	for (int round = 0; !atomic_load(&stop); round++) {
		put_group(round % 2 ? "-20" : "inherit");
		usleep(100);
	}
	return unused;
}

static pid_t start(void)
{
	pid_t pid = fork();

	while (!pid)
		usleep(50);
	return pid;
}

static void move(pid_t pid, unsigned int *state)
{
	pin(pid, rand_r(state) % cpus);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0, lives = 0;
	pthread_t threads[3];
	unsigned int state = 1;

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	atomic_store(&target, start());
	for (long number = 0; number < 2; number++)
		if (pthread_create(&threads[number], NULL, writer, (void *)number))
			return fail("thread");
	if (pthread_create(&threads[2], NULL, group_writer, NULL))
		return fail("thread");
	while (atomic_load(&done) < rounds || lives < LIVES) {
		pid_t old = atomic_load(&target);
		long end = atomic_load(&done) + LIFE;

		while (atomic_load(&done) < end)
			move(old, &state);
		if (get(old) < -20 || get(old) > 19)
			broken("value", get(old));
		atomic_store(&target, start());
		kill(old, SIGKILL);
		waitpid(old, NULL, 0);
		lives++;
	}
	atomic_store(&stop, 1);
	for (int number = 0; number < 3; number++)
		pthread_join(threads[number], NULL);
	for (int nice = -20; nice <= 19; nice++) {
		move(target, &state);
		if (!set(target, nice) || get(target) != nice)
			broken("stays", nice);
	}
	kill(target, SIGKILL);
	put_group("inherit");
	printf("%ld %ld\n", atomic_load(&done), lives);
	return 0;
}
