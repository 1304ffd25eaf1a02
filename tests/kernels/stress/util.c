// SPDX-License-Identifier: GPL-2.0-or-later
/* What all of it needs: files, attributes, chance. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

struct shared *shared;
unsigned int cpus;

void did(enum op op)
{
	atomic_fetch_add(&shared->done[op], 1);
}

void fail(const char *what, long which)
{
	fprintf(stderr, "stress: %s %ld: %s\n", what, which, strerror(errno));
	atomic_store(&shared->failed, 1);
}

unsigned int chance(unsigned int *state, unsigned int below)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % below;
}

void pause_us(unsigned int us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

/*
 * A CPU goes offline, or is of a partition, but not both: when a CPU of a partition goes offline,
 * 6.12 may warn in update_parent_effective_cpumask(), without any patch.
 */
bool take_domains(void)
{
	while (atomic_exchange(&shared->domains_taken, true)) {
		if (atomic_load(&shared->stop))
			return false;
		pause_us(500);
	}
	return true;
}

void leave_domains(void)
{
	atomic_store(&shared->domains_taken, false);
}

void spin(unsigned int turns)
{
	for (volatile unsigned int turn = 0; turn < turns; turn++)
		;
}

int put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY), done = -1, error;

	if (file >= 0) {
		done = write(file, text, strlen(text)) < 0 ? -1 : 0;
		error = errno;
		close(file);
		errno = error;
	}
	return done;
}

int get(const char *path, char *text, unsigned int size)
{
	int file = open(path, O_RDONLY);
	ssize_t length = -1;

	if (file >= 0) {
		length = read(file, text, size - 1);
		close(file);
	}
	text[length < 0 ? 0 : length] = 0;
	return length < 0 ? -1 : 0;
}

bool has_latency_nice(void)
{
	struct attr attr;

	return !syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) && attr.size == sizeof(attr);
}

/* Return: 0, else -1 and errno. */
int set_attr(pid_t pid, const struct attr *attr)
{
	/*
	 * What a request keeps is read before the task is locked. If another thread turns an RT
	 * task into a fair one meanwhile, or back, priority and policy do not match: try again.
	 */
	for (int left = 10; syscall(SYS_sched_setattr, pid, attr, 0); left--)
		if (errno != EINVAL || !left || !(attr->flags & FLAG_KEEP_PARAMS))
			return -1;
	return 0;
}

/* A child that dies with its parent. */
pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("stress: fork");
		exit(1);
	}
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}
