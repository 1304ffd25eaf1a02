// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Local time: each vCPU's, from its work and its cluster's rate, in integers.
 *
 * A vCPU's time is `local` when its count was `counted`, and moves by the cluster's period for each
 * instruction's work since. Settling moves that pair to now.
 *
 * `base` is a time up to which everything has happened: no vCPU that can run has an earlier one.
 */
#include "local_time.h"

#include "machine.h"
#include "vcpu.h"
#include "virtual_time.h"

static vtime base;

vtime time_base(void)
{
	return base;
}

/* Everything up to `to` has happened. */
void time_move_base(vtime to)
{
	if (base < to)
		base = to;
}

vtime time_of(const struct cluster *cluster, work done)
{
	return (vtime)done * cluster->period;
}

/* Work that takes so long: of whole instructions, unless some weigh other than one. */
work time_work_in(const struct cluster *cluster, vtime duration)
{
	work done = duration / cluster->period;

	return config.weighs_code ? done : done & ~(ONE_INSTRUCTION - 1);
}

vtime time_local(const struct vcpu *vcpu)
{
	return vcpu->local + time_of(vcpu->cluster, *vcpu->count - vcpu->counted);
}

/* What an instruction weighs of the code at which the vCPU waits. */
work time_weight(const struct vcpu *vcpu)
{
	return vcpu->pace == PACE_NONE ? ONE_INSTRUCTION : pace_weight(vcpu->cluster, vcpu->pace);
}

/* Instructions that had been executed so long ago. */
uint64_t time_instructions(const struct vcpu *vcpu, vtime ago)
{
	uint64_t done = ((vcpu->done - vcpu->paced_done) >> WORK_BITS) + vcpu->paced_instructions;
	work weight = time_weight(vcpu);
	uint64_t beyond = ago ? time_work_in(vcpu->cluster, ago) / weight : 0;

	return beyond < done ? done - beyond : 0;
}

uint64_t time_instructions_in_all(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < config.n_cpus; i++)
		sum += time_instructions(&vcpus[i], 0);
	return sum;
}

/* Local time before the last `tail` of what has been counted. */
vtime time_local_before(const struct vcpu *vcpu, work tail)
{
	return time_local(vcpu) - time_of(vcpu->cluster, tail);
}

void time_settle(struct vcpu *vcpu)
{
	vcpu->local = time_local(vcpu);
	vcpu->done += *vcpu->count - vcpu->counted;
	vcpu->counted = *vcpu->count;
}

/* Let the settled vCPU do so much before it calls us. */
void time_set_budget(struct vcpu *vcpu, work budget)
{
	*vcpu->count = COUNT_LIMIT - budget;
	vcpu->counted = *vcpu->count;
}
