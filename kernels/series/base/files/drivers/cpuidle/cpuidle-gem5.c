// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU idle states of a simulated machine.
 *
 * gem5 and the engines that stand in for it have one idle state that software
 * can enter, WFI, and they leave it at no cost. Deeper states are therefore
 * played: the driver tells the simulator which state a CPU enters, so that its
 * time there is billed with that state's power, executes WFI, and after the
 * wake-up lets the state's exit latency pass before the interrupt is served.
 *
 * The simulator is told by a HINT instruction from the range that is a NOP on
 * processors, with a verb and its arguments in x0..x2. Nothing comes back.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/of.h>
#include <linux/slab.h>

#include <asm/arch_timer.h>
#include <asm/barrier.h>
#include <asm/cpuidle.h>
#include <asm/sysreg.h>

#include "dt_idle_states.h"

/* HINT #0x60: a message to the simulator. */
#define HINT_VERB_IDLE_STATE	2
#define HINT_IDLE_EXIT_DONE	(~0UL)

/*
 * While an exit latency passes, a simulator may let time jump at these two
 * (0x61 by about a thousand instructions, 0x62 by a quarter of that) instead
 * of running the loop. The long one is used while this much is left at least.
 */
#define LONG_STEP_US		10

struct gem5_idle {
	struct cpuidle_driver drv;
	struct cpuidle_device dev;
	/* Ticks of the virtual counter that leaving a state takes. */
	u64 exit_ticks[CPUIDLE_STATE_MAX];
};

static u64 long_step_ticks __ro_after_init;

static __always_inline void gem5_hint_idle(unsigned long cpu, unsigned long state)
{
	register unsigned long x0 asm("x0") = HINT_VERB_IDLE_STATE;
	register unsigned long x1 asm("x1") = cpu;
	register unsigned long x2 asm("x2") = state;

	asm volatile("hint #0x60" : : "r" (x0), "r" (x1), "r" (x2) : "memory");
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

static __cpuidle int gem5_enter_idle(struct cpuidle_device *dev,
				     struct cpuidle_driver *drv, int index)
{
	struct gem5_idle *idle = container_of(drv, struct gem5_idle, drv);

	gem5_hint_idle(dev->cpu, index);
	cpu_do_idle();
	if (idle->exit_ticks[index])
		gem5_spend(idle->exit_ticks[index]);
	gem5_hint_idle(dev->cpu, HINT_IDLE_EXIT_DONE);

	return index;
}

/* The same where the device tree says that CPUs execute gem5's operations. */
static __cpuidle int gem5_enter_idle_quiesced(struct cpuidle_device *dev,
					      struct cpuidle_driver *drv, int index)
{
	struct gem5_idle *idle = container_of(drv, struct gem5_idle, drv);

	gem5_hint_idle(dev->cpu, index);
	cpu_do_idle();
	if (idle->exit_ticks[index])
		gem5_spend_quiesced(idle->exit_ticks[index]);
	gem5_hint_idle(dev->cpu, HINT_IDLE_EXIT_DONE);

	return index;
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

/*
 * Finish what dt_init_idle_driver() left: the exit latencies alone (its figure
 * is the sum of entry and exit), that the enter callback leaves it to the core
 * to tell RCU, and how the callback lets the exit latency pass.
 */
static int __init gem5_finish_states(struct gem5_idle *idle, int cpu, bool quiesce)
{
	struct device_node *cpu_node __free(device_node) = of_cpu_device_node_get(cpu);
	int i, ret, nr = 0;
	u32 us;

	for (i = 1; i < idle->drv.state_count; nr++) {
		struct device_node *state __free(device_node) =
			of_get_cpu_state_node(cpu_node, nr);

		if (!of_device_is_available(state))
			continue;

		ret = of_property_read_u32(state, "exit-latency-us", &us);
		if (ret)
			return ret;

		idle->exit_ticks[i] = div_u64((u64)us * arch_timer_get_cntfrq(), USEC_PER_SEC);
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

	return 0;
}
device_initcall(gem5_idle_init);
