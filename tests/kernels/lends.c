// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lends CPU CLAMP HELD_MS FREE_MS: a fair task with an upper clamp always runs on CPU, and has a
 * lock for HELD_MS of every HELD_MS + FREE_MS. A SCHED_FIFO task on CPU 1 wants the lock whenever
 * it does not have it, so that the fair task inherits its priority as long as it has the lock.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "include/task.h"

static pthread_mutex_t *shared_lock(void)
{
	pthread_mutex_t *lock = mmap(NULL, sizeof(*lock), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;

	if (lock == MAP_FAILED)
		return NULL;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	errno = pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	if (!errno)
		errno = pthread_mutex_init(lock, &attr);
	return errno ? NULL : lock;
}

static int urgent(pthread_mutex_t *lock)
{
	struct sched_param param = { .sched_priority = 10 };

	if (pin(0, 1) || sched_setscheduler(0, SCHED_FIFO, &param))
		return fail("lends: urgent");
	for (;;) {
		/* By then the other task has the lock again, if it wants it. */
		usleep(1000);
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
	}
}

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMP_MAX };
	pthread_mutex_t *lock = shared_lock();

	if (argc != 5)
		return 2;
	if (!lock)
		return fail("lends: lock");
	attr.clamp_max = atoi(argv[2]);
	switch (fork()) {
	case -1:
		return fail("lends: fork");
	case 0:
		return urgent(lock);
	}
	if (pin(0, atoi(argv[1])))
		return fail("lends: affinity");
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return fail("lends: attributes");
	for (;;) {
		pthread_mutex_lock(lock);
		run_ms(atoi(argv[3]));
		pthread_mutex_unlock(lock);
		run_ms(atoi(argv[4]));
	}
}
