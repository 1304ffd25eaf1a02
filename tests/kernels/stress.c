// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stress MILLISECONDS SEED: everything that moves tasks or changes what they may have, at once.
 *
 * Workers: pairs that wake each other over pipes, tasks that always run, tasks that work now and
 * then, and a storm of forks. Meanwhile threads change their clamps, policies and CPUs, move them
 * between groups whose clamps and bandwidth change as well, and take CPUs offline and back.
 *
 * Says how often each was done, one "NAME COUNT" per line; exits with 1 when one never was, or
 * failed in a way that no race explains.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FLAG_KEEP_POLICY	0x08
#define FLAG_KEEP_PARAMS	0x10
#define FLAG_CLAMPS		0x60
#define NO_CLAMP		UINT32_MAX

#define PAIRS		6
#define HOGS		4
#define SLEEPERS	6
#define GROUPS		3
#define WORKERS		(2 * PAIRS + HOGS + SLEEPERS)
#define GROUP		"/sys/fs/cgroup/stress%u"
#define CPU_ONLINE	"/sys/devices/system/cpu/cpu%u/online"

/* As the kernel has it; the C library's headers may be older. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t clamp_min, clamp_max;
};

enum { CLAMP, POLICY, AFFINITY, MOVE, LIMIT, HOTPLUG, SYSTEM, FORK, WAKEUP, OPS };
static const char *const names[OPS] = {
	"clamp", "policy", "affinity", "move", "limit", "hotplug", "system", "fork", "wakeup",
};

static struct {
	atomic_int stop, failed;
	atomic_int forked;		/* one child of the storm, or 0 */
	atomic_ulong done[OPS];
} *shared;

static pid_t workers[WORKERS];		/* pairs, then those that sleep, then those that do not */
static unsigned int cpus;

struct thief {
	pthread_t thread;
	unsigned int state;
	void (*act)(unsigned int *state);
	unsigned int pause_us;
};

static void fail(const char *what, long which)
{
	fprintf(stderr, "stress: %s %ld: %s\n", what, which, strerror(errno));
	atomic_store(&shared->failed, 1);
}

static unsigned int chance(unsigned int *state, unsigned int below)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % below;
}

static void pause_us(unsigned int us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

static int put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY), done = -1;

	if (file >= 0) {
		done = write(file, text, strlen(text)) < 0 ? -1 : 0;
		close(file);
	}
	return done;
}

static pid_t victim(unsigned int *state)
{
	unsigned int which = chance(state, WORKERS + 2);

	if (which == WORKERS)
		return atomic_load(&shared->forked);	/* 0 is the caller */
	return which > WORKERS ? 0 : workers[which];
}

static void set(pid_t pid, const struct attr *attr, int op)
{
	/*
	 * What a request keeps is read before the task is locked. If another thread turns an RT
	 * task into a fair one meanwhile, or back, priority and policy do not match: try again.
	 */
	for (int left = 10; syscall(SYS_sched_setattr, pid, attr, 0); left--) {
		if (errno == EINVAL && left && attr->flags & FLAG_KEEP_PARAMS)
			continue;
		if (errno != ESRCH)
			fail(names[op], pid);
		return;
	}
	atomic_fetch_add(&shared->done[op], 1);
}

static void act_clamp(unsigned int *state)
{
	struct attr attr = { .size = sizeof(attr), .clamp_min = NO_CLAMP, .clamp_max = NO_CLAMP };

	attr.flags = FLAG_KEEP_POLICY | FLAG_KEEP_PARAMS | FLAG_CLAMPS;
	if (chance(state, 3)) {
		attr.clamp_max = chance(state, 1025);
		attr.clamp_min = chance(state, 2) ? 0 : chance(state, attr.clamp_max + 1);
	}
	set(victim(state), &attr, CLAMP);
}

static void act_policy(unsigned int *state)
{
	struct attr attr = { .size = sizeof(attr) };
	unsigned int which = chance(state, WORKERS);

	attr.policy = (unsigned int[]){ SCHED_OTHER, SCHED_BATCH, SCHED_IDLE }[chance(state, 3)];
	attr.nice = (int)chance(state, 40) - 20;
	/* Tasks that always run would leave nothing to the others. */
	if (which >= 2 * PAIRS && which < 2 * PAIRS + SLEEPERS && chance(state, 2)) {
		attr.policy = chance(state, 2) ? SCHED_FIFO : SCHED_RR;
		attr.priority = 1 + chance(state, 5);
		attr.nice = 0;
	}
	set(workers[which], &attr, POLICY);
}

