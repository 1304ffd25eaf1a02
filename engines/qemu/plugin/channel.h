/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest agent's and the idle driver's messages. */
#ifndef EASCOPE_CHANNEL_H
#define EASCOPE_CHANNEL_H

#include <stdint.h>

#include "vcpu.h"
#include "virtual_time.h"

void channel_init(void);
void channel_init_vcpu(struct vcpu *vcpu);
uint64_t channel_register(const struct vcpu *vcpu, unsigned int x);
void channel_message(struct vcpu *vcpu, work tail, uintptr_t host_pc);

#endif
