/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of QEMU that the engine uses besides the plugin interface.
 *
 * The plugin interface can watch a guest but cannot own its clock under TCG: in QEMU 10.0
 * qemu_plugin_update_ns() waits for host time (only the qtest accelerator implements
 * set_virtual_clock). Debian's binary exports its functions for QEMU's own loadable modules, so a
 * plugin may call them, and the accelerator's table of operations has the two hooks that we need.
 * Everything that depends on QEMU's layout is in this header and in qemu_internals.c, and is
 * checked when a run starts.
 */
#ifndef EASCOPE_QEMU_INTERNALS_H
#define EASCOPE_QEMU_INTERNALS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct CPUState CPUState;

/* system/cpus.c, hw/core/cpu-common.c, accel/tcg: one vCPU thread runs all vCPUs in turn. */
extern __thread CPUState *current_cpu;
CPUState *qemu_get_cpu(int index);
void cpu_exit(CPUState *cpu);
bool cpu_has_work(CPUState *cpu);
bool cpu_thread_is_idle(CPUState *cpu);
bool cpu_work_list_empty(CPUState *cpu);
void cpu_loop_exit_restore(CPUState *cpu, uintptr_t host_pc) __attribute__((noreturn));
/* By the guest's own translation; not 0 where it maps nothing. */
int cpu_memory_rw_debug(CPUState *cpu, uint64_t address, void *data, uint64_t length, bool is_write);

/* The lock around devices and timers. */
void bql_lock_impl(const char *file, int line);
void bql_unlock(void);
bool bql_locked(void);

/* util/rcu.c: no handlers run at a fork from now on. */
void rcu_disable_atfork(void);

/* util/qemu-timer.c */
#define QEMU_CLOCK_VIRTUAL 1
int64_t qemu_clock_deadline_ns_all(int type, int attributes);
bool qemu_clock_run_timers(int type);

/* What the engine installs in the accelerator's table of operations. */
struct internals_hooks {
	int64_t (*get_clock)(void);
	/* One vCPU raises an interrupt for another, or a timer does. */
	void (*interrupt)(CPUState *cpu, int mask);
	/* Work was queued for a vCPU (to power it on, to flush its TLB). */
	void (*kick)(CPUState *cpu);
};

/* The functions that stood in the table before. */
void internals_interrupt(CPUState *cpu, int mask);
void internals_kick(CPUState *cpu);

/* Both end QEMU with a message when this is not the QEMU that we know. */
void internals_install(const struct internals_hooks *hooks);
void internals_prepare_vcpu(CPUState *cpu);

/* A device of 32-bit registers in the guest's physical memory. */
typedef uint64_t (*internals_read)(void *opaque, uint64_t offset, unsigned int size);
typedef void (*internals_write)(void *opaque, uint64_t offset, uint64_t value, unsigned int size);
void internals_map_device(const char *name, uint64_t address, uint64_t size, internals_read read,
			  internals_write write);
uint32_t internals_peek(uint64_t address);

#endif
