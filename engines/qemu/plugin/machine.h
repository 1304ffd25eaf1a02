/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine that the options describe: its clusters, and how a run goes. */
#ifndef EASCOPE_MACHINE_H
#define EASCOPE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "virtual_time.h"

/* engines/qemu/build.py gives what Python knows, too: how large a machine may be, among others. */
#ifndef MAX_CPUS
#error "no MAX_CPUS: the plugin is built by engines/qemu/build.py"
#endif
/* Loops: the busy loop itself, number 0, and mixtures of it with memory's time. */
#define MAX_LOOPS 8
/* Programs with figures of their own: 1 and on; 0 is any other. */
#define MAX_PROGRAMS 16
/* Pages of their code, all together. */
#define MAX_PROGRAM_PAGES 4096
/* Paces: loops, then programs. Code of any other kind has none. */
#define MAX_PACES (MAX_LOOPS + MAX_PROGRAMS)
#define PACE_NONE (-1)
/* Steps of a package's power budget: as many as there are numbers of CPUs. */
#define MAX_BUDGET_STEPS MAX_CPUS

struct opp {
	uint32_t khz;
	uint32_t uv;
	uint64_t instructions_per_s;
	/* Work of an instruction at each pace: memory's time is more cycles at a faster clock. */
	uint64_t weights[MAX_PACES];
};

struct cluster {
	/* As EnergyCtrl counts them: level 0 is the fastest. */
	struct opp opps[MAX_OPPS];
	unsigned int n_opps;
	unsigned int level;
	/* ns per instruction at `level`, with 32 fractional bits; those at a pace have a weight. */
	uint64_t period;
	/* What the guest has asked for last, and the fastest that the package's budget grants. */
	unsigned int requested_level;
	unsigned int granted_level;
	/* The transition in flight: its level, and when it completes (VT_NEVER: none). */
	unsigned int wanted_level;
	vtime completes_at;
	uint64_t requests;
	uint64_t transitions;
};

struct address_range {
	uint64_t start;
	uint64_t end;
};

#define MAX_LOOP_RANGES 4
#define MAX_LOOP_COPIES (2 + MAX_LOOPS)
#define LOOP_WORDS 4

struct config {
	unsigned int n_cpus;
	unsigned int n_clusters;
	unsigned int n_idle_states;
	unsigned int cluster_of[MAX_CPUS];
	/* How far ahead of the others a vCPU may run: in a program, and in the kernel. */
	uint64_t program_quantum_ns;
	uint64_t kernel_quantum_ns;
	/* The idle state that is cluster-sleep when all CPUs of the cluster are in it; 0: none. */
	unsigned int cluster_sleep[MAX_CLUSTERS];
	uint64_t transition_latency_ns;
	uint64_t energyctrl_address;
	/* While up to `cpus` are on, no cluster is granted more than `max_khz`; no steps: any. */
	struct budget_step {
		unsigned int cpus;
		uint32_t max_khz;
	} budget_steps[MAX_BUDGET_STEPS];
	unsigned int n_budget_steps;
	/* How often the CPUs that are on are counted. */
	uint64_t budget_interval_ns;
	/* Instructions that the two elision hints stand for in each loop; 0: plain NOPs. */
	struct loop_hints {
		uint64_t of_4_iterations;
		uint64_t of_1_iteration;
	} hints[MAX_LOOPS];
	/* Some code has a weight. Where the busy loop's is, and how its function begins. */
	bool weighs_code;
	struct address_range loop_code[MAX_LOOP_RANGES];
	unsigned int n_loop_ranges;
	struct loop_copy {
		uint32_t begins[LOOP_WORDS];
		unsigned int loop;
	} loop_copies[MAX_LOOP_COPIES];
	unsigned int n_loop_copies;
	/* Pages of programs' code, by a digest of their content (program.c). */
	struct program_page {
		uint64_t digest;
		unsigned int program;
	} program_pages[MAX_PROGRAM_PAGES];
	unsigned int n_program_pages;
	/* Simulated idle time after which the guest is dead; simulated time at which a run fails. */
	uint64_t dead_ns;
	uint64_t limit_ns;
	int report_fd;
	/* The agent's script, or -1 and the socket on which runs with scripts are asked for. */
	char script[512];
	int serve_fd;
	/* The file of the working directory that QEMU writes the guest's console to. */
	char console[64];
};

extern struct config config;
extern struct cluster clusters[MAX_CLUSTERS];

/* A program's pace. */
static inline unsigned int program_pace(unsigned int program)
{
	return MAX_LOOPS + program - 1;
}

/* What an instruction at a pace weighs now. */
static inline uint64_t pace_weight(const struct cluster *cluster, unsigned int pace)
{
	return cluster->opps[cluster->level].weights[pace];
}

#endif
