// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Groups whose clamps, weight and bandwidth change, and that tasks move between:
 *
 *	plain		by itself
 *	outer/a, /b	nested; outer's controller comes and goes, and their clamps with it
 *	shared/c	without a controller: its tasks are in the CPU group of shared
 *	tight		has a fraction of a CPU, and a cap
 *	brief		is made, used and removed all the time
 *	apart		has CPUs of its own now and then: a partition of the scheduling domains
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

#define ROOT		"/sys/fs/cgroup"
#define BRIEF		ROOT "/brief"
#define BRIEF_TASKS	4

/* Those that are made before and removed after, the inner ones last. */
static const char *const made[] = {
	"/plain", "/outer", "/outer/a", "/outer/b", "/shared", "/shared/c", "/tight", "/apart",
};
/* Those that may have tasks. */
static const char *const leaves[] = {
	"", "/plain", "/outer/a", "/outer/b", "/shared", "/shared/c", "/tight",
};
#define MADE	(sizeof(made) / sizeof(*made))
#define LEAVES	(sizeof(leaves) / sizeof(*leaves))

static int put_file(const char *group, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT "%s/%s", group, file);
	return put(path, text);
}

void act_move(unsigned int *state)
{
	unsigned int which = chance(state, WORKERS + STRANGERS + 1);
	pid_t pid = which < WORKERS ? workers[which] : atomic_load(&shared->forked);
	char text[16];

	if (which > WORKERS)
		pid = strangers[which - WORKERS - 1];
	/* Not this process, which 0 would be: it holds locks that all others need. */
	if (!pid)
		return;
	snprintf(text, sizeof(text), "%d", pid);
	if (!put_file(leaves[chance(state, LEAVES)], "cgroup.procs", text))
		did(MOVE);
	else if (errno != ESRCH)
		fail("move", pid);
}

/* Return: whether a clamp, the bandwidth or the weight of @group is another one now. */
static int limit(unsigned int *state, const char *group, unsigned int kinds)
{
	static const char *const files[] = {
		"cpu.uclamp.min", "cpu.uclamp.max", "cpu.max", "cpu.weight",
	};
	unsigned int which = chance(state, kinds);
	char text[32];

	if (which < 2)
		snprintf(text, sizeof(text), "%u.%02u", chance(state, 100), chance(state, 100));
	else if (which == 2 && chance(state, 2))
		snprintf(text, sizeof(text), "%u 10000", 2000 + chance(state, 20000));
	else
		snprintf(text, sizeof(text), which == 2 ? "max" : "%u", 1 + chance(state, 10000));
	return !put_file(group, files[which], text);
}

void act_limit(unsigned int *state)
{
	if (limit(state, chance(state, 2) ? "/plain" : "/shared", 4))
		did(LIMIT);
	else
		fail("limit", 0);
}

void act_group_latency(unsigned int *state)
{
	const char *group = leaves[1 + chance(state, LEAVES - 1)];
	char text[16];

	snprintf(text, sizeof(text), chance(state, 3) ? "%d" : "inherit", (int)chance(state, 40) - 20);
	/* The controller comes and goes. */
	if (!put_file(group, "cpu.latency.nice", text))
		did(LATENCY);
	else if (errno != ENOENT && errno != ENODEV && errno != EACCES)
		fail("group_latency", 0);
}

/* Clamps of the outer group bound those of the inner ones. */
void act_nest(unsigned int *state)
{
	static const char *const groups[] = { "/outer", "/outer/a", "/outer/b" };
	unsigned int which = chance(state, 3);

	if (limit(state, groups[which], 4))
		did(NEST);
	else if (!which || (errno != ENOENT && errno != ENODEV))	/* no controller just now */
		fail("nest", which);
}

/* CPU groups go away and come with all their tasks in them. */
void act_controller(unsigned int *state)
{
	if (put_file("/outer", "cgroup.subtree_control", "-cpu"))
		fail("no controller", 0);
	pause_us(chance(state, 20000));
	if (put_file("/outer", "cgroup.subtree_control", "+cpu"))
		fail("controller", 0);
	did(CONTROLLER);
}

/* Little bandwidth for capped tasks that want all. */
void act_throttle(unsigned int *state)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", 1 + chance(state, 30));
	if (put_file("/tight", "cpu.uclamp.max", text))
		fail("cap", 0);
	snprintf(text, sizeof(text), "%u 20000", 1000 + chance(state, 8000));
	if (put_file("/tight", "cpu.max", text))
		fail("bandwidth", 0);
	snprintf(text, sizeof(text), "%d", workers[WORKERS - 1 - chance(state, HOGS)]);
	if (put_file("/tight", "cgroup.procs", text))
		fail("tight", 0);
}

