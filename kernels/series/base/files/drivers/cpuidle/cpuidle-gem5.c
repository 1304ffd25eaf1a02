// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU idle states of a simulated machine.
 *
 * gem5 and the engines that stand in for it have one idle state that software
 * can enter, WFI, and they leave it at no cost. Deeper states are therefore
 * played: the driver tells the simulator which state a CPU enters, so that its
 * time there is billed with that state's power, lets the time of the entry
 * pass, executes WFI, and after the wake-up lets the time of the exit pass
 * before the interrupt is served. Interrupts are masked, so one that comes
 * during the entry waits for its end and for the exit, as for firmware that
 * cannot abort the flush of a cache.
 *
 * How long entry and exit take is the machine's affair. The latencies that
 * the device tree has for every cpuidle driver are the worst case, by which
 * the governor chooses.
 *
 * The simulator is told by a HINT instruction from the range that is a NOP on
 * processors, with a verb and its arguments in x0..x2. Nothing comes back.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/of.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include <asm/arch_timer.h>
#include <asm/barrier.h>
#include <asm/cpuidle.h>
#include <asm/sysreg.h>

#include "dt_idle_states.h"

/* HINT #0x60: a message to the simulator. */
#define HINT_VERB_IDLE_STATE	2
#define HINT_IDLE_EXIT_DONE	(~0UL)
#define HINT_IDLE_EXIT_BEGINS	(~1UL)

/*
 * While an entry or an exit passes, a simulator may let time jump at these two
 * (0x61 by about a thousand instructions, 0x62 by a quarter of that) instead
 * of running the loop. The long one is used while this much is left at least.
 */
#define LONG_STEP_US		10

/* A time, as the simulator is told it and in ticks of the virtual counter. */
struct gem5_time {
	unsigned long ns;
	u64 ticks;
};

/* The CPUs whose device tree nodes name the same idle state: how many are not in it. */
struct gem5_sharers {
	struct list_head node;
	struct device_node *state;
	atomic_t awake;
};

struct gem5_state {
	struct gem5_time entry;
	struct gem5_time exit;
	/* Where the last CPU to enter and the first to leave take another time. */
	struct gem5_sharers *sharers;
	struct gem5_time last_entry;
	struct gem5_time first_exit;
};

struct gem5_idle {
	struct cpuidle_driver drv;
	struct cpuidle_device dev;
	struct gem5_state states[CPUIDLE_STATE_MAX];
};

static DEFINE_PER_CPU(struct gem5_idle *, gem5_idle_of);
static LIST_HEAD(gem5_sharers_list);
static u64 long_step_ticks __ro_after_init;

/* The CPU enters a state, or its exit begins, which takes ns; or its exit is done. */
static __always_inline void gem5_hint_idle(unsigned long cpu, unsigned long state,
					   unsigned long ns)
{
	register unsigned long x0 asm("x0") = HINT_VERB_IDLE_STATE;
	register unsigned long x1 asm("x1") = cpu;
	register unsigned long x2 asm("x2") = state;
	register unsigned long x3 asm("x3") = ns;

	asm volatile("hint #0x60" : : "r" (x0), "r" (x1), "r" (x2), "r" (x3) : "memory");
}

static __always_inline u64 gem5_ticks(void)
{
	isb();
	return read_sysreg(cntvct_el0);
}

static __always_inline void gem5_spend(u64 ticks)
{
	u64 spent, start = gem5_ticks();

	while ((spent = gem5_ticks() - start) < ticks) {
		if (ticks - spent >= long_step_ticks)
			asm volatile("hint #0x61" : : : "memory");
		else
			asm volatile("hint #0x62" : : : "memory");
	}
}

/*
 * gem5 itself would run that loop instruction by instruction. It has an
 * operation instead that stops the CPU for a time, or until an interrupt is
 * raised, masked or not, and that does not care what is pending. Its
 * out-of-order CPUs lose an instruction that was fetched behind it; they fetch
 * nothing behind a WFE, which does not wait because SEVL has set its event.
 */
