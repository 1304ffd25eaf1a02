// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/sched/eascope: which kernel this is and what it counted.
 *
 * An experiment compares kernels and switches. What it compared must not be a
 * matter of belief: "variant" says which queue of patches this kernel was
 * built from and how its switches stand, "stats" says how often the scheduler
 * took the decisions that are under test.
 */
#include <linux/debugfs.h>
#include <linux/mmu_context.h>
#include <linux/stringify.h>

#include "sched.h"

DEFINE_PER_CPU(struct eascope_counts, eascope_counts);

#define EASCOPE_COUNTER(name) #name
static const char * const eascope_counter_names[] = {
#include "eascope_counters.h"
};
#undef EASCOPE_COUNTER

/* One row for each counter, one column for each CPU, separated by single spaces. */
static int eascope_stats_show(struct seq_file *m, void *v)
{
	int cpu, i;

	seq_puts(m, "counter");
	for_each_possible_cpu(cpu)
		seq_printf(m, " cpu%d", cpu);
	seq_puts(m, "\n");

	for (i = 0; i < EASCOPE_NR_COUNTERS; i++) {
		seq_puts(m, eascope_counter_names[i]);
		for_each_possible_cpu(cpu)
			seq_printf(m, " %lu", READ_ONCE(per_cpu(eascope_counts, cpu).n[i]));
		seq_puts(m, "\n");
	}

	return 0;
}

/* Any write resets all counters. Increments that run meanwhile may survive it. */
static ssize_t eascope_stats_write(struct file *file, const char __user *buf,
			       size_t count, loff_t *ppos)
{
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < EASCOPE_NR_COUNTERS; i++)
			WRITE_ONCE(per_cpu(eascope_counts, cpu).n[i], 0);

	return count;
}

static int eascope_stats_open(struct inode *inode, struct file *file)
{
	return single_open(file, eascope_stats_show, NULL);
}

static const struct file_operations eascope_stats_fops = {
	.open		= eascope_stats_open,
	.write		= eascope_stats_write,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int variant_show(struct seq_file *m, void *v)
{
	seq_printf(m, "kernel=%s queue=%s energy_aware=%d\n", __stringify(EASCOPE_KERNEL),
		   __stringify(EASCOPE_QUEUE), sched_energy_enabled());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(variant);

void eascope_init_debugfs(struct dentry *parent)
{
	struct dentry *dir = debugfs_create_dir("eascope", parent);

	eascope_irq_init(dir);
	eascope_force_init(dir);
	debugfs_create_file("variant", 0444, dir, NULL, &variant_fops);
	debugfs_create_file("stats", 0644, dir, NULL, &eascope_stats_fops);
}
