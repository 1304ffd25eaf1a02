// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * levels WRITERS ROUNDS: so many threads write values to the switches of load balance between
 * clusters, valid ones and others, while as many tasks as CPUs run. Each write of another value is
 * EINVAL, and no other fails. Prints how many were valid.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/task.h"

#define FILES	"/sys/kernel/debug/sched/eascope/sched_"

static const struct {
	const char *path;
	int most;
} files[] = {
	{ FILES "mc_power_savings", 2 }, { FILES "mc_keep_misfit", 1 }, { FILES "asym_packing", 1 },
};
static atomic_int valid, failed;
static int rounds;

static int put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY), error = 0;

	if (file < 0 || write(file, text, strlen(text)) < 0)
		error = errno;
	if (file >= 0)
		close(file);
	return error;
}

static void *writer(void *argument)
{
	static const char *const values[] = { "0", "1", "2", "3", "-1", "x" };
	unsigned int state = (long)argument;

	for (int round = 0; round < rounds; round++) {
		int which = rand_r(&state) % 3, value = rand_r(&state) % 6;
		int error = put(files[which].path, values[value]);

		if (error != (value > files[which].most ? EINVAL : 0)) {
			printf("%s: %s: %s\n", files[which].path, values[value], strerror(error));
			atomic_store(&failed, 1);
		}
		atomic_fetch_add(&valid, !error);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), count = argc == 3 ? atol(argv[1]) : 0;
	pthread_t threads[64];
	pid_t tasks[64];

	if (count < 1 || count > 64 || cpus > 64)
		return 2;
	rounds = atoi(argv[2]);
	for (long task = 0; task < cpus; task++) {
		tasks[task] = fork();
		while (!tasks[task])
			run_ms(1);
	}
	for (long number = 0; number < count; number++)
		if (pthread_create(&threads[number], NULL, writer, (void *)number))
			return fail("thread");
	for (long number = 0; number < count; number++)
		pthread_join(threads[number], NULL);
	while (cpus > 0)
		kill(tasks[--cpus], SIGKILL);
	printf("%d\n", atomic_load(&valid));
	return atomic_load(&failed);
}