static __always_inline void gem5_quiesce_ns(unsigned long ns)
{
	register unsigned long x0 asm("x0") = ns;

	asm volatile("sevl\n"
		     ".inst 0xff020110\n"
		     "wfe"
		     : "+r" (x0) : : "memory");
}

static __always_inline void gem5_spend_quiesced(u64 ticks)
{
	u64 spent, start = gem5_ticks();

	while ((spent = gem5_ticks() - start) < ticks)
		gem5_quiesce_ns(div_u64((ticks - spent) * NSEC_PER_SEC,
					arch_timer_get_cntfrq()));
}

static __always_inline void gem5_pass(u64 ticks, bool quiesce)
{
	if (quiesce)
		gem5_spend_quiesced(ticks);
	else
		gem5_spend(ticks);
}

static __always_inline int gem5_enter(struct cpuidle_device *dev, struct cpuidle_driver *drv,
				      int index, bool quiesce)
{
	struct gem5_idle *idle = container_of(drv, struct gem5_idle, drv);
	const struct gem5_state *state = &idle->states[index];
	struct gem5_sharers *sharers = state->sharers;
	const struct gem5_time *entry = &state->entry, *exit = &state->exit;

	if (sharers && raw_atomic_dec_and_test(&sharers->awake))
		entry = &state->last_entry;
	gem5_hint_idle(dev->cpu, index, entry->ns);
	if (entry->ticks)
		gem5_pass(entry->ticks, quiesce);
	cpu_do_idle();
	if (sharers && raw_atomic_inc_return(&sharers->awake) == 1)
		exit = &state->first_exit;
	if (exit->ticks) {
		gem5_hint_idle(dev->cpu, HINT_IDLE_EXIT_BEGINS, exit->ns);
		gem5_pass(exit->ticks, quiesce);
	}
	gem5_hint_idle(dev->cpu, HINT_IDLE_EXIT_DONE, 0);

	return index;
}

static __cpuidle int gem5_enter_idle(struct cpuidle_device *dev,
				     struct cpuidle_driver *drv, int index)
{
	return gem5_enter(dev, drv, index, false);
}

/* The same where the device tree says that CPUs execute gem5's operations. */
static __cpuidle int gem5_enter_idle_quiesced(struct cpuidle_device *dev,
					      struct cpuidle_driver *drv, int index)
{
	return gem5_enter(dev, drv, index, true);
}

static const struct of_device_id gem5_idle_match[] = {
	{ .compatible = "gem5,idle-state", .data = gem5_enter_idle },
	{ }
};

static const struct cpuidle_driver gem5_idle_driver __initconst = {
	.name		= "gem5_idle",
	.owner		= THIS_MODULE,
	.states[0]	= {
		.enter			= gem5_enter_idle,
		.exit_latency		= 1,
		.target_residency	= 1,
		.power_usage		= UINT_MAX,
		.name			= "WFI",
		.desc			= "ARM WFI",
	},
	.state_count	= 1,
};

static struct gem5_time __init gem5_time_of(struct device_node *state, const char *name,
					    const char *otherwise)
{
	u32 us = 0;

	if (of_property_read_u32(state, name, &us))
		of_property_read_u32(state, otherwise, &us);

	return (struct gem5_time) {
		.ns = (unsigned long)us * NSEC_PER_USEC,
		.ticks = div_u64((u64)us * arch_timer_get_cntfrq(), USEC_PER_SEC),
	};
}

static struct gem5_sharers * __init gem5_sharers_of(struct device_node *state)
{
	struct gem5_sharers *sharers;

	list_for_each_entry(sharers, &gem5_sharers_list, node)
		if (sharers->state == state)
			return sharers;

	sharers = kzalloc(sizeof(*sharers), GFP_KERNEL);
	if (sharers) {
		sharers->state = of_node_get(state);
		list_add(&sharers->node, &gem5_sharers_list);
	}

	return sharers;
}

