/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a vCPU runs when it has the turn, and waits when it has not. */
#ifndef EASCOPE_SLICES_H
#define EASCOPE_SLICES_H

#include <stdint.h>

#include "vcpu.h"
#include "virtual_time.h"

/* From generated code. */
void slices_block_at_limit(struct vcpu *vcpu, work block, enum code code, uintptr_t host_pc);
void slices_order_clock_read(struct vcpu *vcpu, work tail, enum code code, uintptr_t host_pc);
void slices_look_at_next_block(struct vcpu *vcpu);

/* End the slice at the next block: something earlier may now come first. */
void slices_cut(struct vcpu *vcpu);
/* Settle the vCPU and park it; nobody has the turn then. */
void slices_release(struct vcpu *vcpu);
/* Leave the generated code before the instruction at `host_pc`; it runs when we come back. */
void slices_refuse(struct vcpu *vcpu, uintptr_t host_pc) __attribute__((noreturn));

#endif
