/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's clock and its interrupts. */
#ifndef EASCOPE_CLOCK_H
#define EASCOPE_CLOCK_H

#include "vcpu.h"
#include "virtual_time.h"

/* Take QEMU's clock and interrupts over, on its vCPU thread. */
void clock_install(void);
void clock_add_vcpu(struct vcpu *vcpu);
/* The time of whatever happens now in the vCPU thread. */
vtime clock_now(void);

#endif
