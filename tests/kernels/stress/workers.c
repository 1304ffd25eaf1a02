// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks whose attributes others change: pairs, sleepers, hogs, and a storm of forks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

/* The exit status of what was executed. */
#define EXECUTED	42

pid_t workers[WORKERS];

static void pair(int in, int out, unsigned int state, int first)
{
	char byte = 0;

	if (first && write(out, &byte, 1) != 1)
		_exit(1);
	while (read(in, &byte, 1) == 1) {
		spin(chance(&state, 20000));
		did(WAKEUP);
		if (write(out, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void sleeper(unsigned int state)
{
	for (;;) {
		spin(chance(&state, 400000));
		pause_us(chance(&state, 8000));
	}
}

static void *execute(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", "stress", "executed", NULL);
	_exit(1);
}

int be_executed(void)
{
	spin(20000);
	return EXECUTED;
}

static void stormy(unsigned int state, unsigned int number)
{
	pthread_t thread;

	spin(chance(&state, 50000) + 1000 * number);
	if (number > 1)
		_exit(0);
	/* Half of them by a thread, which becomes the process. */
	if (number && !pthread_create(&thread, NULL, execute, NULL))
		pthread_join(thread, NULL);
	execute(NULL);
}

static void storm(unsigned int state)
{
	int status;

	for (;;) {
		for (unsigned int number = 0; number < 12; number++) {
			pid_t pid = fork();

			if (!pid)
				stormy(state, number);
			if (pid < 0) {
				fail("fork", number);
				_exit(1);
			}
			atomic_store(&shared->forked, pid);
			did(FORK);
		}
		while (wait(&status) > 0)
			if (WIFEXITED(status) && WEXITSTATUS(status) == EXECUTED)
				did(EXEC);
		pause_us(chance(&state, 30000));
	}
}

/* Return: the storm, which is nobody's victim but for its children. */
pid_t start_workers(unsigned int seed)
{
	unsigned int next = 0;
	pid_t pid;

	for (unsigned int number = 0; number < PAIRS; number++) {
		int there[2], back[2];

		if (pipe(there) || pipe(back)) {
			perror("stress: pipe");
			exit(1);
		}
		for (int first = 0; first < 2; first++, next++) {
			workers[next] = child();
			if (!workers[next])
				pair(first ? back[0] : there[0], first ? there[1] : back[1],
				     seed + next, first);
		}
	}
	for (; next < WORKERS; next++) {
		workers[next] = child();
		if (!workers[next] && next < 2 * PAIRS + SLEEPERS)
			sleeper(seed + next);
		while (!workers[next])
			spin(1000000);
	}
	pid = child();
	if (!pid)
		storm(seed);
	return pid;
}
