// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time that a user program has executed but not yet spent.
 *
 * A slice ends at a block's edge, and a block may hold a hint that stands for four turns of a loop:
 * the program has then gone beyond the end of its slice. And a parked program may be ahead of
 * others by up to a quantum when one of them interrupts it. In both cases the interrupt is taken at
 * its own time, and what the program did beyond is owed: it is paid before the program goes on,
 * and until then the vCPU counts as being where its slice ended. So whose turn comes when does not
 * depend on how far beyond a block took anybody; an interrupt comes at the same time in the midst
 * of a loop that is elided and of one that is executed; its handler does not pay for the loop, and
 * every burst keeps its length.
 *
 * While its program waits in the interrupt, perhaps for long, perhaps to go on elsewhere, the debt
 * is kept by thread, as work (a busy loop's weighs otherwise on another cluster). The kernel sets
 * TPIDR_EL0, the thread pointer, at each switch of threads; that is how we know who runs. (Threads
 * of two programs may have the same pointer; if both owe at once, one may pay for the other, which
 * is less than a quantum.)
 */
#include "debt.h"

#include <string.h>

#include "local_time.h"
#include "vcpu.h"
#include "virtual_time.h"

/* Preempted threads that may owe at once; the oldest are forgiven. */
#define MAX_DEBTORS 256

static struct {
	uint64_t thread;
	work owed;
	/* The pace at which it was done, or PACE_NONE, and what an instruction weighed. */
	int pace;
	work weight;
} debtors[MAX_DEBTORS];
static unsigned int n_debtors;

static int find(uint64_t thread)
{
	for (unsigned int i = 0; i < n_debtors; i++)
		if (debtors[i].thread == thread)
			return i;
	return -1;
}

static void forget(unsigned int i)
{
	n_debtors--;
	memmove(debtors + i, debtors + i + 1, (n_debtors - i) * sizeof(debtors[0]));
}

/* The slice ended at `end` and the program has executed more; it has just been released. */
void debt_at_end_of_slice(struct vcpu *vcpu, vtime end)
{
	if (!vcpu->in_user || vcpu->local <= end)
		return;
	vcpu->debt += vcpu->local - end;
	vcpu->local = end;
}

/* Spend what is owed, but not beyond `until`. */
void debt_pay(struct vcpu *vcpu, vtime until)
{
	vtime room = until > vcpu->local ? until - vcpu->local : 0;
	vtime paid = vcpu->debt < room ? vcpu->debt : room;

	vcpu->local += paid;
	vcpu->debt -= paid;
}

/* A program's work counts from now on, or (sign -1) does not. */
static void book(struct vcpu *vcpu, work done, work weight, int sign)
{
	vcpu->done += sign * done;
	if (!weight)
		return;
	vcpu->paced_done += sign * done;
	vcpu->paced_instructions += sign * (done / weight);
}

/*
 * An interrupt comes in at `at` for a parked vCPU. A program is interrupted where it was at that
 * time, but not before its last contact with anybody else (`tied`). If its slice ended earlier, it
 * is interrupted there, and not where its last block took it: that depends on how a loop is run.
 */
void debt_interrupted(struct vcpu *vcpu, vtime at)
{
	work owed, weight;
	int pace = vcpu->pace;

	if (!vcpu->in_user)
		return;
	if (at < vcpu->tied)
		at = vcpu->tied;
	if (vcpu->local > at) {
		vcpu->debt += vcpu->local - at;
		vcpu->local = at;
	}
	weight = pace == PACE_NONE ? 0 : time_weight(vcpu);
	owed = time_work_in(vcpu->cluster, vcpu->debt);
	vcpu->in_user = false;
	vcpu->pace = PACE_NONE;
	vcpu->debt = 0;
	if (!owed)
		return;
	book(vcpu, owed, weight, -1);
	if (n_debtors == MAX_DEBTORS)
		forget(0);
	debtors[n_debtors].thread = vcpu->thread;
	debtors[n_debtors].owed = owed;
	debtors[n_debtors].pace = pace;
	debtors[n_debtors].weight = weight;
	n_debtors++;
	*vcpu->owes = 1;
}

/* The vCPU goes on with another thread. */
void debt_thread_switch(struct vcpu *vcpu, uint64_t thread)
{
	vcpu->thread = thread;
	*vcpu->owes = find(thread) >= 0;
}

/* The thread is back in its program: the vCPU owes what the thread did. */
void debt_resume(struct vcpu *vcpu)
{
	int i = *vcpu->owes ? find(vcpu->thread) : -1;
	work owed, weight;

	*vcpu->owes = 0;
	if (i < 0)
		return;
	owed = debtors[i].owed;
	weight = debtors[i].weight;
	if (weight) {
		work here = pace_weight(vcpu->cluster, debtors[i].pace);

		owed = vt_rescale(owed, weight, here);
		weight = here;
	}
	book(vcpu, owed, weight, 1);
	vcpu->debt += time_of(vcpu->cluster, owed);
	forget(i);
}
