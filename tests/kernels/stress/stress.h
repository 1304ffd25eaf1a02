/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STRESS_H
#define STRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../include/attr.h"

/* What is done, and counted. */
#define OPERATIONS(OP)			\
	OP(CLAMP, "clamp")		\
	OP(POLICY, "policy")		\
	OP(BACKGROUND, "background")	\
	OP(AFFINITY, "affinity")	\
	OP(MOVE, "move")		\
	OP(LIMIT, "limit")		\
	OP(NEST, "nest")		\
	OP(CONTROLLER, "controller")	\
	OP(GROUP, "group")		\
	OP(PARTITION, "partition")	\
	OP(THROTTLE, "throttle")	\
	OP(HOTPLUG, "hotplug")		\
	OP(BOOT_CPU, "boot_cpu")	\
	OP(SYSTEM, "system")		\
	OP(BOUNDS, "bounds")		\
	OP(FORK, "fork")		\
	OP(EXEC, "exec")		\
	OP(WAKEUP, "wakeup")		\
	OP(BOOST, "boost")		\
	OP(DEADLINE, "deadline")	\
	OP(LATENCY, "latency")		\
	OP(LEVEL, "level")

#define OP_NUMBER(number, name)	number,
enum op { OPERATIONS(OP_NUMBER) OPS };

#define PAIRS		6
#define HOGS		4
#define SLEEPERS	6
#define WORKERS		(2 * PAIRS + SLEEPERS + HOGS)
#define HOLDERS		2
#define DEADLINERS	2
/* Besides the workers: policies and CPUs of these are their own affair. */
#define STRANGERS	(2 * HOLDERS + DEADLINERS)

#define FLAG_KEEP_POLICY	0x08
#define FLAG_KEEP_PARAMS	0x10
#define FLAG_CLAMPS		0x60
#define NO_CLAMP		UINT32_MAX

/* Of kernels that gather tasks in clusters */
#define POWER_SAVINGS	"/sys/kernel/debug/sched/eascope/sched_mc_power_savings"

struct shared {
	atomic_int stop, failed;
	atomic_int forked;		/* one child of the storm, or 0 */
	atomic_bool domains_taken;
	atomic_ulong done[OPS];
	int left_out[OPS];
	pthread_mutex_t locks[HOLDERS];	/* whoever holds one inherits the waiters' priority */
};

extern struct shared *shared;
extern pid_t workers[WORKERS];		/* pairs, then those that sleep, then those that do not */
extern pid_t strangers[STRANGERS];
extern unsigned int cpus;

/* util.c */
void did(enum op op);
void fail(const char *what, long which);
unsigned int chance(unsigned int *state, unsigned int below);
void pause_us(unsigned int us);
void spin(unsigned int turns);
/* Unless the program is to end first, which is false. */
bool take_domains(void);
void leave_domains(void);
int put(const char *path, const char *text);
int get(const char *path, char *text, unsigned int size);
/* Whether the kernel has the attribute latency_nice. */
bool has_latency_nice(void);
int set_attr(pid_t pid, const struct attr *attr);
pid_t child(void);

/* workers.c, strangers.c: make tasks */
pid_t start_workers(unsigned int seed);
void start_strangers(unsigned int seed);
int be_executed(void);

/* groups.c: before and after */
void make_groups(void);
void count_throttled(void);
void remove_groups(void);

/* One change each, at random. */
void act_clamp(unsigned int *state);
void act_policy(unsigned int *state);
void act_background(unsigned int *state);
void act_affinity(unsigned int *state);
void act_move(unsigned int *state);
void act_limit(unsigned int *state);
void act_nest(unsigned int *state);
void act_controller(unsigned int *state);
void act_group(unsigned int *state);
void act_partition(unsigned int *state);
void act_throttle(unsigned int *state);
void act_hotplug(unsigned int *state);
void act_system(unsigned int *state);
void act_bounds(unsigned int *state);
void act_latency(unsigned int *state);
void act_group_latency(unsigned int *state);
void act_level(unsigned int *state);

#endif /* STRESS_H */
