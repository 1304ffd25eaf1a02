// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stress MILLISECONDS[xTURNS] SEED: everything that moves tasks or changes what they may have,
 * at once.
 *
 * Tasks wake each other, sleep, always run, fork, execute, hold locks that more urgent ones wait
 * for, have deadlines. Meanwhile threads change their clamps, policies and CPUs, move them between
 * groups whose clamps, bandwidth and controllers change as well, and take CPUs offline and back.
 *
 * Says how often each was done, one "NAME COUNT" per line; exits with 1 when one never was, or
 * failed in a way that no race explains.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

/* How often as long it goes on for what has not been done yet, unless TURNS says so. */
#define TURNS		40

#define OP_NAME(number, name)	name,
static const char *const names[OPS] = { OPERATIONS(OP_NAME) };

static struct thief {
	void (*act)(unsigned int *state);
	unsigned int pause_us;
	pthread_t thread;
	unsigned int state;
} thieves[] = {
	{ act_clamp, 1000, 0, 0 }, { act_clamp, 3000, 0, 0 },
	{ act_affinity, 1500, 0, 0 }, { act_affinity, 3000, 0, 0 },
	{ act_policy, 3000, 0, 0 }, { act_background, 5000, 0, 0 },
	{ act_move, 2000, 0, 0 }, { act_limit, 6000, 0, 0 }, { act_nest, 6000, 0, 0 },
	{ act_controller, 60000, 0, 0 }, { act_group, 5000, 0, 0 },
	{ act_partition, 20000, 0, 0 },
	{ act_throttle, 30000, 0, 0 },
	{ act_hotplug, 60000, 0, 0 }, { act_system, 50000, 0, 0 }, { act_bounds, 2000, 0, 0 },
	{ act_latency, 2000, 0, 0 }, { act_group_latency, 5000, 0, 0 },
	{ act_level, 10000, 0, 0 },
};
#define THIEVES	(sizeof(thieves) / sizeof(*thieves))

static void *steal(void *data)
{
	struct thief *self = data;

	while (!atomic_load(&shared->stop)) {
		self->act(&self->state);
		pause_us(1 + chance(&self->state, self->pause_us));
	}
	return NULL;
}

static int is_left_out(const struct thief *thief)
{
	if (thief->act == act_latency || thief->act == act_group_latency)
		return shared->left_out[LATENCY];
	return thief->act == act_level && shared->left_out[LEVEL];
}

static void start_thieves(unsigned int seed)
{
	for (unsigned int number = 0; number < THIEVES; number++) {
		if (is_left_out(&thieves[number]))
			continue;
		thieves[number].state = seed * 31 + number;
		errno = pthread_create(&thieves[number].thread, NULL, steal, &thieves[number]);
		if (errno) {
			perror("stress: thread");
			exit(1);
		}
	}
}

/* But for what is counted in the end. */
static int all_done(void)
{
	for (int op = 0; op < OPS; op++)
		if (op != THROTTLE && !shared->left_out[op] && !atomic_load(&shared->done[op]))
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	int ms = 0, turns = TURNS;
	unsigned int seed;
	pid_t storm;

	if (argc == 2 && !strcmp(argv[1], "executed"))
		return be_executed();
	seed = argc < 3 ? 0 : strtoul(argv[2], NULL, 0);
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("stress: mmap");
		return 1;
	}
	if (argc != 3 || sscanf(argv[1], "%dx%d", &ms, &turns) < 1 || ms <= 0) {
		fprintf(stderr, "usage: stress MILLISECONDS[xTURNS] SEED\n");
		return 2;
	}
	shared->left_out[LATENCY] = !has_latency_nice();
	shared->left_out[LEVEL] = access(POWER_SAVINGS, F_OK) != 0;
	make_groups();
	/* The least clamp that the system allows is its greatest by default: lower it first. */
	if (put("/proc/sys/kernel/sched_util_clamp_min", "512"))
		fail("sched_util_clamp_min", 0);
	storm = start_workers(seed);
	start_strangers(seed);
	/* All wait for who holds a group's lock, so those that change groups come first. */
	if (setpriority(PRIO_PROCESS, 0, -20))
		fail("priority", 0);
	start_thieves(seed);

	for (int turn = 0; turn < turns && (!turn || !all_done()); turn++)
		pause_us(1000 * (unsigned int)ms);

	atomic_store(&shared->stop, 1);
	for (unsigned int number = 0; number < THIEVES; number++)
		if (!is_left_out(&thieves[number]))
			pthread_join(thieves[number].thread, NULL);
	kill(storm, SIGKILL);
	for (unsigned int number = 0; number < WORKERS; number++)
		kill(workers[number], SIGKILL);
	for (unsigned int number = 0; number < STRANGERS; number++)
		kill(strangers[number], SIGKILL);
	while (wait(NULL) > 0)
		;
	count_throttled();
	remove_groups();

	for (int op = 0; op < OPS; op++) {
		unsigned long done = atomic_load(&shared->done[op]);

		if (shared->left_out[op])
			continue;
		printf("%s %lu\n", names[op], done);
		if (!done) {
			fprintf(stderr, "stress: %s: never done\n", names[op]);
			atomic_store(&shared->failed, 1);
		}
	}
	return atomic_load(&shared->failed);
}
