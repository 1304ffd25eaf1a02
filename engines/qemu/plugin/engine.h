/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fast engine: a QEMU plugin that owns guest time.
 *
 * Every vCPU has a local time, which moves with the instructions that it executes at its cluster's
 * rate. turns.c lets the vCPU with the least local time run first, main.c instruments guest code,
 * energyctrl.c is the DVFS device, counters.c accounts for time, channel.c takes the guest agent's
 * messages, report.c talks to the Python side. All of it runs in QEMU's one vCPU thread.
 */
#ifndef EASCOPE_ENGINE_H
#define EASCOPE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu_internals.h"
#include "qemu_plugin_api.h"

#define MAX_CPUS 32
#define MAX_CLUSTERS 8
#define MAX_OPPS 32
#define MAX_IDLE_STATES 8

/* Virtual time: ns since power-on, with 16 fractional bits (78 hours). */
typedef uint64_t vtime;
#define VT_NEVER UINT64_MAX
#define VT_FRACTION_BITS 16

static inline vtime vt_from_ns(uint64_t ns)
{
	return ns << VT_FRACTION_BITS;
}

static inline uint64_t vt_to_ns(vtime t)
{
	return t >> VT_FRACTION_BITS;
}

/*
 * Work: what moves time. An instruction is this much of it; one of the busy loop, which runs at
 * another rate, is its cluster's `loop_weight`.
 */
typedef uint64_t work;
#define WORK_BITS 16
#define ONE_INSTRUCTION ((work)1 << WORK_BITS)

static inline work work_of(uint64_t instructions)
{
	return instructions << WORK_BITS;
}

struct opp {
	uint32_t khz;
	uint32_t uv;
	uint64_t instructions_per_s;
};

struct cluster {
	/* As EnergyCtrl counts them: level 0 is the fastest. */
	struct opp opps[MAX_OPPS];
	unsigned int n_opps;
	unsigned int level;
	/* ns per instruction at `level`, with 32 fractional bits; the busy loop's have a weight. */
	uint64_t period;
	/* Work of an instruction of the busy loop. */
	uint64_t loop_weight;
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
#define MAX_LOOP_COPIES 4
#define LOOP_WORDS 4

struct config {
	unsigned int n_cpus;
	unsigned int n_clusters;
	unsigned int n_idle_states;
	unsigned int cluster_of[MAX_CPUS];
	/* How far ahead of the others a vCPU may run: in a program, and in the kernel. */
	uint64_t program_quantum_ns;
	uint64_t kernel_quantum_ns;
	/* What leaving each idle state takes, by cluster. */
	uint64_t idle_exit_ns[MAX_CLUSTERS][MAX_IDLE_STATES];
	/* The idle state that is cluster-sleep when all CPUs of the cluster are in it; 0: none. */
	unsigned int cluster_sleep[MAX_CLUSTERS];
	uint64_t transition_latency_ns;
	uint64_t energyctrl_address;
	/* Instructions that the two elision hints stand for; 0: they are plain NOPs. */
	uint64_t hint_4_turns;
	uint64_t hint_1_turn;
	/* Where the busy loop's code is, and how its function begins; used where it has a weight. */
	bool weighs_loop;
	struct address_range loop_code[MAX_LOOP_RANGES];
	unsigned int n_loop_ranges;
	uint32_t loop_begins[MAX_LOOP_COPIES][LOOP_WORDS];
	unsigned int n_loop_copies;
	/* Simulated idle time after which the guest is dead; simulated time at which a run fails. */
	uint64_t dead_ns;
	uint64_t limit_ns;
	int report_fd;
};

extern struct config config;
extern struct cluster clusters[MAX_CLUSTERS];

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
	CODE_LOOP, /* a program's busy loop, where it has a weight */
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
	/* The busy loop's part of it, and its instructions; both 0 where no loop has a weight. */
	work loop_done;
	uint64_t loop_instructions;
	/* Local time of what a parked program has executed beyond `local`; see debt.c. */
	vtime debt;
	/* For generated code: not 0 when the thread that runs owes. */
	uint64_t *owes;
	/* The budget is 0 for a look at whether the next block is a program's, not for its end. */
	bool looks;
	/* The thread that runs: its thread pointer. */
	uint64_t thread;
	/* What the guest did last that ties it to a time: it cannot be interrupted before. */
	vtime tied;
	/* The block at which the vCPU waits is a program's; an interrupt makes it the kernel's. */
	bool in_user;
	/* It is one of the busy loop. */
	bool in_loop;
	/* An interrupt has come in since the last grant. */
	bool interrupted;
	/* When an interrupt (or, for a CPU that is off, power) arrived; VT_NEVER: not yet. */
	vtime woken_at;
	/* Up to here no other vCPU, timer or event comes first: clock reads are in global order. */
	vtime horizon;
	/* The current block's work after the instruction that reads the clock. */
	work tail;
	/* The idle state announced by the guest's driver, IDLE_NONE outside idle and its exit. */
	int announced_idle;
	/* Of the exit work that the driver is about to do, what may pass at once. */
	uint64_t exit_ahead_ns;
	/* Up to here local time passed by the clock, not by instructions: no rate changes it. */
	vtime waited_until;
	struct qemu_plugin_register *x[N_REGISTERS];
};

