/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fields of a task that only kernel/sched uses.
 *
 * They lie in task_struct::sched_private, a block without a type. So a series
 * that adds fields here has kernel/sched compiled again, not all that includes
 * <linux/sched.h>. A fork copies the block, as it copies task_struct;
 * __sched_fork() sets what the child does not inherit.
 */
#ifndef _KERNEL_SCHED_PRIVATE_H
#define _KERNEL_SCHED_PRIVATE_H

#include <linux/container_of.h>
#include <linux/sched.h>

struct task_private {
	/*
	 * Wakeups since eascope_epoch became @activations_epoch, see
	 * eascope_force.c. Protected by pi_lock.
	 */
	unsigned int		activations;
	unsigned int		activations_epoch;
};

static_assert(sizeof(struct task_private) <= sizeof_field(struct task_struct, sched_private));
static_assert(__alignof__(struct task_private) <= L1_CACHE_BYTES);

static inline struct task_private *task_private(const struct task_struct *p)
{
	return (struct task_private *)p->sched_private;
}

static inline struct task_struct *private_task(struct task_private *private)
{
	return container_of((void *)private, struct task_struct, sched_private);
}

#endif /* _KERNEL_SCHED_PRIVATE_H */
