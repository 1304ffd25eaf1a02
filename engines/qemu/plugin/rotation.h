/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose turn it is. */
#ifndef EASCOPE_ROTATION_H
#define EASCOPE_ROTATION_H

#include <stdbool.h>

#include "vcpu.h"
#include "virtual_time.h"

/* Events of one kind: when the next is due (VT_NEVER: none), and doing those due up to `base`. */
struct rotation_events {
	vtime (*next)(void);
	void (*run)(vtime base);
};

/* Kinds run in the order in which they were added, all of them before timers. */
void rotation_add_events(const struct rotation_events *events);
/* Choose who runs next and until when. Nobody holds a grant. */
void rotation_choose(void);
/* Events and timers run now, so nobody does. */
bool rotation_choosing(void);
/* Whose turn it is; NULL: nobody's. */
struct vcpu *rotation_holder(void);
/* It is nobody's turn. */
void rotation_give_up(void);
/* The turn was given to nobody, or to a vCPU that has since lost its reason to run. */
bool rotation_are_stale(void);
/* Up to when it is the holder's turn. */
vtime rotation_slice_end(void);
bool rotation_can_run(const struct vcpu *vcpu);
/* The earliest local time at which a vCPU that can run does. */
vtime rotation_ready_at(struct vcpu *vcpu);

#endif
