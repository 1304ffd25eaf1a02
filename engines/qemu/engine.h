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
	/* ns per instruction at `level`, with 32 fractional bits. */
	uint64_t period;
	/* The transition in flight: its level, and when it completes (VT_NEVER: none). */
	unsigned int wanted_level;
	vtime completes_at;
	uint64_t requests;
	uint64_t transitions;
};

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
	/* Simulated idle time after which the guest is dead; simulated time at which a run fails. */
	uint64_t dead_ns;
	uint64_t limit_ns;
	int report_fd;
};

extern struct config config;
extern struct cluster clusters[MAX_CLUSTERS];

/*
 * A vCPU's `count` grows with each instruction; a translation block that takes it to COUNT_LIMIT
 * or beyond calls block_at_limit(). A slice of n instructions is granted by count = limit - n.
 */
#define COUNT_LIMIT (1ull << 40)

/* x0 to x30 */
#define N_REGISTERS 31

enum run_state {
	VCPU_OFF,
	VCPU_RUNNING,
	VCPU_ASLEEP,
};

struct vcpu {
	unsigned int index;
	struct cluster *cluster;
	CPUState *cpu;
	uint64_t *count;
	enum run_state state;
	bool granted;
	/* Local time and instructions in all, both at the moment when count was `counted`. */
	vtime local;
	uint64_t instructions;
	uint64_t counted;
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
	/* An interrupt has come in since the last grant. */
	bool interrupted;
	/* When an interrupt (or, for a CPU that is off, power) arrived; VT_NEVER: not yet. */
	vtime woken_at;
	/* Up to here no other vCPU, timer or event comes first: clock reads are in global order. */
	vtime horizon;
	/* Instructions of the current block that lie behind the one which reads the clock. */
	uint64_t tail;
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
vtime time_of(const struct cluster *cluster, uint64_t instructions);
uint64_t time_instructions_in(const struct cluster *cluster, vtime duration);
vtime time_local(const struct vcpu *vcpu);
vtime time_local_before(const struct vcpu *vcpu, uint64_t tail);
void time_settle(struct vcpu *vcpu);
void time_set_budget(struct vcpu *vcpu, uint64_t budget);
void time_set_level(struct cluster *cluster, unsigned int level, vtime at);

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
void turns_block_at_limit(struct vcpu *vcpu, uint64_t block, bool user, uintptr_t host_pc);
void turns_order_clock_read(struct vcpu *vcpu, uint64_t tail, bool user, uintptr_t host_pc);
void turns_look_at_next_block(struct vcpu *vcpu);
void turns_kernel_spins(struct vcpu *vcpu);
void turns_sleep(struct vcpu *vcpu, uint64_t tail, uintptr_t host_pc);
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
void channel_message(struct vcpu *vcpu, uint64_t tail, uintptr_t host_pc);
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
