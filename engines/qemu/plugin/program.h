/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs with figures of their own: which of them runs on a vCPU. */
#ifndef EASCOPE_PROGRAM_H
#define EASCOPE_PROGRAM_H

#include <stdint.h>

#include "vcpu.h"

/* None of these programs. */
#define PROGRAM_NONE 0

unsigned int program_of_page(uint64_t address);
void program_found(struct vcpu *vcpu, unsigned int program);
void program_set_asid(struct vcpu *vcpu, uint64_t ttbr1);
void program_switch(struct vcpu *vcpu, uint64_t ttbr0);

#endif
