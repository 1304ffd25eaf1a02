/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU: what it does, and where it is in time.
 *
 * Every vCPU has a local time, which moves with the instructions that it executes at its cluster's
 * rate. rotation.c lets the vCPU with the least local time run first. All of the plugin runs in QEMU's
 * one vCPU thread.
 */
#ifndef EASCOPE_VCPU_H
#define EASCOPE_VCPU_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"
#include "qemu_internals.h"
#include "qemu_plugin_api.h"
#include "virtual_time.h"

/*
 * A vCPU's `count` grows with its work; a translation block that takes it to COUNT_LIMIT or beyond
 * calls block_at_limit(). A slice of so much work is granted by count = limit - work.
 */
#define COUNT_LIMIT ((work)1 << 60)

/* x0 to x30 */
#define N_REGISTERS 31

enum run_state {
	VCPU_OFF,
	VCPU_RUNNING,
	VCPU_ASLEEP,
};

/* Whose code a block is. */
enum code {
	CODE_KERNEL,
	CODE_PROGRAM,
	CODE_PACED, /* a program's, with a weight: a loop or all of it; and so on, by its pace */
};

struct vcpu {
	unsigned int index;
	struct cluster *cluster;
	CPUState *cpu;
	work *count;
	enum run_state state;
	bool granted;
	/* Local time and work in all, both at the moment when count was `counted`. */
	vtime local;
	work done;
	work counted;
	/* The part of it at any pace, and its instructions; both 0 where nothing has a weight. */
	work paced_done;
	uint64_t paced_instructions;
	/* Local time of what a parked program has executed beyond `local`; see debt.c. */
	vtime debt;
	/* For generated code: not 0 when the thread that runs owes. */
	uint64_t *owes;
	/* For generated code: the program with figures whose address space this is; 0: another's. */
	uint64_t *program;
	/* That address space: its number, and its translation table. */
	unsigned int asid;
	uint64_t table;
	/* The budget is 0 for a look at whether the next block is a program's, not for its end. */
	bool looks;
	/* The thread that runs: its thread pointer. */
	uint64_t thread;
	/* What the guest did last that ties it to a time: it cannot be interrupted before. */
	vtime tied;
	/* The block at which the vCPU waits is a program's; an interrupt makes it the kernel's. */
	bool in_user;
	/* Its pace, or PACE_NONE. */
	int pace;
	/* An interrupt has come in since the last grant. */
	bool interrupted;
	/* When an interrupt (or, for a CPU that is off, power) arrived; VT_NEVER: not yet. */
	vtime woken_at;
	/* Up to here no other vCPU, timer or event comes first: clock reads are in global order. */
	vtime horizon;
	/* The current block's work after the instruction that reads the clock. */
	work tail;
	/* The idle state announced by the guest's driver, IDLE_NONE from the end of its exit on. */
	int announced_idle;
	/* Of the entry or exit work that the driver is about to do, what may pass at once. */
	uint64_t idle_ahead_ns;
	/* Up to here local time passed by the clock, not by instructions: no rate changes it. */
	vtime waited_until;
	struct qemu_plugin_register *x[N_REGISTERS];
};

#define IDLE_NONE (-1)

extern struct vcpu vcpus[MAX_CPUS];

/* The vCPU that is QEMU's `cpu`; NULL: none of ours. */
struct vcpu *vcpu_of(const CPUState *cpu);

#endif