static void brief_task(unsigned int state)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMPS };

	attr.clamp_max = chance(&state, 512);
	attr.clamp_min = chance(&state, attr.clamp_max + 1);
	if (put(BRIEF "/cgroup.procs", "0") || set_attr(0, &attr))
		_exit(1);
	for (;;) {
		spin(chance(&state, 100000));
		pause_us(chance(&state, 20000));
	}
}

static void remove_group(const char *path)
{
	for (int left = 50; rmdir(path); left--) {
		if (errno != EBUSY || !left) {
			fail(path, left);
			break;
		}
		pause_us(10000);	/* what was killed is on its way out */
	}
}

/*
 * A group with tasks that sleep and run, which leave it or die. Then it goes away,
 * with what they have left there.
 */
void act_group(unsigned int *state)
{
	pid_t pids[BRIEF_TASKS];
	char text[32];
	int status;

	if (mkdir(BRIEF, 0755)) {
		fail("group", 0);
		return;
	}
	snprintf(text, sizeof(text), "%u", chance(state, 100));
	if (put(BRIEF "/cpu.uclamp.max", text))
		fail("group", 1);
	for (unsigned int number = 0; number < BRIEF_TASKS; number++) {
		pids[number] = child();
		if (!pids[number])
			brief_task(*state + number);
	}
	pause_us(10000 + chance(state, 30000));
	for (unsigned int number = 0; number < BRIEF_TASKS; number++) {
		snprintf(text, sizeof(text), "%d", pids[number]);
		if (number % 2 && put(ROOT "/cgroup.procs", text))
			fail("leave", number);
	}
	for (unsigned int number = 0; number < BRIEF_TASKS; number++) {
		kill(pids[number], SIGKILL);
		if (waitpid(pids[number], &status, 0) != pids[number] || WIFEXITED(status))
			fail("brief", number);
	}
	remove_group(BRIEF);
	did(GROUP);
}

void make_groups(void)
{
	char path[128];

	if (put_file("", "cgroup.subtree_control", "+cpu +cpuset"))
		fail("subtree_control", 0);
	for (unsigned int number = 0; number < MADE; number++) {
		snprintf(path, sizeof(path), ROOT "%s", made[number]);
		if (mkdir(path, 0755))
			fail(path, number);
	}
	if (put_file("/outer", "cgroup.subtree_control", "+cpu"))
		fail("subtree_control", 1);
}

/*
 * Some CPUs become a scheduling domain by themselves, with a task on them; then they do not.
 *
 * They are not isolated: in 6.12 that stops the system, without any patch. Who makes an isolated
 * partition holds cpuset_mutex and waits for kthreadd to make a kworker. kthreadd waits for
 * cgroup_threadgroup_rwsem, as every fork does. Who moves a task to another cpuset holds that,
 * and waits for cpuset_mutex in cpuset_can_attach(). In 7.3 cpuset_mutex is not held there.
 */
void act_partition(unsigned int *state)
{
	unsigned int first = chance(state, cpus), last = first + chance(state, cpus - first);
	char text[64];

	if (!take_domains())
		return;
	snprintf(text, sizeof(text), "%u-%u", first, last);
	if (put_file("/apart", "cpuset.cpus", text))
		fail("cpuset", first);
	if (put_file("/apart", "cpuset.cpus.partition", "root"))
		fail("partition", first);
	snprintf(text, sizeof(text), "%d", workers[chance(state, WORKERS)]);
	if (put_file("/apart", "cgroup.procs", text))
		fail("apart", 0);
	pause_us(chance(state, 20000));
	/* All CPUs, or one that is offline, make none. */
	if (!get(ROOT "/apart/cpuset.cpus.partition", text, sizeof(text)) && !strcmp(text, "root\n"))
		did(PARTITION);
	if (put_file("/apart", "cpuset.cpus.partition", "member"))
		fail("member", 0);
	leave_domains();
}

/* How often a group had to wait for bandwidth. */
void count_throttled(void)
{
	char path[128], text[512];
	unsigned long times;

	for (unsigned int number = 0; number < MADE; number++) {
		const char *found = NULL;

		snprintf(path, sizeof(path), ROOT "%s/cpu.stat", made[number]);
		if (!get(path, text, sizeof(text)))
			found = strstr(text, "nr_throttled ");
		if (found && sscanf(found, "nr_throttled %lu", &times) == 1)
			atomic_fetch_add(&shared->done[THROTTLE], times);
	}
}

void remove_groups(void)
{
	char path[128];

	for (unsigned int number = MADE; number--;) {
		snprintf(path, sizeof(path), ROOT "%s", made[number]);
		remove_group(path);
	}
}
