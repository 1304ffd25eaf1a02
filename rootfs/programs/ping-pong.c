// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ping-pong NAME COUNT: two threads wake each other through two pipes.
 *
 * NAME-a writes a word and waits for it to come back, NAME-b sends back what it gets, COUNT times:
 * a round trip is two wake-ups and, as nothing else is to do, two switches. Printed is how long
 * the round trips took, from before the first to after the last, by the guest's own clock.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME_SIZE	16	/* what Linux keeps of a thread's name, its NUL included */
#define MOST_TRIPS	1000000000UL

/* there[0] is read by b, back[0] by a */
static int there[2], back[2];
static unsigned long count;
static char name_b[NAME_SIZE];

static void die(const char *what, int error)
{
	fprintf(stderr, "ping-pong: %s: %s\n", what, strerror(error));
	exit(1);
}

static void take(int fd, uint32_t *word)
{
	ssize_t got = read(fd, word, sizeof(*word));

	if (got != sizeof(*word))
		die("read", got < 0 ? errno : EPIPE);
}

static void give(int fd, const uint32_t *word)
{
	ssize_t put = write(fd, word, sizeof(*word));

	if (put != sizeof(*word))
		die("write", put < 0 ? errno : EPIPE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void *answer(void *unused)
{
	uint32_t word;

	(void)unused;
	pthread_setname_np(pthread_self(), name_b);
	for (unsigned long i = 0; i < count; i++) {
		take(there[0], &word);
		give(back[1], &word);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char name_a[NAME_SIZE], *end;
	uint64_t began, ended;
	pthread_t other;
	uint32_t word;
	int error;

	if (argc != 3) {
		fprintf(stderr, "usage: ping-pong NAME COUNT\n");
		return 2;
	}
	errno = 0;
	count = strtoul(argv[2], &end, 10);
	if (errno || *end || count == 0 || count > MOST_TRIPS) {
		fprintf(stderr, "ping-pong: COUNT = '%s': allowed: 1..%lu\n", argv[2], MOST_TRIPS);
		return 2;
	}
	if (strlen(argv[1]) + strlen("-a") >= NAME_SIZE) {
		fprintf(stderr, "ping-pong: NAME = '%s': allowed: up to %zu characters\n", argv[1],
			NAME_SIZE - 1 - strlen("-a"));
		return 2;
	}
	snprintf(name_a, sizeof(name_a), "%s-a", argv[1]);
	snprintf(name_b, sizeof(name_b), "%s-b", argv[1]);

	if (pipe(there) < 0 || pipe(back) < 0)
		die("pipe", errno);
	error = pthread_create(&other, NULL, answer, NULL);
	if (error)
		die("thread", error);
	pthread_setname_np(pthread_self(), name_a);

	began = now_ns();
	for (uint32_t i = 0; i < count; i++) {
		give(there[1], &i);
		take(back[0], &word);
		if (word != i) {
			fprintf(stderr, "ping-pong: %u came back as %u\n", i, word);
			return 1;
		}
	}
	ended = now_ns();
	pthread_join(other, NULL);
	printf("%lu round trips in %llu ns\n", count, (unsigned long long)(ended - began));
	return 0;
}