static void act_affinity(unsigned int *state)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		if (chance(state, 2))
			CPU_SET(cpu, &set);
	CPU_SET(chance(state, cpus), &set);
	if (!chance(state, 4)) {
		CPU_ZERO(&set);
		CPU_SET(chance(state, cpus), &set);
	}
	if (!sched_setaffinity(victim(state), sizeof(set), &set))
		atomic_fetch_add(&shared->done[AFFINITY], 1);
	else if (errno != ESRCH && errno != EINVAL)	/* EINVAL: none of them is online */
		fail("affinity", 0);
}

static void act_move(unsigned int *state)
{
	char path[64], text[16];
	pid_t pid = victim(state);
	unsigned int group = chance(state, GROUPS + 1);

	if (group < GROUPS)
		snprintf(path, sizeof(path), GROUP "/cgroup.procs", group);
	else
		strcpy(path, "/sys/fs/cgroup/cgroup.procs");
	snprintf(text, sizeof(text), "%d", pid);
	if (!put(path, text))
		atomic_fetch_add(&shared->done[MOVE], 1);
	else if (errno != ESRCH)
		fail("move", pid);
}

static void act_limit(unsigned int *state)
{
	static const char *const files[] = { "uclamp.min", "uclamp.max", "max", "weight" };
	unsigned int which = chance(state, 4);
	char path[64], text[32];

	snprintf(path, sizeof(path), GROUP "/cpu.%s", chance(state, GROUPS), files[which]);
	if (which < 2)
		snprintf(text, sizeof(text), "%u.%02u", chance(state, 100), chance(state, 100));
	else if (which == 2 && chance(state, 2))
		snprintf(text, sizeof(text), "%u 10000", 2000 + chance(state, 20000));
	else
		snprintf(text, sizeof(text), which == 2 ? "max" : "%u", 1 + chance(state, 10000));
	if (!put(path, text))
		atomic_fetch_add(&shared->done[LIMIT], 1);
	else
		fail(path, which);
}

static void act_hotplug(unsigned int *state)
{
	unsigned int cpu = 1 + chance(state, cpus - 1);
	char path[64];

	snprintf(path, sizeof(path), CPU_ONLINE, cpu);
	if (put(path, "0")) {
		fail("offline", cpu);
		return;
	}
	pause_us(chance(state, 20000));
	if (put(path, "1"))
		fail("online", cpu);
	atomic_fetch_add(&shared->done[HOTPLUG], 1);
}

/* The system's limits: the lower one is not above the upper one, or the write fails. */
static void act_bounds(unsigned int *state)
{
	static const char *const file = "/proc/sys/kernel/sched_util_clamp_%s";
	unsigned int upper = 512 + chance(state, 513), which = chance(state, 2);
	char path[64], text[16];

	snprintf(path, sizeof(path), file, which ? "min" : "max");
	snprintf(text, sizeof(text), "%u", which ? chance(state, 513) : upper);
	if (!put(path, text))
		atomic_fetch_add(&shared->done[SYSTEM], 1);
	else
		fail(path, which);
}

static void act_system(unsigned int *state)
{
	static const char *const files[] = { "util_clamp_min_rt_default", "energy_aware" };
	unsigned int which = chance(state, 4);
	char path[64], text[16];

	if (which >= 2) {
		act_bounds(state);
		return;
	}
	snprintf(path, sizeof(path), "/proc/sys/kernel/sched_%s", files[which]);
	snprintf(text, sizeof(text), "%u", which ? chance(state, 2) : 512 + chance(state, 513));
	if (!put(path, text))
		atomic_fetch_add(&shared->done[SYSTEM], 1);
	else if (errno != EOPNOTSUPP)	/* no EAS while a whole cluster is offline */
		fail(path, 0);
}

