/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time that a program has executed but not yet spent. */
#ifndef EASCOPE_DEBT_H
#define EASCOPE_DEBT_H

#include <stdint.h>

#include "vcpu.h"
#include "virtual_time.h"

void debt_at_end_of_slice(struct vcpu *vcpu, vtime end);
void debt_pay(struct vcpu *vcpu, vtime until);
void debt_interrupted(struct vcpu *vcpu, vtime at);
void debt_thread_switch(struct vcpu *vcpu, uint64_t thread);
void debt_resume(struct vcpu *vcpu);

#endif
