// SPDX-License-Identifier: GPL-2.0-or-later
/* The vCPUs, by number. */
#include "vcpu.h"

#include <stddef.h>

#include "machine.h"
#include "qemu_internals.h"

struct vcpu vcpus[MAX_CPUS];

struct vcpu *vcpu_of(const CPUState *cpu)
{
	for (unsigned int i = 0; i < config.n_cpus; i++)
		if (vcpus[i].cpu == cpu)
			return &vcpus[i];
	return NULL;
}
