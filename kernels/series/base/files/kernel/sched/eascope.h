/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What experiments with the scheduler read: counters, and what this kernel is.
 */
#ifndef _KERNEL_SCHED_EASCOPE_H
#define _KERNEL_SCHED_EASCOPE_H

#include <linux/jump_label.h>
#include <linux/percpu.h>

struct dentry;
struct task_struct;

#define EASCOPE_COUNTER(name) EASCOPE_##name
enum eascope_counter {
#include "eascope_counters.h"
	EASCOPE_NR_COUNTERS,
};
#undef EASCOPE_COUNTER

#ifdef CONFIG_EASCOPE

struct eascope_counts {
	unsigned long n[EASCOPE_NR_COUNTERS];
};

DECLARE_PER_CPU(struct eascope_counts, eascope_counts);

static __always_inline void __eascope_count(enum eascope_counter counter)
{
	this_cpu_inc(eascope_counts.n[counter]);
}

void eascope_init_debugfs(struct dentry *parent);
void eascope_force_init(struct dentry *dir);
void eascope_irq_init(struct dentry *dir);

/* On once activations are counted: */
DECLARE_STATIC_KEY_FALSE(eascope_counting);
int __eascope_decide(struct task_struct *p, int cpu);

static __always_inline int eascope_decide(struct task_struct *p, int cpu)
{
	if (static_branch_unlikely(&eascope_counting))
		cpu = __eascope_decide(p, cpu);

	return cpu;
}

#else /* !CONFIG_EASCOPE */

static __always_inline void __eascope_count(enum eascope_counter counter) { }

static inline void eascope_init_debugfs(struct dentry *parent) { }

static inline int eascope_decide(struct task_struct *p, int cpu)
{
	return cpu;
}

#endif /* CONFIG_EASCOPE */

/* Count one @name on the CPU that runs this. */
#define eascope_count(name) __eascope_count(EASCOPE_##name)

#ifdef CONFIG_EASCOPE_TRACE
void eascope_trace_init(void);
#else
static inline void eascope_trace_init(void) { }
#endif

#endif /* _KERNEL_SCHED_EASCOPE_H */
