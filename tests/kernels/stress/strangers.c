// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tasks that change class: holders of locks that real-time tasks wait for, and
 * tasks that have a deadline now and then. They inherit from each other.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stress.h"

#define POLICY_DEADLINE	6
#define NS_PER_MS	1000000ull

pid_t strangers[STRANGERS];

/* Takes @lock; whoever has it is boosted if @urgent waits. */
static void take(pthread_mutex_t *lock, int urgent)
{
	if (!pthread_mutex_trylock(lock))
		return;
	if (urgent)
		did(BOOST);
	pthread_mutex_lock(lock);
}

/* A fair task of little weight and a cap, most of the time with the lock. */
static void holder(pthread_mutex_t *lock, unsigned int state)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMPS, .nice = 10 };

	attr.clamp_max = 50 + chance(&state, 200);
	if (set_attr(0, &attr))
		fail("holder", 0);
	for (;;) {
		take(lock, 0);
		spin(chance(&state, 100000));
		pause_us(chance(&state, 1000));
		spin(chance(&state, 100000));
		pthread_mutex_unlock(lock);
		spin(chance(&state, 20000));
	}
}

static void urgent(pthread_mutex_t *lock, unsigned int state)
{
	struct sched_param param = { .sched_priority = 10 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		fail("urgent", 0);
	for (;;) {
		pause_us(2000 + chance(&state, 5000));
		take(lock, 1);
		spin(chance(&state, 5000));
		pthread_mutex_unlock(lock);
	}
}

static void deadliner(unsigned int state)
{
	struct attr fair = { .size = sizeof(fair), .flags = FLAG_CLAMPS }, dl = fair;

	dl.policy = POLICY_DEADLINE;
	dl.runtime = 2 * NS_PER_MS;
	dl.deadline = dl.period = 20 * NS_PER_MS;
	for (;;) {
		pthread_mutex_t *lock = &shared->locks[chance(&state, HOLDERS)];
		int urgent;

		dl.clamp_min = chance(&state, 512);
		dl.clamp_max = dl.clamp_min + chance(&state, 512);
		/* There may be too few CPUs for it. */
		urgent = !set_attr(0, &dl);
		if (urgent)
			did(DEADLINE);
		else if (errno != EBUSY && errno != EPERM)
			fail("deadline", 0);
		for (int turn = 0; turn < 3; turn++) {
			spin(chance(&state, 50000));
			take(lock, urgent);
			spin(chance(&state, 10000));
			pthread_mutex_unlock(lock);
			pause_us(chance(&state, 8000));
		}
		fair.clamp_max = chance(&state, 1025);
		if (set_attr(0, &fair))
			fail("no deadline", 0);
		spin(chance(&state, 200000));
		pause_us(chance(&state, 5000));
	}
}

static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	errno = pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	if (!errno)
		errno = pthread_mutex_init(lock, &attr);
	if (errno) {
		perror("stress: lock");
		exit(1);
	}
}

void start_strangers(unsigned int seed)
{
	unsigned int next = 0;

	for (unsigned int number = 0; number < HOLDERS; number++)
		init_lock(&shared->locks[number]);
	for (; next < STRANGERS; next++) {
		pthread_mutex_t *lock = &shared->locks[next / 2];

		strangers[next] = child();
		if (strangers[next])
			continue;
		if (next >= 2 * HOLDERS)
			deadliner(seed + next);
		else if (next % 2)
			urgent(lock, seed + next);
		else
			holder(lock, seed + next);
	}
}
