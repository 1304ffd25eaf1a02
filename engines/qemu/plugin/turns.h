/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose turn it is. */
#ifndef EASCOPE_TURNS_H
#define EASCOPE_TURNS_H

#include <stdbool.h>

#include "vcpu.h"
#include "virtual_time.h"

/* Events of one kind: when the next is due (VT_NEVER: none), and doing those due up to `base`. */
struct turns_events {
	vtime (*next)(void);
	void (*run)(vtime base);
};

/* Kinds run in the order in which they were added, all of them before timers. */
void turns_add_events(const struct turns_events *events);
/* Choose who runs next and until when. Nobody holds a grant. */
void turns_choose(void);
/* Events and timers run now, so nobody does. */
bool turns_choosing(void);
/* Whose turn it is; NULL: nobody's. */
struct vcpu *turns_holder(void);
/* It is nobody's turn. */
void turns_give_up(void);
/* The turn was given to nobody, or to a vCPU that has since lost its reason to run. */
bool turns_are_stale(void);
/* Up to when it is the holder's turn. */
vtime turns_slice_end(void);
bool turns_can_run(const struct vcpu *vcpu);
/* The earliest local time at which a vCPU that can run does. */
vtime turns_ready_at(struct vcpu *vcpu);

#endif
