// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of activations, and wakeups whose CPU is forced.
 *
 * Two runs of one experiment take the same decisions up to the first that
 * differs, and from then on all times differ. What names a decision in both
 * is the task and the number of its activation: its n-th sched_waking since
 * the counts were reset; 0 is its fork. With that, one run can be repeated
 * with one decision taken the other way.
 *
 * In /sys/kernel/debug/sched/eascope:
 *
 * activations	Any write begins to count, or resets the counts. Reads as a
 *		line for each task that has any: its pid, count and name.
 * force	A line "TASK ACTIVATION CPU" is added to the table; TASK is a
 *		pid or a name. "clear" empties the table. Reads as the lines,
 *		each followed by what became of it and by the CPU that the
 *		scheduler had chosen: "pending -1", "forced 3", or "refused 3"
 *		where the task may not run there or the CPU is offline.
 *
 * An activation that finds its task on a runqueue takes no decision, so a line
 * that names it stays pending. Nothing is forced before the counts begin; until
 * then neither costs more than a NOP at each choice of a CPU.
 */
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/mmu_context.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <trace/events/sched.h>

#include "sched.h"
#ifdef CONFIG_EASCOPE_TRACE
# include "eascope_trace_eascope.h"
#endif

#define EASCOPE_MAX_FORCED 32

enum eascope_outcome {
	EASCOPE_PENDING,
	EASCOPE_FORCED,
	EASCOPE_REFUSED,
};

static const char * const eascope_outcomes[] = {
	[EASCOPE_PENDING] = "pending",
	[EASCOPE_FORCED] = "forced",
	[EASCOPE_REFUSED] = "refused",
};

struct eascope_entry {
	u64 name[TASK_COMM_LEN / sizeof(u64)];
	pid_t pid;
	unsigned int activation;
	int cpu;
	int chosen;
	enum eascope_outcome outcome;
};

static const struct eascope_entry eascope_no_entry = {
	.pid = -1,
	.chosen = -1,
};

DEFINE_STATIC_KEY_FALSE(eascope_counting);
static unsigned int eascope_epoch;
static struct eascope_entry eascope_table[EASCOPE_MAX_FORCED];
static unsigned int eascope_nr_forced;
/* Writers of either file; who decides only reads what they have published. */
static DEFINE_MUTEX(eascope_force_mutex);

static void eascope_waking(void *data, struct task_struct *p)
{
	struct task_private *private = task_private(p);
	unsigned int epoch = READ_ONCE(eascope_epoch);

	private->activations = private->activations_epoch == epoch ? private->activations + 1 : 1;
	private->activations_epoch = epoch;
}

static unsigned int eascope_activations(struct task_struct *p)
{
	struct task_private *private = task_private(p);

	return READ_ONCE(private->activations_epoch) == READ_ONCE(eascope_epoch) ?
		READ_ONCE(private->activations) : 0;
}

/*
 * The entry that decides for @p now. All entries are looked at, without
 * branches: as long as none matches, what they hold takes no time, so that a
 * run up to its forced decision is the run without it.
 */
static struct eascope_entry *eascope_entry_of(struct task_struct *p, unsigned int activation)
{
	u64 name[TASK_COMM_LEN / sizeof(u64)];
	int i, found = -1;

	memcpy(name, p->comm, sizeof(name));
	for (i = 0; i < EASCOPE_MAX_FORCED; i++) {
		struct eascope_entry *entry = &eascope_table[i];
		u64 other = (name[0] ^ entry->name[0]) | (name[1] ^ entry->name[1]);
		bool is_task = (p->pid == entry->pid) | !other;

		found = is_task & (activation == entry->activation) ? i : found;
	}

	return found < 0 ? NULL : &eascope_table[found];
}