static void *thief(void *data)
{
	struct thief *self = data;

	while (!atomic_load(&shared->stop)) {
		self->act(&self->state);
		pause_us(1 + chance(&self->state, self->pause_us));
	}
	return NULL;
}

static void spin(unsigned int turns)
{
	for (volatile unsigned int turn = 0; turn < turns; turn++)
		;
}

static void pair(int in, int out, unsigned int state, int first)
{
	char byte = 0;

	if (first && write(out, &byte, 1) != 1)
		_exit(1);
	while (read(in, &byte, 1) == 1) {
		spin(chance(&state, 20000));
		atomic_fetch_add(&shared->done[WAKEUP], 1);
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

static void storm(unsigned int state)
{
	for (;;) {
		for (unsigned int child = 0; child < 12; child++) {
			pid_t pid = fork();

			if (!pid) {
				spin(chance(&state, 50000) + 1000 * child);
				_exit(0);
			}
			if (pid < 0) {
				fail("fork", child);
				_exit(1);
			}
			atomic_store(&shared->forked, pid);
			atomic_fetch_add(&shared->done[FORK], 1);
		}
		while (wait(NULL) > 0)
			;
		pause_us(chance(&state, 30000));
	}
}

/* A child that dies with this process. */
static pid_t child(void)
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

static pid_t start(unsigned int seed)
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

static void groups(int make)
{
	char path[64];

	if (make && put("/sys/fs/cgroup/cgroup.subtree_control", "+cpu"))
		fail("subtree_control", 0);
	for (unsigned int group = 0; group < GROUPS; group++) {
		snprintf(path, sizeof(path), GROUP, group);
		for (int left = 50; make ? mkdir(path, 0755) : rmdir(path); left--) {
			if (make || errno != EBUSY || !left) {
				fail(path, make);
				break;
			}
			pause_us(10000);	/* what was killed is on its way out */
		}
	}
}

int main(int argc, char **argv)
{
	static struct thief thieves[] = {
		{ .act = act_clamp, .pause_us = 1000 }, { .act = act_clamp, .pause_us = 3000 },
		{ .act = act_affinity, .pause_us = 1500 }, { .act = act_affinity, .pause_us = 3000 },
		{ .act = act_policy, .pause_us = 3000 }, { .act = act_move, .pause_us = 3000 },
		{ .act = act_limit, .pause_us = 6000 }, { .act = act_hotplug, .pause_us = 60000 },
		{ .act = act_system, .pause_us = 50000 },
	};
	const unsigned int count = sizeof(thieves) / sizeof(*thieves);
	unsigned int seed;
	pid_t stormy;

	if (argc != 3 || atoi(argv[1]) <= 0) {
		fprintf(stderr, "usage: stress MILLISECONDS SEED\n");
		return 2;
	}
	seed = strtoul(argv[2], NULL, 0);
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("stress: mmap");
		return 1;
	}
	groups(1);
	/* The least clamp that the system allows is its greatest by default: lower it first. */
	if (put("/proc/sys/kernel/sched_util_clamp_min", "512"))
		fail("sched_util_clamp_min", 0);
	stormy = start(seed);
	for (unsigned int number = 0; number < count; number++) {
		thieves[number].state = seed * 31 + number;
		errno = pthread_create(&thieves[number].thread, NULL, thief, &thieves[number]);
		if (errno) {
			perror("stress: thread");
			return 1;
		}
	}

	pause_us(1000 * (unsigned int)atoi(argv[1]));

	atomic_store(&shared->stop, 1);
	for (unsigned int number = 0; number < count; number++)
		pthread_join(thieves[number].thread, NULL);
	kill(stormy, SIGKILL);
	for (unsigned int number = 0; number < WORKERS; number++)
		kill(workers[number], SIGKILL);
	while (wait(NULL) > 0)
		;
	/* This process was a victim, too. */
	if (put("/sys/fs/cgroup/cgroup.procs", "0"))
		fail("move", 0);
	groups(0);

	for (int op = 0; op < OPS; op++) {
		unsigned long done = atomic_load(&shared->done[op]);

		printf("%s %lu\n", names[op], done);
		if (!done) {
			fprintf(stderr, "stress: %s: never done\n", names[op]);
			atomic_store(&shared->failed, 1);
		}
	}
	return atomic_load(&shared->failed);
}
