// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schbench [-m M] [-t T] [-r SECONDS] [-n OPERATIONS] [-s THINK_US] [-f FOOTPRINT_KIB]
 *
 * A stand-in for Chris Mason's schbench, written from its description: M message threads have T
 * workers each. A worker reports to its message thread and sleeps; the message thread stamps the
 * time and wakes it. The worker then sleeps for THINK_US, as if it waited for a network, and
 * multiplies matrices that take FOOTPRINT_KIB, OPERATIONS times. Wake-up latency is the time from
 * the stamp to the worker's first instruction, request latency that of thinking and work. Left out:
 * the lock per CPU, pipe and auto-rate modes.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS	256

struct samples {
	uint32_t *ns;
	size_t count, room;
};

struct worker {
	struct worker *next;		/* in the list of its message thread */
	struct messenger *messenger;
	_Atomic int sleeps;		/* futex */
	_Atomic uint64_t woken_ns;
	struct samples wakeup, request;
	uint64_t *matrix[3];
	pthread_t thread;
};

struct messenger {
	_Atomic(struct worker *) waiting;
	_Atomic int sleeps;		/* futex */
	struct worker *workers;
	pthread_t thread;
};

static long messengers = 1, per_messenger = 2, seconds = 2, operations = 5;
static long think_us = 100, footprint_kib = 256;
static size_t side;
static _Atomic bool stopping;