/* The CPU on which @p wakes up or begins; @cpu is what its class chose. */
int __eascope_decide(struct task_struct *p, int cpu)
{
	unsigned int activation = eascope_activations(p);
	struct eascope_entry *entry = eascope_entry_of(p, activation);
	int chosen = cpu;

	if (entry) {
		bool allowed = entry->cpu == cpu ||
			       (cpumask_test_cpu(entry->cpu, p->cpus_ptr) &&
				cpu_active(entry->cpu) && !is_migration_disabled(p));

		entry->chosen = chosen;
		WRITE_ONCE(entry->outcome, allowed ? EASCOPE_FORCED : EASCOPE_REFUSED);
		if (allowed) {
			eascope_count(forced);
			cpu = entry->cpu;
		} else {
			eascope_count(force_refused);
		}
	}

#ifdef CONFIG_EASCOPE_TRACE
	trace_sched_decision(p, activation, task_cpu(p), chosen, cpu);
#endif
	return cpu;
}

static int activations_show(struct seq_file *m, void *v)
{
	struct task_struct *leader, *p;

	guard(rcu)();
	for_each_process_thread(leader, p)
		if (eascope_activations(p))
			seq_printf(m, "%d %u %s\n", p->pid, eascope_activations(p), p->comm);

	return 0;
}

static ssize_t activations_write(struct file *file, const char __user *buf, size_t count,
				 loff_t *ppos)
{
	int ret;

	guard(mutex)(&eascope_force_mutex);
	if (!eascope_epoch) {
		ret = register_trace_sched_waking(eascope_waking, NULL);
		if (ret)
			return ret;
		static_branch_enable(&eascope_counting);
	}
	WRITE_ONCE(eascope_epoch, eascope_epoch + 1);

	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(activations);

static int force_show(struct seq_file *m, void *v)
{
	unsigned int i;

	guard(mutex)(&eascope_force_mutex);
	for (i = 0; i < eascope_nr_forced; i++) {
		struct eascope_entry *entry = &eascope_table[i];

		if (entry->pid >= 0)
			seq_printf(m, "%d", entry->pid);
		else
			seq_puts(m, (char *)entry->name);
		seq_printf(m, " %u %d %s %d\n", entry->activation, entry->cpu,
			   eascope_outcomes[READ_ONCE(entry->outcome)], entry->chosen);
	}

	return 0;
}

/* The last word of @line, which is cut off; NULL where it has no other. */
static char *eascope_last_word(char *line)
{
	char *space = strrchr(line, ' ');

	if (!space)
		return NULL;

	*space = '\0';
	return space + 1;
}

/* A name may have spaces, so the line is read from its end. */
static int eascope_parse(char *line, struct eascope_entry *entry)
{
	char *cpu = eascope_last_word(line);
	char *activation = cpu ? eascope_last_word(line) : NULL;
	size_t length = strlen(line);

	*entry = eascope_no_entry;
	if (!activation || kstrtouint(activation, 10, &entry->activation) ||
	    kstrtoint(cpu, 10, &entry->cpu))
		return -EINVAL;
	if (entry->cpu < 0 || entry->cpu >= nr_cpu_ids || !cpu_possible(entry->cpu))
		return -EINVAL;
	if (!kstrtoint(line, 10, &entry->pid))
		return entry->pid > 0 ? 0 : -EINVAL;
	if (!length || length >= TASK_COMM_LEN)
		return -EINVAL;
	entry->pid = -1;
	strscpy_pad((char *)entry->name, line, sizeof(entry->name));

	return 0;
}

static ssize_t force_write(struct file *file, const char __user *buf, size_t count, loff_t *ppos)
{
	struct eascope_entry entry;
	char text[64], *line;
	int ret;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = '\0';
	line = strim(text);

	guard(mutex)(&eascope_force_mutex);
	if (!strcmp(line, "clear")) {
		for (eascope_nr_forced = EASCOPE_MAX_FORCED; eascope_nr_forced; eascope_nr_forced--)
			eascope_table[eascope_nr_forced - 1] = eascope_no_entry;
		return count;
	}

	ret = eascope_parse(line, &entry);
	if (ret)
		return ret;
	if (eascope_nr_forced == EASCOPE_MAX_FORCED)
		return -ENOSPC;
	eascope_table[eascope_nr_forced++] = entry;

	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(force);

void eascope_force_init(struct dentry *dir)
{
	int i;

	for (i = 0; i < EASCOPE_MAX_FORCED; i++)
		eascope_table[i] = eascope_no_entry;
	debugfs_create_file("activations", 0644, dir, NULL, &activations_fops);
	debugfs_create_file("force", 0644, dir, NULL, &force_fops);
}
