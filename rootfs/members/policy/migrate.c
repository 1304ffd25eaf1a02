// SPDX-License-Identifier: GPL-2.0-or-later
/* How long a running thread takes to another cluster, at each OPP of both. */
#include "policy.h"

#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t wanted, done;
static _Atomic int target, spinning;
static _Atomic uint64_t t0_ns, t1_ns, t2_ns;

static void migrate_now(long tid, enum group group)
{
	int error;

	t0_ns = now_ns();
	if (policy->mover == AFFINITY)
		error = sched_setaffinity(tid, sizeof(cpu_set_t), cpus_of(group)) ? errno : 0;
	else
		error = move(group, tid);
	t1_ns = now_ns();
	if (error)
		stop(1, "%s: a running thread: %s", group_names[group], strerror(error));
}

static void *victim_main(void *tid)
{
	prctl(PR_SET_NAME, "migrated");
	*(_Atomic long *)tid = syscall(SYS_gettid);
	for (;;) {
		sem_wait(&wanted);
		if (target < 0)
			return NULL;
		for (uint64_t begin = now_ns(); now_ns() < begin + 1000000; )
			chunk();
		spinning = 1;
		if (policy->mover == SELF || policy->mover == AFFINITY)
			migrate_now(0, target);
		while (!on(target))
			chunk();
		t2_ns = now_ns();
		sem_post(&done);
	}
}

/* From where it is to "group": how long, and how much of it the write took. */
static void migrate_once(long tid, enum group group, struct samples *total, struct samples *write)
{
	target = group;
	spinning = 0;
	sem_post(&wanted);
	if (policy->mover == OTHER) {
		while (!spinning)
			usleep(500);
		migrate_now(tid, group);
	}
	sem_wait(&done);
	/* Longer than grace periods of RCU: writes one after another would share one. */
	usleep(40000 + (useconds_t)(uniform() * 80000));
	if (!total)
		return;
	add(total, t2_ns - t0_ns);	/* the thread may be there before the write returns */
	add(write, (t1_ns < t2_ns ? t1_ns : t2_ns) - t0_ns);
}

static void clock_to(const char *freq_policy, const char *text)
{
	const char *const files[] = { "scaling_min_freq", "scaling_max_freq", "scaling_min_freq" };
	char path[400], least[32];

	snprintf(path, sizeof(path), "%s/cpuinfo_min_freq", freq_policy);
	get(path, least, sizeof(least));
	for (int number = 0; number < 3; number++) {
		snprintf(path, sizeof(path), "%s/%s", freq_policy, files[number]);
		must_put(path, number ? text : least);
	}
	usleep(5000);
}

int migrate(void)
{
	static struct samples up, down, write, one, all;
	static _Atomic long tid;
	char path[400], list[1024], name[64];
	pthread_t victim;
	double lost;
	glob_t found;

	if (policy->mover != SELF && policy->mover != OTHER && policy->mover != AFFINITY)
		stop(2, "policy '%s': allowed: one that moves threads by their priority", policy->name);
	if (glob(FREQ "/policy*", 0, NULL, &found))
		stop(1, FREQ ": no policies");
	draw_from(options.seed);
	sem_init(&wanted, 0, 0);
	sem_init(&done, 0, 0);
	if (pthread_create(&victim, NULL, victim_main, (void *)&tid))
		stop(1, "no thread");
	for (size_t number = 0; number < found.gl_pathc; number++) {
		bool first = number == 0, last = number == found.gl_pathc - 1;
		char *frequency, *next = list;

		if (!first && !last)
			continue;
		for (size_t other = 0; other < found.gl_pathc; other++) {
			snprintf(path, sizeof(path), "%s/cpuinfo_max_freq", found.gl_pathv[other]);
			get(path, list, sizeof(list));
			clock_to(found.gl_pathv[other], list);
		}
		snprintf(path, sizeof(path), "%s/scaling_available_frequencies", found.gl_pathv[number]);
		get(path, list, sizeof(list));
		while ((frequency = strsep(&next, " "))) {
			if (!*frequency)
				continue;
			clock_to(found.gl_pathv[number], frequency);
			migrate_once(tid, DEFAULT, NULL, NULL);
			memset(&one, 0, sizeof(one));
			for (int round = 0; round < options.rounds; round++) {
				migrate_once(tid, FG, &one, &write);
				migrate_once(tid, DEFAULT, &down, &all);
				add(&up, one.value[round]);
			}
			snprintf(name, sizeof(name), "%s_%ldmhz", first ? "little" : "big",
				 strtol(frequency, NULL, 10) / 1000);
			print_us(name, &one);
		}
	}
	target = -1;
	sem_post(&wanted);
	pthread_join(victim, NULL);
	printf("migrations %d\n", up.count);
	print_us("up", &up);
	print_us("down", &down);
	if (policy->mover == OTHER)	/* who writes itself returns on its new CPU */
		printf("cgroup_percent %.2f\n", 100 * sum_of(&write) / sum_of(&up));
	lost = sum_of(&up) / up.count / MEAN_BOOST_NS;
	printf("useful_percent %.2f\n", lost < 1 ? 100 - 100 * lost : 0);
	return 0;
}