#define IDLE_NONE (-1)

extern struct vcpu vcpus[MAX_CPUS];

/* options.c */
bool options_parse(int argc, char **argv);

/* time.c */
vtime time_of(const struct cluster *cluster, work done);
work time_work_in(const struct cluster *cluster, vtime duration);
uint64_t time_instructions(const struct vcpu *vcpu, vtime ago);
vtime time_local(const struct vcpu *vcpu);
vtime time_local_before(const struct vcpu *vcpu, work tail);
void time_settle(struct vcpu *vcpu);
void time_set_budget(struct vcpu *vcpu, work budget);
void time_set_level(struct cluster *cluster, unsigned int level, vtime at);

/* loop.c */
bool loop_has(uint64_t address);

/* debt.c */
void debt_at_end_of_slice(struct vcpu *vcpu, vtime end);
void debt_pay(struct vcpu *vcpu, vtime until);
void debt_interrupted(struct vcpu *vcpu, vtime at);
void debt_thread_switch(struct vcpu *vcpu, uint64_t thread);
void debt_resume(struct vcpu *vcpu);

/* turns.c */
void turns_init(void);
void turns_add_vcpu(struct vcpu *vcpu);
vtime turns_base(void);
vtime turns_now(void);
void turns_cut(struct vcpu *vcpu);
void turns_block_at_limit(struct vcpu *vcpu, work block, enum code code, uintptr_t host_pc);
void turns_order_clock_read(struct vcpu *vcpu, work tail, enum code code, uintptr_t host_pc);
void turns_look_at_next_block(struct vcpu *vcpu);
void turns_kernel_spins(struct vcpu *vcpu);
void turns_sleep(struct vcpu *vcpu, work tail, uintptr_t host_pc);
void turns_power_off(struct vcpu *vcpu);
void turns_stall(struct vcpu *vcpu);
void turns_stop_for_ever(struct vcpu *vcpu, uintptr_t host_pc) __attribute__((noreturn));
/* Anything on the vCPU thread that may change who runs next. */
int64_t turns_get_clock(void);
void turns_interrupt(CPUState *cpu, int mask);
void turns_kick(CPUState *cpu);

/* energyctrl.c */
void energyctrl_init(void);
void energyctrl_map(void);
vtime energyctrl_next(void);
void energyctrl_run(vtime base);

/* counters.c */
void counters_init(void);
void counters_set_active(const struct vcpu *vcpu, vtime at);
void counters_set_exit(const struct vcpu *vcpu, vtime at);
void counters_set_idle(const struct vcpu *vcpu, unsigned int state, vtime at);
void counters_break(unsigned int cluster, vtime at);
void counters_close(void);

/* channel.c */
void channel_init_vcpu(struct vcpu *vcpu);
uint64_t channel_register(const struct vcpu *vcpu, unsigned int x);
void channel_message(struct vcpu *vcpu, work tail, uintptr_t host_pc);
vtime channel_next(void);
void channel_run(vtime base);

/* report.c */
void report_open(int fd);
void report_mark(uint64_t id, vtime at, uint64_t mono_ns);
void report_progress(vtime at);
/* Flush and close everything and end QEMU; `kind` is exit, fail or engine. */
void report_end(const char *kind, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#endif
