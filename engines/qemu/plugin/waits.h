/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a vCPU does instead of executing. */
#ifndef EASCOPE_WAITS_H
#define EASCOPE_WAITS_H

#include <stdint.h>

#include "vcpu.h"
#include "virtual_time.h"

void waits_kernel_spins(struct vcpu *vcpu);
void waits_sleep(struct vcpu *vcpu, work tail, uintptr_t host_pc);
void waits_power_off(struct vcpu *vcpu);
void waits_stall(struct vcpu *vcpu);
void waits_stop_for_ever(struct vcpu *vcpu, uintptr_t host_pc) __attribute__((noreturn));

#endif
