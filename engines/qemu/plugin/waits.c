// SPDX-License-Identifier: GPL-2.0-or-later
/* What a vCPU does instead of executing: sleep, wait for another one, spin by the clock, go off. */
#include "waits.h"

#include "counters.h"
#include "local_time.h"
#include "machine.h"
#include "qemu_internals.h"
#include "slices.h"
#include "rotation.h"
#include "vcpu.h"
#include "virtual_time.h"

/* A waiting vCPU (WFE, YIELD) looks again this long after the one that it may be waiting for. */
#define STALL_NS 1000ull

/*
 * An elision hint in the kernel: the idle driver spins by the clock for as long as its state's entry
 * or exit takes. It has said how long, so all but the last of it passes here, instead of in a thousand
 * reads of the clock that each wait for the other vCPUs.
 */
void waits_kernel_spins(struct vcpu *vcpu)
{
	if (!vcpu->idle_ahead_ns)
		return;
	time_settle(vcpu);
	vcpu->local += vt_from_ns(vcpu->idle_ahead_ns);
	vcpu->waited_until = vcpu->local;
	vcpu->idle_ahead_ns = 0;
	slices_cut(vcpu);
}

/* WFI: the vCPU sleeps until it has an interrupt, which is at once when one is pending. */
void waits_sleep(struct vcpu *vcpu, work tail, uintptr_t host_pc)
{
	if (cpu_has_work(vcpu->cpu))
		return;
	/*
	 * Work that this vCPU queued for others (power on, TLB flush) is done by QEMU between its
	 * turns, and may make one of them runnable. Let that happen before time moves on.
	 */
	for (unsigned int i = 0; i < config.n_cpus; i++) {
		if (cpu_work_list_empty(vcpus[i].cpu))
			continue;
		*vcpu->count -= tail;
		slices_release(vcpu);
		slices_refuse(vcpu, host_pc);
	}
	slices_release(vcpu);
	vcpu->state = VCPU_ASLEEP;
	vcpu->woken_at = VT_NEVER;
	counters_set_idle(vcpu, vcpu->announced_idle == IDLE_NONE ? 0 : vcpu->announced_idle,
			  vcpu->local);
	rotation_choose();
}

/* PSCI CPU_OFF: accounted as the deepest idle state until another vCPU powers this one on. */
void waits_power_off(struct vcpu *vcpu)
{
	slices_release(vcpu);
	vcpu->state = VCPU_OFF;
	vcpu->woken_at = VT_NEVER;
	vcpu->announced_idle = IDLE_NONE;
	counters_set_idle(vcpu, config.n_idle_states - 1, vcpu->local);
	rotation_choose();
}

/* The guest has said its last word on this vCPU, at the instruction at `host_pc`. */
void waits_stop_for_ever(struct vcpu *vcpu, uintptr_t host_pc)
{
	slices_release(vcpu);
	vcpu->state = VCPU_OFF;
	vcpu->woken_at = VT_NEVER;
	rotation_choose();
	slices_refuse(vcpu, host_pc);
}

/* WFE, YIELD: the vCPU waits for another one, so it looks again a little after that one. */
void waits_stall(struct vcpu *vcpu)
{
	vtime earliest = VT_NEVER;

	for (unsigned int i = 0; i < config.n_cpus; i++) {
		if (&vcpus[i] != vcpu && rotation_can_run(&vcpus[i])) {
			vtime ready = rotation_ready_at(&vcpus[i]);

			if (ready < earliest)
				earliest = ready;
		}
	}
	if (earliest == VT_NEVER)
		return;
	time_settle(vcpu);
	if (vcpu->local < earliest + vt_from_ns(STALL_NS)) {
		vcpu->local = earliest + vt_from_ns(STALL_NS);
		vcpu->waited_until = vcpu->local;
	}
	slices_cut(vcpu);
}
