// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose turn it is, and what time it is.
 *
 * All vCPUs but one are parked: their count is at the limit, so their next block lands in
 * turns_block_at_limit() and is refused before it runs. QEMU's round-robin loop may poll them in
 * whatever order host events make it; nothing moves but the one whose turn it is. The turn goes to
 * the vCPU with the least local time, until it is one quantum ahead of the next, or the next timer
 * or event is due. Timers run here, in the vCPU thread, at their exact virtual time.
 *
 * `base` is a time up to which everything has happened: no vCPU that can run has an earlier one.
 */
#include "turns.h"

#include "channel.h"
#include "counters.h"
#include "debt.h"
#include "energyctrl.h"
#include "local_time.h"
#include "machine.h"
#include "qemu_internals.h"
#include "report.h"
#include "turns_internal.h"
#include "vcpu.h"
#include "virtual_time.h"

/* A vCPU alone may run this long before we look up. */
#define LONG_SLICE_NS 10000000ull
/* The last of an idle state's exit work is spun as the driver has it, by the clock. */
#define EXIT_SPIN_NS 2000ull

#define NOBODY (-1)

static vtime base;
static vtime last_read;
static vtime last_turn_at;
static int turn = NOBODY;
static vtime slice_end;
static bool choosing;
static __thread bool vcpu_thread;

/* Whose the block is that the vCPU waits at. */
static void park(struct vcpu *vcpu, enum code code)
{
	vcpu->in_user = code != CODE_KERNEL;
	vcpu->in_loop = code == CODE_LOOP;
}

void turns_release(struct vcpu *vcpu)
{
	time_settle(vcpu);
	time_set_budget(vcpu, 0);
	vcpu->granted = false;
	park(vcpu, CODE_KERNEL);
	vcpu->looks = false;
	vcpu->tail = 0;
	turn = NOBODY;
}

/* End the slice at the next block: something earlier may now come first. */
void turns_cut(struct vcpu *vcpu)
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

void turns_init(void)
{
	static const struct internals_hooks hooks = {
		.get_clock = turns_get_clock,
		.interrupt = turns_interrupt,
		.kick = turns_kick,
	};

	vcpu_thread = true;
	internals_install(&hooks);
}

void turns_add_vcpu(struct vcpu *vcpu)
{
	internals_prepare_vcpu(vcpu->cpu);
	vcpu->state = VCPU_OFF;
	/* QEMU starts the first CPU, the guest's PSCI calls start the others. */
	vcpu->woken_at = vcpu->index == 0 ? 0 : VT_NEVER;
	time_set_budget(vcpu, 0);
}

vtime turns_base(void)
{
	return base;
}

/* The time of whatever happens now in the vCPU thread. */
vtime turns_now(void)
{
	if (choosing || turn == NOBODY || !vcpus[turn].granted ||
	    vcpus[turn].cpu != current_cpu)
		return base;
	return time_local(&vcpus[turn]);
}

/*
 * QEMU_CLOCK_VIRTUAL. QEMU's main thread always reads 0: it then never finds a timer of this clock
 * expired, so that all of them run in the vCPU thread, at times that do not depend on the host.
 */
int64_t turns_get_clock(void)
{
	vtime now;

	if (!vcpu_thread)
		return 0;
	if (choosing)
		return vt_to_ns(base);
	now = turns_now();
	if (turn != NOBODY && vcpus[turn].tail) {
		/* One that turns_order_clock_read() has let through. */
		now -= time_of(vcpus[turn].cluster, vcpus[turn].tail);
		vcpus[turn].tail = 0;
		if (now < last_read)
			report_end("engine", "cpu%d reads a clock that has gone back by %lu ns",
				   turn, (unsigned long)vt_to_ns(last_read - now));
		last_read = now;
		vcpus[turn].tied = now;
	}
	return vt_to_ns(now);
}

bool turns_can_run(const struct vcpu *vcpu)
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

/* The earliest local time at which a vCPU that can run does. */
vtime turns_ready_at(struct vcpu *vcpu)
{
	if (vcpu->state == VCPU_RUNNING)
		return vcpu->local;
	if (vcpu->woken_at == VT_NEVER)
		vcpu->woken_at = base;
	return vcpu->woken_at > vcpu->local ? vcpu->woken_at : vcpu->local;
}

static vtime next_stop(void)
{
	int64_t timer = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, -1);
	vtime stop = timer < 0 ? VT_NEVER : vt_from_ns(vt_to_ns(base) + timer);
	vtime dvfs = energyctrl_next();
	vtime message = channel_next();

	if (dvfs < stop)
		stop = dvfs;
	return message < stop ? message : stop;
}

/* Move `base` to a stop and do what is due there. The caller holds QEMU's lock. */
static void advance(vtime to)
{
	if (base < to)
		base = to;
	energyctrl_run(base);
	channel_run(base);
	qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
	if (base >= vt_from_ns(config.limit_ns))
		report_end("fail", "the run has not ended after %.3f simulated seconds",
			   vt_to_ns(base) / 1e9);
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

/* Choose who runs next and until when. Nobody holds a grant. */
void turns_choose(void)
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

			if (!turns_can_run(vcpu)) {
				/* It was called for something else, such as a TLB flush. */
				if (cpu_work_list_empty(vcpu->cpu))
					vcpu->woken_at = VT_NEVER;
				continue;
			}
			ready = turns_ready_at(vcpu);
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
		if (base < at)
			base = at;
		last_turn_at = base;
		slice_end = at + vt_from_ns(LONG_SLICE_NS);
		if (second != VT_NEVER && second + quantum_of(first) < slice_end)
			slice_end = second + quantum_of(first);
		if (stop < slice_end)
			slice_end = stop;
		/* It may owe more than its slice; then that is all it does. */
		debt_pay(first, slice_end);
		if (first->debt)
			continue;
		turn = first->index;
		first->horizon = second < stop ? second : stop;
		break;
	}
	choosing = false;
	if (!locked)
		bql_unlock();
	report_progress(base);
}

