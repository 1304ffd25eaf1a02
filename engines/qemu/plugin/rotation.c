// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose turn it is.
 *
 * The turn goes to the vCPU with the least local time, until it is one quantum ahead of the next, or
 * the next timer or event is due. Timers and events run here, in the vCPU thread, at their exact
 * virtual time.
 */
#include "rotation.h"

#include <stddef.h>

#include "debt.h"
#include "local_time.h"
#include "machine.h"
#include "qemu_internals.h"
#include "report.h"
#include "vcpu.h"
#include "virtual_time.h"

/* A vCPU alone may run this long before we look up. */
#define LONG_SLICE_NS 10000000ull

#define MAX_KINDS 3

static const struct rotation_events *kinds[MAX_KINDS];
static unsigned int n_kinds;

static vtime last_turn_at;
static struct vcpu *holder;
static vtime slice_end;
static bool choosing;

void rotation_add_events(const struct rotation_events *events)
{
	if (n_kinds == MAX_KINDS)
		report_end("engine", "more kinds of events than the plugin has room for");
	kinds[n_kinds++] = events;
}

struct vcpu *rotation_holder(void)
{
	return holder;
}

void rotation_give_up(void)
{
	holder = NULL;
}

vtime rotation_slice_end(void)
{
	return slice_end;
}

bool rotation_choosing(void)
{
	return choosing;
}

bool rotation_can_run(const struct vcpu *vcpu)
{
	switch (vcpu->state) {
	case VCPU_RUNNING:
		return true;
	case VCPU_ASLEEP:
		return cpu_has_work(vcpu->cpu);
	case VCPU_OFF:
		break;
	}
	return vcpu->woken_at != VT_NEVER && cpu_work_list_empty(vcpu->cpu) &&
	       !cpu_thread_is_idle(vcpu->cpu);
}

vtime rotation_ready_at(struct vcpu *vcpu)
{
	if (vcpu->state == VCPU_RUNNING)
		return vcpu->local;
	if (vcpu->woken_at == VT_NEVER)
		vcpu->woken_at = time_base();
	return vcpu->woken_at > vcpu->local ? vcpu->woken_at : vcpu->local;
}

bool rotation_are_stale(void)
{
	return !holder || !rotation_can_run(holder);
}

/* When the next timer or event is due. */
static vtime next_stop(void)
{
	int64_t timer = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, -1);
	vtime stop = timer < 0 ? VT_NEVER : vt_from_ns(vt_to_ns(time_base()) + timer);

	for (unsigned int k = 0; k < n_kinds; k++) {
		vtime event = kinds[k]->next();

		if (event < stop)
			stop = event;
	}
	return stop;
}

/* Move `base` to a stop and do what is due there. The caller holds QEMU's lock. */
static void advance(vtime to)
{
	time_move_base(to);
	for (unsigned int k = 0; k < n_kinds; k++)
		kinds[k]->run(time_base());
	qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
	if (time_base() >= vt_from_ns(config.limit_ns))
		report_end("fail", "the run has not ended after %.3f simulated seconds",
			   vt_to_ns(time_base()) / 1e9);
}

static void nobody_can_run(vtime stop)
{
	if (stop == VT_NEVER || stop > last_turn_at + vt_from_ns(config.dead_ns))
		report_end("fail",
			   "the guest is dead: every CPU has been idle since %.6f simulated "
			   "seconds and nothing will wake one",
			   vt_to_ns(last_turn_at) / 1e9);
}

/*
 * A program that is interrupted is taken back to that moment (debt.c), so it may run far ahead; a
 * kernel that holds a lock makes others wait, so it may not.
 */
static vtime quantum_of(const struct vcpu *vcpu)
{
	return vt_from_ns(vcpu->in_user ? config.program_quantum_ns : config.kernel_quantum_ns);
}

void rotation_choose(void)
{
	bool locked = bql_locked();

	if (!locked)
		bql_lock_impl(__FILE__, __LINE__);
	choosing = true;
	for (;;) {
		struct vcpu *first = NULL;
		vtime at = VT_NEVER, second = VT_NEVER, stop = next_stop();

		for (unsigned int i = 0; i < config.n_cpus; i++) {
			struct vcpu *vcpu = &vcpus[i];
			vtime ready;

			if (!rotation_can_run(vcpu)) {
				/* It was called for something else, such as a TLB flush. */
				if (cpu_work_list_empty(vcpu->cpu))
					vcpu->woken_at = VT_NEVER;
				continue;
			}
			ready = rotation_ready_at(vcpu);
			if (ready < at) {
				second = at;
				at = ready;
				first = vcpu;
			} else if (ready < second) {
				second = ready;
			}
		}
		if (!first)
			nobody_can_run(stop);
		if (!first || at >= stop) {
			advance(stop);
			continue;
		}
		time_move_base(at);
		last_turn_at = time_base();
		slice_end = at + vt_from_ns(LONG_SLICE_NS);
		if (second != VT_NEVER && second + quantum_of(first) < slice_end)
			slice_end = second + quantum_of(first);
		if (stop < slice_end)
			slice_end = stop;
		/* It may owe more than its slice; then that is all it does. */
		debt_pay(first, slice_end);
		if (first->debt)
			continue;
		holder = first;
		first->horizon = second < stop ? second : stop;
		break;
	}
	choosing = false;
	if (!locked)
		bql_unlock();
	if (report_wants_progress())
		report_progress(time_base(), time_instructions_in_all());
}