static int __init gem5_init_state(struct gem5_state *state, struct device_node *node)
{
	state->entry = gem5_time_of(node, "gem5,entry-us", "entry-latency-us");
	state->exit = gem5_time_of(node, "gem5,exit-us", "exit-latency-us");
	if (!of_property_present(node, "gem5,last-entry-us") &&
	    !of_property_present(node, "gem5,first-exit-us"))
		return 0;

	state->last_entry = gem5_time_of(node, "gem5,last-entry-us", "gem5,entry-us");
	state->first_exit = gem5_time_of(node, "gem5,first-exit-us", "gem5,exit-us");
	state->sharers = gem5_sharers_of(node);

	return state->sharers ? 0 : -ENOMEM;
}

/*
 * Finish what dt_init_idle_driver() left: how long a state's entry and exit
 * take, that the enter callback leaves it to the core to tell RCU, and how the
 * callback lets time pass.
 */
static int __init gem5_finish_states(struct gem5_idle *idle, int cpu, bool quiesce)
{
	struct device_node *cpu_node __free(device_node) = of_cpu_device_node_get(cpu);
	int i, ret, nr = 0;

	for (i = 1; i < idle->drv.state_count; nr++) {
		struct device_node *state __free(device_node) =
			of_get_cpu_state_node(cpu_node, nr);

		if (!of_device_is_available(state))
			continue;

		ret = gem5_init_state(&idle->states[i], state);
		if (ret)
			return ret;

		idle->drv.states[i].flags &= ~CPUIDLE_FLAG_RCU_IDLE;
		if (quiesce)
			idle->drv.states[i].enter = gem5_enter_idle_quiesced;
		i++;
	}

	return 0;
}

static int __init gem5_idle_init_cpu(int cpu, bool quiesce)
{
	struct gem5_idle *idle;
	int ret;

	idle = kzalloc(sizeof(*idle), GFP_KERNEL);
	if (!idle)
		return -ENOMEM;

	idle->drv = gem5_idle_driver;
	idle->drv.cpumask = (struct cpumask *)cpumask_of(cpu);

	ret = dt_init_idle_driver(&idle->drv, gem5_idle_match, 1);
	if (ret < 0)
		goto free_idle;

	ret = gem5_finish_states(idle, cpu, quiesce);
	if (ret)
		goto free_idle;

	ret = cpuidle_register_driver(&idle->drv);
	if (ret)
		goto free_idle;

	per_cpu(gem5_idle_of, cpu) = idle;
	idle->dev.cpu = cpu;
	ret = cpuidle_register_device(&idle->dev);
	if (ret)
		goto unregister_driver;

	return 0;

unregister_driver:
	cpuidle_unregister_driver(&idle->drv);
free_idle:
	kfree(idle);
	return ret;
}

/* A CPU that is off keeps no state from being entered by the last one that is on. */
static void gem5_count_cpu(unsigned int cpu, int change)
{
	struct gem5_idle *idle = per_cpu(gem5_idle_of, cpu);
	int i;

	for (i = 1; i < idle->drv.state_count; i++)
		if (idle->states[i].sharers)
			atomic_add(change, &idle->states[i].sharers->awake);
}

static int gem5_cpu_online(unsigned int cpu)
{
	gem5_count_cpu(cpu, 1);
	return 0;
}

static int gem5_cpu_offline(unsigned int cpu)
{
	gem5_count_cpu(cpu, -1);
	return 0;
}

static int __init gem5_idle_init(void)
{
	struct device_node *ectrl __free(device_node) =
		of_find_compatible_node(NULL, NULL, "arm,gem5-energy-ctrl");
	bool quiesce;
	int cpu, ret;

	/* Only a simulator has that controller, and only a simulator listens. */
	if (!ectrl)
		return -ENODEV;

	quiesce = of_property_read_bool(ectrl, "gem5,quiesce");
	long_step_ticks = div_u64((u64)LONG_STEP_US * arch_timer_get_cntfrq(), USEC_PER_SEC);

	for_each_possible_cpu(cpu) {
		ret = gem5_idle_init_cpu(cpu, quiesce);
		if (ret) {
			pr_err("CPU%d: %d\n", cpu, ret);
			return ret;
		}
	}

	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "cpuidle/gem5:online",
				gem5_cpu_online, gem5_cpu_offline);

	return ret < 0 ? ret : 0;
}
device_initcall(gem5_idle_init);
