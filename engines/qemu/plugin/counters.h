/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which state each ns was spent in. */
#ifndef EASCOPE_COUNTERS_H
#define EASCOPE_COUNTERS_H

#include "vcpu.h"
#include "virtual_time.h"

void counters_init(void);
void counters_set_active(const struct vcpu *vcpu, vtime at);
void counters_set_entry(const struct vcpu *vcpu, vtime at);
void counters_set_exit(const struct vcpu *vcpu, vtime at);
void counters_set_idle(const struct vcpu *vcpu, unsigned int state, vtime at);
void counters_break(unsigned int cluster, vtime at);
void counters_flush(void);
void counters_move(void);
void counters_close(void);

#endif
