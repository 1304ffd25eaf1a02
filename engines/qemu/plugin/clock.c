// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's clock and its interrupts: what QEMU asks for, and the moment at which it does.
 *
 * QEMU's tables get our functions in the place of its own. Anything on the vCPU thread may change
 * who runs next.
 */
#include "clock.h"

#include <stddef.h>

#include "debt.h"
#include "local_time.h"
#include "qemu_internals.h"
#include "report.h"
#include "slices.h"
#include "rotation.h"
#include "vcpu.h"
#include "virtual_time.h"

static vtime last_read;
static __thread bool vcpu_thread;

vtime clock_now(void)
{
	const struct vcpu *holder = rotation_holder();

	if (rotation_choosing() || !holder || !holder->granted || holder->cpu != current_cpu)
		return time_base();
	return time_local(holder);
}

/*
 * QEMU_CLOCK_VIRTUAL. QEMU's main thread always reads 0: it then never finds a timer of this clock
 * expired, so that all of them run in the vCPU thread, at times that do not depend on the host.
 */
static int64_t get_clock(void)
{
	struct vcpu *holder = rotation_holder();
	vtime now;

	if (!vcpu_thread)
		return 0;
	if (rotation_choosing())
		return vt_to_ns(time_base());
	now = clock_now();
	if (holder && holder->tail) {
		/* One that slices_order_clock_read() has let through. */
		now -= time_of(holder->cluster, holder->tail);
		holder->tail = 0;
		if (now < last_read)
			report_end("engine", "cpu%u reads a clock that has gone back by %lu ns",
				   holder->index, (unsigned long)vt_to_ns(last_read - now));
		last_read = now;
		holder->tied = now;
	}
	return vt_to_ns(now);
}

/* Somebody may now start earlier than was known: who runs must not run on past that. */
static void reconsider(void)
{
	if (!rotation_choosing() && rotation_holder())
		slices_cut(rotation_holder());
}

static void may_start(struct vcpu *vcpu)
{
	if (vcpu->woken_at == VT_NEVER)
		vcpu->woken_at = clock_now();
	reconsider();
}

/* AccelOpsClass.handle_interrupt: an interrupt line of `cpu` rises. */
static void interrupt(CPUState *cpu, int mask)
{
	struct vcpu *vcpu = vcpu_thread ? vcpu_of(cpu) : NULL;

	if (vcpu && vcpu->state == VCPU_RUNNING && !vcpu->granted) {
		debt_interrupted(vcpu, clock_now());
		vcpu->interrupted = true;
		reconsider();
	} else if (vcpu && vcpu->state == VCPU_ASLEEP) {
		may_start(vcpu);
	}
	internals_interrupt(cpu, mask);
}

/* AccelOpsClass.kick_vcpu_thread: something was queued for `cpu`, or QEMU wants its attention. */
static void kick(CPUState *cpu)
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

void clock_install(void)
{
	static const struct internals_hooks hooks = {
		.get_clock = get_clock,
		.interrupt = interrupt,
		.kick = kick,
	};

	vcpu_thread = true;
	internals_install(&hooks);
}

void clock_add_vcpu(struct vcpu *vcpu)
{
	internals_prepare_vcpu(vcpu->cpu);
	vcpu->state = VCPU_OFF;
	/* QEMU starts the first CPU, the guest's PSCI calls start the others. */
	vcpu->woken_at = vcpu->index == 0 ? 0 : VT_NEVER;
	time_set_budget(vcpu, 0);
}
