// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Slices: how a vCPU runs when it has the turn, and waits when it has not.
 *
 * All vCPUs but one are parked: their count is at the limit, so their next block lands in
 * slices_block_at_limit() and is refused before it runs. QEMU's round-robin loop may poll them in
 * whatever order host events make it; nothing moves but the one whose turn it is (rotation.c).
 */
#include "slices.h"

#include "counters.h"
#include "debt.h"
#include "local_time.h"
#include "machine.h"
#include "qemu_internals.h"
#include "report.h"
#include "rotation.h"
#include "vcpu.h"
#include "virtual_time.h"

/* Whose the block is that the vCPU waits at. */
static void park(struct vcpu *vcpu, enum code code)
{
	vcpu->in_user = code != CODE_KERNEL;
	vcpu->pace = code >= CODE_PACED ? (int)(code - CODE_PACED) : PACE_NONE;
}

void slices_release(struct vcpu *vcpu)
{
	time_settle(vcpu);
	time_set_budget(vcpu, 0);
	vcpu->granted = false;
	park(vcpu, CODE_KERNEL);
	vcpu->looks = false;
	vcpu->tail = 0;
	rotation_give_up();
}

void slices_cut(struct vcpu *vcpu)
{
	if (!vcpu->granted)
		return;
	time_settle(vcpu);
	time_set_budget(vcpu, 0);
	vcpu->looks = false;
	if (vcpu->horizon > vcpu->local)
		vcpu->horizon = vcpu->local;
	/* What it did concerns others: it did it now. */
	vcpu->tied = vcpu->local;
}

static void wake(struct vcpu *vcpu)
{
	vcpu->local = rotation_ready_at(vcpu);
	vcpu->tied = vcpu->local;
	vcpu->woken_at = VT_NEVER;
	vcpu->idle_ahead_ns = 0;
	if (vcpu->state == VCPU_ASLEEP && vcpu->announced_idle != IDLE_NONE)
		counters_set_exit(vcpu, vcpu->local);
	else
		counters_set_active(vcpu, vcpu->local);
	vcpu->state = VCPU_RUNNING;
}

/* Up to the end of the slice; a slice that is not over has one instruction at least. */
static void set_budget(struct vcpu *vcpu)
{
	vtime end = rotation_slice_end();
	vtime left = vcpu->local < end ? end - vcpu->local : 0;

	time_set_budget(vcpu, left ? time_work_in(vcpu->cluster, left) + ONE_INSTRUCTION : 0);
}

/* Let the vCPU whose turn it is run. */
static void grant(struct vcpu *vcpu)
{
	if (vcpu->state != VCPU_RUNNING)
		wake(vcpu);
	vcpu->interrupted = false;
	set_budget(vcpu);
	vcpu->granted = true;
}

void slices_refuse(struct vcpu *vcpu, uintptr_t host_pc)
{
	cpu_exit(vcpu->cpu);
	cpu_loop_exit_restore(vcpu->cpu, host_pc);
}

/*
 * The kernel returns (ERET) while the thread owes: to its program, unless it was itself
 * interrupted. Which of the two, the next block says; the slice need not end for that.
 */
void slices_look_at_next_block(struct vcpu *vcpu)
{
	if (*vcpu->count >= COUNT_LIMIT)
		return;
	time_settle(vcpu);
	time_set_budget(vcpu, 0);
	vcpu->looks = true;
}

/* It pays before its program goes on, which may take it to the end of the slice. */
static void look(struct vcpu *vcpu, enum code code)
{
	vcpu->looks = false;
	time_settle(vcpu);
	if (code != CODE_KERNEL) {
		debt_resume(vcpu);
		debt_pay(vcpu, rotation_slice_end());
	}
	set_budget(vcpu);
}

/* A block of so much work is about to start, is counted already, and its vCPU is at the limit. */
void slices_block_at_limit(struct vcpu *vcpu, work block, enum code code, uintptr_t host_pc)
{
	if (vcpu->looks) {
		*vcpu->count -= block;
		look(vcpu, code);
		*vcpu->count += block;
	}
	if (vcpu->granted) {
		/* A block that starts within the slice may end after it. */
		if (*vcpu->count - block < COUNT_LIMIT)
			return;
		*vcpu->count -= block;
		slices_release(vcpu);
		park(vcpu, code);
		if (code != CODE_KERNEL)
			debt_resume(vcpu);
		debt_at_end_of_slice(vcpu, rotation_slice_end());
		rotation_choose();
		/* Through QEMU's loop, which takes the interrupt before the block. */
		if (vcpu->interrupted)
			slices_refuse(vcpu, host_pc);
	} else {
		if (*vcpu->count - block != COUNT_LIMIT)
			report_end("engine", "cpu%u has run without its turn", vcpu->index);
		time_set_budget(vcpu, 0);
		if (rotation_are_stale())
			rotation_choose();
	}
	if (rotation_holder() != vcpu)
		slices_refuse(vcpu, host_pc);
	grant(vcpu);
	*vcpu->count += block;
}

/*
 * The guest is about to read the clock, `tail` before the end of its block. All reads
 * happen in the order of virtual time, over all vCPUs: whoever is ahead waits here for the others,
 * for timers and for events. So no guest ever sees time go backwards, and none sees it late.
 */
void slices_order_clock_read(struct vcpu *vcpu, work tail, enum code code, uintptr_t host_pc)
{
	vcpu->tail = tail;
	if (time_local_before(vcpu, tail) <= vcpu->horizon)
		return;
	*vcpu->count -= tail;
	slices_release(vcpu);
	park(vcpu, code);
	rotation_choose();
	if (rotation_holder() != vcpu || vcpu->interrupted)
		slices_refuse(vcpu, host_pc);
	grant(vcpu);
	*vcpu->count += tail;
	vcpu->tail = tail;
}
