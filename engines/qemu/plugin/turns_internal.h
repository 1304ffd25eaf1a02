/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between turns.c and waits.c. */
#ifndef EASCOPE_TURNS_INTERNAL_H
#define EASCOPE_TURNS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "vcpu.h"
#include "virtual_time.h"

/* Settle the vCPU and park it; nobody has the turn then. */
void turns_release(struct vcpu *vcpu);
/* Choose who runs next and until when. Nobody holds a grant. */
void turns_choose(void);
/* Leave the generated code before the instruction at `host_pc`; it runs when we come back. */
void turns_refuse(struct vcpu *vcpu, uintptr_t host_pc) __attribute__((noreturn));
bool turns_can_run(const struct vcpu *vcpu);
/* The earliest local time at which a vCPU that can run does. */
vtime turns_ready_at(struct vcpu *vcpu);

#endif
