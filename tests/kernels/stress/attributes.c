// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of what a task requests and where it may run, and of the machine. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "stress.h"

#define CPU_ONLINE	"/sys/devices/system/cpu/cpu%u/online"

/* Any task but strangers; 0 is the caller. */
static pid_t victim(unsigned int *state)
{
	unsigned int which = chance(state, WORKERS + 2);

	if (which == WORKERS)
		return atomic_load(&shared->forked);
	return which > WORKERS ? 0 : workers[which];
}

static void set(pid_t pid, const struct attr *attr, enum op op, const char *what)
{
	if (!set_attr(pid, attr))
		did(op);
	else if (errno != ESRCH)
		fail(what, pid);
}

void act_clamp(unsigned int *state)
{
	struct attr attr = { .size = sizeof(attr), .clamp_min = NO_CLAMP, .clamp_max = NO_CLAMP };

	attr.flags = FLAG_KEEP_POLICY | FLAG_KEEP_PARAMS | FLAG_CLAMPS;
	if (chance(state, 3)) {
		attr.clamp_max = chance(state, 1025);
		attr.clamp_min = chance(state, 2) ? 0 : chance(state, attr.clamp_max + 1);
	}
	set(victim(state), &attr, CLAMP, "clamp");
}

void act_latency(unsigned int *state)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_KEEP_ALL | FLAG_LATENCY_NICE };

	attr.latency_nice = (int)chance(state, 40) - 20;
	set(victim(state), &attr, LATENCY, "latency");
}

void act_policy(unsigned int *state)
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
	set(workers[which], &attr, POLICY, "policy");
}

/* A task that always runs gets little weight and a cap: what UCLAMP_MAX is there for. */
void act_background(unsigned int *state)
{
	struct attr attr = { .size = sizeof(attr), .flags = FLAG_CLAMPS };
	unsigned int which = WORKERS - HOGS + chance(state, HOGS);

	attr.policy = chance(state, 2) ? SCHED_OTHER : SCHED_IDLE;
	attr.nice = 10 + chance(state, 10);
	attr.clamp_max = chance(state, 300);
	set(workers[which], &attr, BACKGROUND, "background");
}

void act_affinity(unsigned int *state)
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
		did(AFFINITY);
	else if (errno != ESRCH && errno != EINVAL)	/* EINVAL: it may run on none of them */
		fail("affinity", 0);
}

/* The CPU that booted is the first to go, and every third. */
void act_hotplug(unsigned int *state)
{
	static unsigned int turn;
	unsigned int cpu = turn % 3 ? 1 + chance(state, cpus - 1) : 0;
	char path[64];

	snprintf(path, sizeof(path), CPU_ONLINE, cpu);
	if (!take_domains())
		return;
	if (put(path, "0")) {
		if (errno != EBUSY)	/* a task with a deadline needs it */
			fail("offline", cpu);
		leave_domains();
		return;
	}
	pause_us(chance(state, 20000));
	if (put(path, "1"))
		fail("online", cpu);
	leave_domains();
	did(cpu ? HOTPLUG : BOOT_CPU);
	turn++;
}

/* The system's limits: the lower one is not above the upper one, or the write fails. */
void act_bounds(unsigned int *state)
{
	static const char *const file = "/proc/sys/kernel/sched_util_clamp_%s";
	unsigned int upper = 512 + chance(state, 513), which = chance(state, 2);
	char path[64], text[16];

	snprintf(path, sizeof(path), file, which ? "min" : "max");
	snprintf(text, sizeof(text), "%u", which ? chance(state, 513) : upper);
	if (!put(path, text))
		did(BOUNDS);
	else
		fail(path, which);
}

void act_system(unsigned int *state)
{
	static const char *const files[] = { "util_clamp_min_rt_default", "energy_aware" };
	unsigned int which = chance(state, 2);
	char path[64], text[16];

	snprintf(path, sizeof(path), "/proc/sys/kernel/sched_%s", files[which]);
	snprintf(text, sizeof(text), "%u", which ? chance(state, 2) : 512 + chance(state, 513));
	if (!put(path, text))
		did(SYSTEM);
	else if (errno != EOPNOTSUPP)	/* no EAS while a whole cluster is offline */
		fail(path, 0);
}

/* Domains are built anew at each change, beside hotplug and partitions. */
void act_level(unsigned int *state)
{
	char text[2] = { (char)('0' + chance(state, 3)) };

	if (put(POWER_SAVINGS, text))
		fail(POWER_SAVINGS, *text);
	did(LEVEL);
}
