// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay RT_APP FILE: the threads of a recording, each with its bursts of work, again and again.
 *
 * Work is done by the busy function of RT_APP, which is mapped where rt-app itself has it: an engine
 * that elides the loop in rt-app elides it here, too. FILE, whose numbers are little-endian, is
 * written by experiments/scenario/recorded.py. A thread that was woken by another one waits for as
 * many posts as it had wake-ups, so none is lost where it is late.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC		0x50525345u	/* "ESRP" */
#define RT_APP_AT	0x400000UL	/* as rootfs/elide.py has them */
#define BUSY_AT		0x402660UL
#define STACK_BYTES	65536
#define NSEC_PER_SEC	1000000000LL
#define STARTING_NS	200000LL	/* of each thread; recorded.py there has it, too */
#define MARKER		"/sys/kernel/tracing/trace_marker"

enum operation {
	UNTIL,	/* sleep until so many us after the cycle's begin */
	REST,	/* sleep for so many us */
	WAIT,	/* until another thread posts */
	RUN,	/* so many iterations of the busy loop */
	POST,	/* wake this thread */
};

struct head {
	uint32_t magic, threads, steps, pad;
	uint64_t length_us;	/* of a cycle */
	uint64_t start_us;	/* where in it the first one begins */
};

struct thread {
	char name[16];
	int32_t policy, priority, util_min, util_max;	/* priority: nice where the policy has it */
	uint64_t cpus;		/* mask; 0: all */
	uint32_t first, steps;	/* its steps */
	uint32_t start;		/* the step with which it begins */
	uint32_t posted;	/* posts that it has from the begin */
};

/* sched_setattr(2), version 1 */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

#define UTIL_FLAGS(thread) (((thread)->util_min >= 0 ? 0x20 : 0) | \
			    ((thread)->util_max >= 0 ? 0x40 : 0))

static const struct head *head;
static const struct thread *threads;
static const uint64_t *steps;	/* the operation in the upper 8 bits */
static sem_t *posts;
static int64_t base_ns;	/* of the first cycle; may lie before the machine started */
static void (*const busy)(unsigned long) = (void (*)(unsigned long))BUSY_AT;

static void die(const char *what)
{
	fprintf(stderr, "replay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static const void *mapped(const char *path, void *at, int access, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *data;

	if (fd < 0 || fstat(fd, &status) < 0)
		die(path);
	data = mmap(at, status.st_size, access, MAP_PRIVATE | MAP_POPULATE |
		    (at ? MAP_FIXED_NOREPLACE : 0), fd, 0);
	if (data == MAP_FAILED)
		die(path);
	close(fd);
	*size = status.st_size;
	return data;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec until = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	if (ns <= 0)
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void become(const struct thread *thread)
{
	bool fair = thread->policy == 0 || thread->policy == 3 || thread->policy == 5;
	struct attributes attributes = {
		.size = sizeof(attributes),
		.policy = thread->policy,
		.flags = UTIL_FLAGS(thread),
		.nice = fair ? thread->priority : 0,
		.priority = fair ? 0 : thread->priority,
		.util_min = thread->util_min,
		.util_max = thread->util_max,
	};

	prctl(PR_SET_NAME, thread->name);
	if (thread->cpus && syscall(SYS_sched_setaffinity, 0, sizeof(thread->cpus),
				    &thread->cpus) < 0)
		die("affinity");
	if (syscall(SYS_sched_setattr, 0, &attributes, 0) < 0)
		die("policy");
}

static void *live(void *of)
{
	const struct thread *thread = of;
	const uint64_t *mine = steps + thread->first;
	int64_t cycle_ns = base_ns;
	uint32_t at = thread->start;

	become(thread);
	for (;; at++) {
		uint64_t value;

		if (at == thread->steps) {
			at = 0;
			cycle_ns += head->length_us * 1000;
		}
		value = mine[at] & ~(0xffULL << 56);
		switch ((enum operation)(mine[at] >> 56)) {
		case UNTIL:
			sleep_until(cycle_ns + value * 1000);
			break;
		case REST:
			sleep_until(now_ns() + value * 1000);
			break;
		case WAIT:
			while (sem_wait(&posts[thread - threads]) < 0)
				;
			break;
		case RUN:
			busy(value);
			break;
		case POST:
			sem_post(&posts[value]);
			break;
		}
	}
	return NULL;
}

static void leave(int number)
{
	(void)number;
	_exit(0);
}

/* A marker at each begin of a cycle: who reads the trace finds the recording's time by it. */
static void mark(void)
{
	for (int64_t begin = base_ns;; begin += head->length_us * 1000) {
		static const char line[] = "eascope: recording begins\n";
		int fd;

		if (begin < now_ns())
			continue;
		sleep_until(begin);
		fd = open(MARKER, O_WRONLY);
		/* Nobody traces: then nobody reads it. */
		if (fd >= 0 && write(fd, line, sizeof(line) - 1) < 0)
			errno = 0;
		if (fd >= 0)
			close(fd);
	}
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	const char *file;
	size_t size;

	if (argc != 3) {
		fprintf(stderr, "usage: replay RT_APP FILE\n");
		return 2;
	}
	mapped(argv[1], (void *)RT_APP_AT, PROT_READ | PROT_EXEC, &size);
	file = mapped(argv[2], NULL, PROT_READ, &size);
	head = (const void *)file;
	if (size < sizeof(*head) || head->magic != MAGIC ||
	    size != sizeof(*head) + head->threads * sizeof(*threads) + 8UL * head->steps) {
		fprintf(stderr, "replay: %s: no bursts\n", argv[2]);
		return 2;
	}
	threads = (const void *)(file + sizeof(*head));
	steps = (const void *)(threads + head->threads);
	posts = calloc(head->threads, sizeof(*posts));
	signal(SIGINT, leave);
	signal(SIGTERM, leave);
	/* Wake-ups were recorded with their slack. */
	prctl(PR_SET_TIMERSLACK, 1);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (uint32_t i = 0; i < head->threads; i++)
		sem_init(&posts[i], 0, threads[i].posted);
	base_ns = now_ns() + head->threads * STARTING_NS - (int64_t)head->start_us * 1000;
	for (uint32_t i = 0; i < head->threads; i++) {
		pthread_t thread;

		errno = pthread_create(&thread, &attributes, live, (void *)&threads[i]);
		if (errno)
			die("thread");
	}
	mark();
	return 0;
}