static void die(const char *what, int error)
{
	fprintf(stderr, "schbench: %s: %s\n", what, strerror(error));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void futex_sleep(_Atomic int *word)
{
	while (atomic_load(word) == 1)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_wake(_Atomic int *word)
{
	if (atomic_exchange(word, 0) == 1)
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void add(struct samples *samples, uint64_t ns)
{
	if (samples->count == samples->room) {
		samples->room = samples->room ? 2 * samples->room : 1024;
		samples->ns = realloc(samples->ns, samples->room * sizeof(*samples->ns));
		if (!samples->ns)
			die("samples", ENOMEM);
	}
	samples->ns[samples->count++] = ns < UINT32_MAX ? ns : UINT32_MAX;
}

static void multiply(struct worker *worker)
{
	uint64_t *a = worker->matrix[0], *b = worker->matrix[1], *c = worker->matrix[2];

	for (size_t i = 0; i < side; i++)
		for (size_t j = 0; j < side; j++) {
			uint64_t sum = 0;

			for (size_t k = 0; k < side; k++)
				sum += a[i * side + k] * b[k * side + j];
			((volatile uint64_t *)c)[i * side + j] = sum;
		}
}

/* Reports to the message thread and sleeps until that has woken it. */
static void report_and_sleep(struct worker *worker)
{
	struct messenger *messenger = worker->messenger;

	atomic_store(&worker->sleeps, 1);
	worker->next = atomic_load(&messenger->waiting);
	while (!atomic_compare_exchange_weak(&messenger->waiting, &worker->next, worker))
		;
	futex_wake(&messenger->sleeps);
	futex_sleep(&worker->sleeps);
}

static void *work(void *given)
{
	struct timespec think = { think_us / 1000000, think_us % 1000000 * 1000 };
	struct worker *worker = given;
	uint64_t began;

	for (;;) {
		report_and_sleep(worker);
		began = now_ns();
		if (atomic_load(&stopping))
			return NULL;
		add(&worker->wakeup, began - atomic_load(&worker->woken_ns));
		if (think_us)
			nanosleep(&think, NULL);
		for (long i = 0; i < operations; i++)
			multiply(worker);
		add(&worker->request, now_ns() - began);
	}
}

static void wake_all(struct messenger *messenger)
{
	struct worker *worker = atomic_exchange(&messenger->waiting, NULL);

	while (worker) {
		struct worker *next = worker->next;

		atomic_store(&worker->woken_ns, now_ns());
		futex_wake(&worker->sleeps);
		worker = next;
	}
}

static void *message(void *given)
{
	struct messenger *messenger = given;

	while (!atomic_load(&stopping)) {
		atomic_store(&messenger->sleeps, 1);
		if (!atomic_load(&messenger->waiting) && !atomic_load(&stopping))
			futex_sleep(&messenger->sleeps);
		wake_all(messenger);
	}
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *given)
{
	int error = pthread_create(thread, NULL, run, given);

	if (error)
		die("thread", error);
}

static void prepare(struct worker *worker, struct messenger *messenger)
{
	worker->messenger = messenger;
	for (size_t m = 0; m < 3; m++) {
		worker->matrix[m] = malloc(side * side * sizeof(uint64_t));
		if (!worker->matrix[m])
			die("matrix", ENOMEM);
		for (size_t i = 0; i < side * side; i++)
			worker->matrix[m][i] = i + m;
	}
}

static struct messenger *start_all(void)
{
	struct messenger *all = calloc(messengers, sizeof(*all));

	if (!all)
		die("threads", ENOMEM);
	for (long m = 0; m < messengers; m++) {
		all[m].workers = calloc(per_messenger, sizeof(*all[m].workers));
		if (!all[m].workers)
			die("threads", ENOMEM);
		start(&all[m].thread, message, &all[m]);
		for (long t = 0; t < per_messenger; t++) {
			prepare(&all[m].workers[t], &all[m]);
			start(&all[m].workers[t].thread, work, &all[m].workers[t]);
		}
	}
	return all;
}

static void end_all(struct messenger *all)
{
	atomic_store(&stopping, true);
	for (long m = 0; m < messengers; m++) {
		futex_wake(&all[m].sleeps);
		pthread_join(all[m].thread, NULL);
		for (long t = 0; t < per_messenger; t++) {
			/* One that reports after its message thread has gone is woken here. */
			while (pthread_tryjoin_np(all[m].workers[t].thread, NULL) == EBUSY) {
				wake_all(&all[m]);
				usleep(1000);
			}
		}
	}
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The smallest sample that so many thousandths of all do not exceed. */
static uint32_t percentile(const struct samples *all, size_t thousandths)
{
	size_t rank = (thousandths * all->count + 999) / 1000;

	return all->ns[rank ? rank - 1 : 0];
}

static void print(const char *name, const struct samples *all)
{
	static const size_t shown[] = { 500, 900, 950, 990, 999, 1000 };
	static const char *const labels[] = { "p50", "p90", "p95", "p99", "p99.9", "max" };

	qsort(all->ns, all->count, sizeof(*all->ns), by_value);
	printf("%s latency, us: samples %zu", name, all->count);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		uint32_t ns = percentile(all, shown[i]);

		printf(" %s %u.%03u", labels[i], ns / 1000, ns % 1000);
	}
	printf("\n");
}

static void gather(struct messenger *all, struct samples *wakeup, struct samples *request)
{
	for (long m = 0; m < messengers; m++)
		for (long t = 0; t < per_messenger; t++) {
			struct worker *worker = &all[m].workers[t];

			for (size_t i = 0; i < worker->wakeup.count; i++)
				add(wakeup, worker->wakeup.ns[i]);
			for (size_t i = 0; i < worker->request.count; i++)
				add(request, worker->request.ns[i]);
		}
}

static long number(const char *text, long least, long most, int option)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most) {
		fprintf(stderr, "schbench: -%c '%s': allowed: %ld..%ld\n", option, text, least,
			most);
		exit(2);
	}
	return value;
}

static void read_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "m:t:r:n:s:f:")) >= 0) {
		if (option == 'm')
			messengers = number(optarg, 1, MOST_THREADS, option);
		else if (option == 't')
			per_messenger = number(optarg, 1, MOST_THREADS, option);
		else if (option == 'r')
			seconds = number(optarg, 1, 3600, option);
		else if (option == 'n')
			operations = number(optarg, 0, 1000000, option);
		else if (option == 's')
			think_us = number(optarg, 0, 10000000, option);
		else if (option == 'f')
			footprint_kib = number(optarg, 1, 65536, option);
		else
			exit(2);
	}
	if (optind < argc) {
		fprintf(stderr, "schbench: '%s': allowed: -m -t -r -n -s -f\n", argv[optind]);
		exit(2);
	}
	while (3 * sizeof(uint64_t) * (side + 1) * (side + 1) <= (size_t)footprint_kib * 1024)
		side++;
}

int main(int argc, char **argv)
{
	struct samples wakeup = { 0 }, request = { 0 };
	struct messenger *all;
	uint64_t began, ended;

	read_options(argc, argv);
	all = start_all();
	began = now_ns();
	sleep(seconds);
	ended = now_ns();
	end_all(all);
	gather(all, &wakeup, &request);
	if (!wakeup.count || !request.count) {
		fprintf(stderr, "schbench: no request ended in %ld s\n", seconds);
		return 1;
	}
	print("wakeup", &wakeup);
	print("request", &request);
	printf("%zu requests in %llu ns\n", request.count, (unsigned long long)(ended - began));
	return 0;
}
