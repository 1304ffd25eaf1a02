/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose turn it is, and what time it is. */
#ifndef EASCOPE_TURNS_H
#define EASCOPE_TURNS_H

#include <stdint.h>

#include "vcpu.h"
#include "virtual_time.h"

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

#endif
