// SPDX-License-Identifier: GPL-2.0
/*
 * A load of interrupts: timers that spend time in hard interrupt context.
 *
 * In /sys/kernel/debug/sched/eascope/interrupts, a line
 *
 *	NAME CPU PERIOD_NS WORK_NS START_NS
 *
 * adds a timer that is bound to CPU and expires every PERIOD_NS, first
 * START_NS after "start". Its handler reads the counter until WORK_NS have
 * passed, whatever the frequency. "stop" ends all timers; "clear" removes
 * them, too. Reads as the lines, each followed by how often its handler ran
 * since "start", how many ns it spent, and how many periods were missed.
 *
 * Nothing is armed before "start".
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/mmu_context.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "sched.h"

#define EASCOPE_MAX_INTERRUPTS 64
/* Turns of the loop for each read of the counter, which a simulator has to order among CPUs. */
#define EASCOPE_UNREAD 32

struct eascope_interrupt {
	struct hrtimer timer;
	char name[32];
	int cpu;
	u64 period_ns;
	u64 work_ns;
	u64 start_ns;
	ktime_t first;
	u64 count;
	u64 spent_ns;
	u64 missed;
};

static struct eascope_interrupt eascope_interrupts[EASCOPE_MAX_INTERRUPTS];
static unsigned int eascope_nr_interrupts;
static bool eascope_interrupting;
static DEFINE_MUTEX(eascope_irq_mutex);

static enum hrtimer_restart eascope_interrupt(struct hrtimer *timer)
{
	struct eascope_interrupt *irq = container_of(timer, struct eascope_interrupt, timer);
	u64 spent, start = ktime_get_ns();

	/* No cpu_relax(): it says that this CPU waits for another one, and a simulator lets it. */
	while ((spent = ktime_get_ns() - start) < irq->work_ns)
		for (int i = 0; i < EASCOPE_UNREAD; i++)
			barrier();

	WRITE_ONCE(irq->count, irq->count + 1);
	WRITE_ONCE(irq->spent_ns, irq->spent_ns + spent);
	WRITE_ONCE(irq->missed, irq->missed +
		   hrtimer_forward_now(timer, ns_to_ktime(irq->period_ns)) - 1);

	return HRTIMER_RESTART;
}

/* On the timer's CPU: that is what binds it. */
static void eascope_arm(void *data)
{
	struct eascope_interrupt *irq = data;

	hrtimer_start(&irq->timer, irq->first, HRTIMER_MODE_ABS_PINNED_HARD);
}

static void eascope_stop_interrupts(void)
{
	unsigned int i;

	for (i = 0; eascope_interrupting && i < eascope_nr_interrupts; i++)
		hrtimer_cancel(&eascope_interrupts[i].timer);
	eascope_interrupting = false;
}

static int eascope_start_interrupts(void)
{
	ktime_t now = ktime_get();
	unsigned int i;
	int ret;

	eascope_stop_interrupts();
	eascope_interrupting = true;
	for (i = 0; i < eascope_nr_interrupts; i++) {
		struct eascope_interrupt *irq = &eascope_interrupts[i];

		irq->count = 0;
		irq->spent_ns = 0;
		irq->missed = 0;
		irq->first = ktime_add_ns(now, irq->start_ns);
		ret = smp_call_function_single(irq->cpu, eascope_arm, irq, true);
		if (ret) {
			eascope_stop_interrupts();
			return ret;
		}
	}

	return 0;
}

static int eascope_add_interrupt(const char *line)
{
	struct eascope_interrupt *irq = &eascope_interrupts[eascope_nr_interrupts];
	int end = 0;

	if (eascope_interrupting)
		return -EBUSY;
	if (eascope_nr_interrupts == EASCOPE_MAX_INTERRUPTS)
		return -ENOSPC;
	if (sscanf(line, "%31s %d %llu %llu %llu%n", irq->name, &irq->cpu, &irq->period_ns,
		   &irq->work_ns, &irq->start_ns, &end) != 5 || line[end])
		return -EINVAL;
	if (irq->cpu < 0 || irq->cpu >= nr_cpu_ids || !cpu_online(irq->cpu) ||
	    !irq->work_ns || irq->work_ns >= irq->period_ns)
		return -EINVAL;

#ifdef EASCOPE_HRTIMER_INIT
	hrtimer_init(&irq->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	irq->timer.function = eascope_interrupt;
#else
	hrtimer_setup(&irq->timer, eascope_interrupt, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
#endif
	eascope_nr_interrupts++;

	return 0;
}

static int interrupts_show(struct seq_file *m, void *v)
{
	unsigned int i;

	guard(mutex)(&eascope_irq_mutex);
	for (i = 0; i < eascope_nr_interrupts; i++) {
		struct eascope_interrupt *irq = &eascope_interrupts[i];

		seq_printf(m, "%s %d %llu %llu %llu %llu %llu %llu\n", irq->name, irq->cpu,
			   irq->period_ns, irq->work_ns, irq->start_ns, READ_ONCE(irq->count),
			   READ_ONCE(irq->spent_ns), READ_ONCE(irq->missed));
	}

	return 0;
}

static ssize_t interrupts_write(struct file *file, const char __user *buf, size_t count,
				loff_t *ppos)
{
	char text[128], *line;
	int ret = 0;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = '\0';
	line = strim(text);

	guard(cpus_read_lock)();
	guard(mutex)(&eascope_irq_mutex);
	if (!strcmp(line, "start")) {
		ret = eascope_start_interrupts();
	} else if (!strcmp(line, "stop")) {
		eascope_stop_interrupts();
	} else if (!strcmp(line, "clear")) {
		eascope_stop_interrupts();
		eascope_nr_interrupts = 0;
	} else {
		ret = eascope_add_interrupt(line);
	}

	return ret ?: count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(interrupts);

void eascope_irq_init(struct dentry *dir)
{
	debugfs_create_file("interrupts", 0644, dir, NULL, &interrupts_fops);
}
