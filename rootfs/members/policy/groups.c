// SPDX-License-Identifier: GPL-2.0-or-later
/* The clusters and their control groups. */
#include "policy.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLICY	FREQ "/policy"

const char *const group_names[GROUPS] = { "default", "fg_boost", "bg_non_interactive" };
static cpu_set_t group_cpus[GROUPS];
static int thread_files[GROUPS];

static char *path_of(enum group group, const char *file)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s/%s", options.root, group_names[group], file);
	return path;
}

static const char *threads_file(void)
{
	return policy->v1 ? "tasks" : "cgroup.threads";
}

/* CPUs as the kernel lists them, with spaces or commas and ranges. */
static void read_cpus(const char *list, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	for (const char *next = list; *next; ) {
		char *end;
		long first = strtol(next, &end, 10), last = first;

		if (end != next && *end == '-')
			last = strtol(next = end + 1, &end, 10);
		if (end == next || first < 0 || last < first || last >= CPU_SETSIZE)
			stop(2, "CPUs '%s': allowed: numbers and ranges with commas", list);
		for (long cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, cpus);
		next = end + strspn(end, ", ");
	}
}

static int by_number(const void *left, const void *right)
{
	const char *one = *(const char *const *)left, *other = *(const char *const *)right;

	return atoi(one + sizeof(POLICY) - 1) - atoi(other + sizeof(POLICY) - 1);
}

/* The first and the last cluster, which are those of the least and of the largest CPUs. */
void find_clusters(void)
{
	char path[300];
	glob_t found;

	if (!*options.little || !*options.big) {
		if (glob(POLICY "*", 0, NULL, &found) || found.gl_pathc < 2)
			stop(2, "no two clusters in " FREQ ": allowed: options.little=CPUS and options.big=CPUS");
		qsort(found.gl_pathv, found.gl_pathc, sizeof(*found.gl_pathv), by_number);
		snprintf(path, sizeof(path), "%s/related_cpus", found.gl_pathv[0]);
		get(path, options.little, sizeof(options.little));
		snprintf(path, sizeof(path), "%s/related_cpus", found.gl_pathv[found.gl_pathc - 1]);
		get(path, options.big, sizeof(options.big));
		for (char *list = options.little; list; list = list == options.little ? options.big : NULL)
			for (char *c = list; *c; c++)
				*c = *c == ' ' ? (c[1] ? ',' : 0) : *c;
	}
	read_cpus(options.little, &group_cpus[DEFAULT]);
	read_cpus(options.big, &group_cpus[FG]);
	CPU_ZERO(&group_cpus[BG]);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &group_cpus[DEFAULT])) {
			CPU_SET(cpu, &group_cpus[BG]);
			break;
		}
}

static void mount_v1(void)
{
	snprintf(options.root, sizeof(options.root), "/dev/cpuctl");
	if (mkdir(options.root, 0755) < 0 && errno != EEXIST)
		stop(1, "%s: %s", options.root, strerror(errno));
	if (mount("none", options.root, "cgroup", 0, "cpuset,cpu,cpuacct") < 0)
		stop(1, "%s: mount: %s", options.root, strerror(errno));
}

void make_groups(void)
{
	const char *cpus[GROUPS] = { options.little, options.big, NULL };
	char all[512 + 1], first[16];

	if (!policy->groups)
		return;
	snprintf(all, sizeof(all), "%s,%s", options.little, options.big);
	snprintf(first, sizeof(first), "%ld", strtol(options.little, NULL, 10));
	cpus[BG] = first;
	if (policy->v1 && !strcmp(options.root, "/sys/fs/cgroup"))
		mount_v1();
	for (int group = 0; group < GROUPS; group++) {
		if (mkdir(path_of(group, ""), 0755) < 0 && errno != EEXIST)
			stop(1, "%s: %s", path_of(group, ""), strerror(errno));
		if (!policy->v1)
			must_put(path_of(group, "cgroup.type"), "threaded");
	}
	if (!policy->v1) {	/* only now: its children must be threaded before */
		char path[300];

		snprintf(path, sizeof(path), "%s/cgroup.subtree_control", options.root);
		must_put(path, policy->cpusets ? "+cpu +cpuset" : "+cpu");
	}
	for (int group = 0; group < GROUPS; group++) {
		if (policy->cpusets || policy->v1)
			must_put(path_of(group, "cpuset.cpus"), policy->cpusets ? cpus[group] : all);
		if (policy->v1)
			must_put(path_of(group, "cpuset.mems"), "0");
		thread_files[group] = open(path_of(group, threads_file()), O_WRONLY | O_CLOEXEC);
		if (thread_files[group] < 0)
			stop(1, "%s: %s", path_of(group, threads_file()), strerror(errno));
	}
	if (policy->partition)
		must_put(path_of(FG, "cpuset.cpus.partition"), "root");
	if (policy->quota)
		must_put(path_of(BG, "cpu.max"), "10000 100000");
	if (policy->clamps) {
		must_put(path_of(FG, "cpu.uclamp.min"), "10.06");
		must_put(path_of(BG, "cpu.uclamp.max"), "10.06");
	}
}

/* 0 is the caller. */
int move(enum group group, long tid)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%ld", tid);

	return write(thread_files[group], text, length) < 0 ? errno : 0;
}

/* Counts, and names, a thread that the kernel lets nobody move; any other error is one of the group's. */
void refused(enum group group, long tid, int error)
{
	char path[300], name[64];

	if (error == ESRCH)
		return;
	if (error != EINVAL)
		stop(1, "%s: %ld: %s", path_of(group, threads_file()), tid, strerror(error));
	shared->refused++;
	snprintf(path, sizeof(path), "%s/%ld/comm", options.proc, tid);
	if (!get(path, name, sizeof(name)))
		snprintf(name, sizeof(name), "%ld", tid);
	printf("# refuses to move: %s\n", name);
	fflush(stdout);
}

/* Every thread of the options.root. */
void take_all(void)
{
	long moved = 0, tid;
	char path[300];
	FILE *list;

	if (!policy->groups)
		return;
	snprintf(path, sizeof(path), "%s/%s", options.root, threads_file());
	list = fopen(path, "re");
	if (!list)
		stop(1, "%s: %s", path, strerror(errno));
	while (fscanf(list, "%ld", &tid) == 1) {
		int error = move(DEFAULT, tid);

		if (error)
			refused(DEFAULT, tid, error);
		else
			moved++;
	}
	fclose(list);
	printf("moved_to_default %ld\nstayed_in_root %ld\n", moved, (long)shared->refused);
	fflush(stdout);
}

enum group group_of(long nice, long scheduling)
{
	if (nice >= BACKGROUND || scheduling == SCHED_BATCH || scheduling == SCHED_IDLE)
		return BG;
	return nice < 0 && scheduling == SCHED_OTHER ? FG : DEFAULT;
}

bool on(enum group group)
{
	int cpu = sched_getcpu();

	return cpu >= 0 && CPU_ISSET(cpu, &group_cpus[group]);
}

const cpu_set_t *cpus_of(enum group group)
{
	return &group_cpus[group];
}

void set_boost_cpus(const char *cpus)
{
	must_put(path_of(FG, "cpuset.cpus"), cpus);
}

void unmake_groups(void)
{
	if (policy->partition)
		must_put(path_of(FG, "cpuset.cpus.partition"), "member");
}
