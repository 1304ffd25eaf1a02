/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Local time: each vCPU's, from its work and its cluster's rate; and how far all have come. */
#ifndef EASCOPE_LOCAL_TIME_H
#define EASCOPE_LOCAL_TIME_H

#include <stdint.h>

#include "machine.h"
#include "vcpu.h"
#include "virtual_time.h"

vtime time_base(void);
void time_move_base(vtime to);
vtime time_of(const struct cluster *cluster, work done);
work time_work_in(const struct cluster *cluster, vtime duration);
work time_weight(const struct vcpu *vcpu);
uint64_t time_instructions(const struct vcpu *vcpu, vtime ago);
uint64_t time_instructions_in_all(void);
vtime time_local(const struct vcpu *vcpu);
vtime time_local_before(const struct vcpu *vcpu, work tail);
void time_settle(struct vcpu *vcpu);
void time_set_budget(struct vcpu *vcpu, work budget);

#endif