static void wake(struct vcpu *vcpu)
{
	unsigned int cluster = vcpu->cluster - clusters;

	vcpu->local = turns_ready_at(vcpu);
	vcpu->tied = vcpu->local;
	vcpu->woken_at = VT_NEVER;
	vcpu->exit_ahead_ns = 0;
	if (vcpu->state == VCPU_ASLEEP && vcpu->announced_idle != IDLE_NONE) {
		uint64_t exit_ns = config.idle_exit_ns[cluster][vcpu->announced_idle];

		if (exit_ns > EXIT_SPIN_NS)
			vcpu->exit_ahead_ns = exit_ns - EXIT_SPIN_NS;
		counters_set_exit(vcpu, vcpu->local);
	} else {
		counters_set_active(vcpu, vcpu->local);
	}
	vcpu->state = VCPU_RUNNING;
}

/* Up to the end of the slice; a slice that is not over has one instruction at least. */
static void set_budget(struct vcpu *vcpu)
{
	vtime left = vcpu->local < slice_end ? slice_end - vcpu->local : 0;

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

/* Leave the generated code before the instruction at `host_pc`; it runs when we come back. */
void turns_refuse(struct vcpu *vcpu, uintptr_t host_pc)
{
	cpu_exit(vcpu->cpu);
	cpu_loop_exit_restore(vcpu->cpu, host_pc);
}

/* The turn was given to a vCPU that has since lost its reason to run. */
static bool turn_is_stale(void)
{
	return turn == NOBODY || !turns_can_run(&vcpus[turn]);
}

/*
 * The kernel returns (ERET) while the thread owes: to its program, unless it was itself
 * interrupted. Which of the two, the next block says; the slice need not end for that.
 */
void turns_look_at_next_block(struct vcpu *vcpu)
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
		debt_pay(vcpu, slice_end);
	}
	set_budget(vcpu);
}

/* A block of so much work is about to start, is counted already, and its vCPU is at the limit. */
void turns_block_at_limit(struct vcpu *vcpu, work block, enum code code, uintptr_t host_pc)
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
		turns_release(vcpu);
		park(vcpu, code);
		if (code != CODE_KERNEL)
			debt_resume(vcpu);
		debt_at_end_of_slice(vcpu, slice_end);
		turns_choose();
		/* Through QEMU's loop, which takes the interrupt before the block. */
		if (vcpu->interrupted)
			turns_refuse(vcpu, host_pc);
	} else {
		if (*vcpu->count - block != COUNT_LIMIT)
			report_end("engine", "cpu%u has run without its turn", vcpu->index);
		time_set_budget(vcpu, 0);
		if (turn_is_stale())
			turns_choose();
	}
	if (turn != (int)vcpu->index)
		turns_refuse(vcpu, host_pc);
	grant(vcpu);
	*vcpu->count += block;
}

/*
 * The guest is about to read the clock, `tail` before the end of its block. All reads
 * happen in the order of virtual time, over all vCPUs: whoever is ahead waits here for the others,
 * for timers and for events. So no guest ever sees time go backwards, and none sees it late.
 */
void turns_order_clock_read(struct vcpu *vcpu, work tail, enum code code, uintptr_t host_pc)
{
	vcpu->tail = tail;
	if (time_local_before(vcpu, tail) <= vcpu->horizon)
		return;
	*vcpu->count -= tail;
	turns_release(vcpu);
	park(vcpu, code);
	turns_choose();
	if (turn != (int)vcpu->index || vcpu->interrupted)
		turns_refuse(vcpu, host_pc);
	grant(vcpu);
	*vcpu->count += tail;
	vcpu->tail = tail;
}

static struct vcpu *vcpu_of(const CPUState *cpu)
{
	for (unsigned int i = 0; i < config.n_cpus; i++)
		if (vcpus[i].cpu == cpu)
			return &vcpus[i];
	return NULL;
}

/* Somebody may now start earlier than was known: who runs must not run on past that. */
static void reconsider(void)
{
	if (!choosing && turn != NOBODY)
		turns_cut(&vcpus[turn]);
}

static void may_start(struct vcpu *vcpu)
{
	if (vcpu->woken_at == VT_NEVER)
		vcpu->woken_at = turns_now();
	reconsider();
}

/* AccelOpsClass.handle_interrupt: an interrupt line of `cpu` rises. */
void turns_interrupt(CPUState *cpu, int mask)
{
	struct vcpu *vcpu = vcpu_thread ? vcpu_of(cpu) : NULL;

	if (vcpu && vcpu->state == VCPU_RUNNING && !vcpu->granted) {
		debt_interrupted(vcpu, turns_now());
		vcpu->interrupted = true;
		reconsider();
	} else if (vcpu && vcpu->state == VCPU_ASLEEP) {
		may_start(vcpu);
	}
	internals_interrupt(cpu, mask);
}

/* AccelOpsClass.kick_vcpu_thread: something was queued for `cpu`, or QEMU wants its attention. */
void turns_kick(CPUState *cpu)
{
	struct vcpu *vcpu = vcpu_thread ? vcpu_of(cpu) : NULL;

	if (!vcpu) {
		internals_kick(cpu);
		return;
	}
	if (cpu != current_cpu && vcpu->state != VCPU_RUNNING) {
		if (vcpu->state == VCPU_OFF)
			may_start(vcpu);
		/* Through QEMU's loop, which does the queued work. */
		if (current_cpu)
			cpu_exit(current_cpu);
	}
	if (cpu == current_cpu)
		cpu_exit(cpu);
}
