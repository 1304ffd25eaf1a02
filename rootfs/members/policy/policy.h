/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef POLICY_H
#define POLICY_H

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FREQ		"/sys/devices/system/cpu/cpufreq"
#define BOOSTED		(-8)	/* Android's ANDROID_PRIORITY_URGENT_DISPLAY */
#define BACKGROUND	10
#define MOST_EVENTS	200

enum group { DEFAULT, FG, BG, GROUPS };
/* Who moves a thread whose priority changes; at its launch, an app as a whole. */
enum mover { NOBODY, SELF, OTHER, AFFINITY, LAUNCH, WATCHER };

struct policy {
	const char *name;
	bool groups, cpusets, quota, clamps, partition, v1, retarget;
	enum mover mover;
};

/* ---- main.c: the policies, and what the arguments ask for ---- */

extern const struct policy *policy;

struct options {
	char little[256], big[256], root[200], proc[200];
	long seed, rounds, period_ms, length_ms, app_uid;
};

extern struct options options;

/* ---- host.c: errors, time, files ---- */

void stop(int code, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
uint64_t now_ns(void);
/* Ends early once a signal has asked the daemon to end. */
void until_ns(uint64_t ns);
/* Ends the program, with the file's name, where the kernel refuses the write. */
void must_put(const char *path, const char *value);
/* The first line of a file; false where it cannot be read. */
bool get(const char *path, char *text, size_t room);

/* ---- groups.c: the clusters and their control groups ---- */

extern const char *const group_names[GROUPS];

void find_clusters(void);
const cpu_set_t *cpus_of(enum group group);
/* Whether the caller runs on a CPU of the group. */
bool on(enum group group);
void make_groups(void);
/* What must not outlive the program: a partition's CPUs are in the domains of all others again. */
void unmake_groups(void);
/* Every thread of the root moves to the default group. */
void take_all(void);
enum group group_of(long nice, long scheduling);
/* 0 or an error number; a tid of 0 is the caller. */
int move(enum group group, long tid);
/* fg_boost's CPUs, for as long as "retarget" wants them so. */
void set_boost_cpus(const char *cpus);

/* ---- watch.c: what a daemon does, and what it has in common with the threads it watches ---- */

struct shared {
	_Atomic long moves, refused, retargets, tids;
	_Atomic uint64_t launched_ns, watched_ns;
};

extern struct shared *shared;
extern volatile sig_atomic_t ended;

/* Counts, and names, a thread that the kernel lets nobody move; any other error is the group's. */
void refused(enum group group, long tid, int error);
/* Until a signal ends it. */
void watch(void);
/* The daemon's process where the policy has one, or 0. */
pid_t start_watching(void);

/* ---- draws.c: the same numbers on every machine, so no library's logarithm ---- */

#define MEAN_BOOST_NS	2600000.0	/* the source's mean */

void draw_from(uint64_t seed);
double uniform(void);		/* 0 < u < 1 */
double logarithm(double x);	/* 0 < x <= 1 */
double boost_ns(void);

/* ---- samples.c: work, and what is printed of it ---- */

#define MOST_SAMPLES	16384
/* A chunk's length on tc2-like's big CPUs at 400 MHz. */
#define CHUNK_NS	10000

struct samples {
	_Atomic int count;
	double value[MOST_SAMPLES];
};

void chunk(void);
void add(struct samples *samples, double value);
double sum_of(const struct samples *samples);
/* NAME_mean_us, _min_us, _p50_us and _max_us; nothing of no sample. */
void print_us(const char *name, struct samples *samples);

/* ---- commands; each returns an exit status ---- */

int browser(void);
int migrate(void);

#endif
