// SPDX-License-Identifier: GPL-2.0
/*
 * Trace events for the scheduler's bare tracepoints.
 *
 * The scheduler has tracepoints for its signals that no file of tracefs shows;
 * whoever wants them loads a module that turns them into events. This is the
 * built-in form. An event is attached to its bare tracepoint while it is
 * enabled and only then, so a disabled one costs nothing at all.
 *
 * The attaching is done in the event's own registration callback. That of
 * TRACE_EVENT_FN() would not do: it runs with the tracepoints' mutex held,
 * which registering a probe takes.
 */
#include <linux/mmu_context.h>

#include "sched.h"
#include "autogroup.h"

#define CREATE_TRACE_POINTS
#include "eascope_trace_lisa.h"
#include "eascope_trace_eascope.h"

void eascope_cfs_rq_path(struct cfs_rq *cfs_rq, char *path, int len)
{
#ifdef CONFIG_FAIR_GROUP_SCHED
	if (cfs_rq) {
		if (!autogroup_path(cfs_rq->tg, path, len))
			cgroup_path(cfs_rq->tg->css.cgroup, path, len);
		return;
	}
#endif
	strscpy(path, cfs_rq ? "/" : "(null)", len);
}

static void eascope_pelt_cfs(void *data, struct cfs_rq *cfs_rq)
{
	trace_lisa__sched_pelt_cfs(cfs_rq);
}

static void eascope_pelt_se(void *data, struct sched_entity *se)
{
	trace_lisa__sched_pelt_se(se);
}

static void eascope_pelt_rt(void *data, struct rq *rq)
{
	trace_lisa__sched_pelt_rt(cpu_of(rq), &rq->avg_rt);
}

static void eascope_pelt_dl(void *data, struct rq *rq)
{
	trace_lisa__sched_pelt_dl(cpu_of(rq), &rq->avg_dl);
}

#ifdef CONFIG_HAVE_SCHED_AVG_IRQ
static void eascope_pelt_irq(void *data, struct rq *rq)
{
	trace_lisa__sched_pelt_irq(cpu_of(rq), &rq->avg_irq);
}
#endif

static void eascope_util_est_se(void *data, struct sched_entity *se)
{
	trace_lisa__sched_util_est_se(se);
}

static void eascope_util_est_cfs(void *data, struct cfs_rq *cfs_rq)
{
	trace_lisa__sched_util_est_cfs(cfs_rq);
}

static void eascope_overutilized(void *data, struct root_domain *rd, bool overutilized)
{
	trace_lisa__sched_overutilized(rd, overutilized);
}

static void eascope_update_nr_running(void *data, struct rq *rq, int change)
{
	trace_lisa__sched_update_nr_running(rq, change);
}

static void eascope_cpu_capacity(void *data, struct rq *rq)
{
	trace_lisa__sched_cpu_capacity(rq);
}

static void eascope_compute_energy(void *data, struct task_struct *p, int dst_cpu,
			       unsigned long energy, unsigned long max_util,
			       unsigned long busy_time)
{
	trace_sched_compute_energy(p, dst_cpu, energy, max_util, busy_time);
}

static void eascope_uclamp_task(void *data, struct sched_entity *se)
{
	struct task_struct *p;

	if (!entity_is_task(se))
		return;

	p = task_of(se);
	trace_sched_uclamp_task(p, cpu_of(rq_of(cfs_rq_of(se))), uclamp_eff_value(p, UCLAMP_MIN),
				uclamp_eff_value(p, UCLAMP_MAX));
}

static void eascope_uclamp_cpu(void *data, struct cfs_rq *cfs_rq)
{
	struct rq *rq = rq_of(cfs_rq);

	if (cfs_rq == &rq->cfs)
		trace_sched_uclamp_cpu(rq, uclamp_rq_get(rq, UCLAMP_MIN),
				       uclamp_rq_get(rq, UCLAMP_MAX));
}

struct eascope_hook {
	struct trace_event_call *call;
	struct tracepoint *tp;
	void *probe;
	/* Instances of tracefs, and perf, that have the event enabled. */
	int users;
};

#define EASCOPE_HOOK(event, name) \
	{ .call = &event_##event, .tp = &__tracepoint_##name##_tp, .probe = eascope_##name }
#define EASCOPE_SCHED_HOOK(event, name) \
	{ .call = &event_##event, .tp = &__tracepoint_sched_##name##_tp, .probe = eascope_##name }

static struct eascope_hook eascope_hooks[] = {
	EASCOPE_HOOK(lisa__sched_pelt_cfs, pelt_cfs),
	EASCOPE_HOOK(lisa__sched_pelt_se, pelt_se),
	EASCOPE_HOOK(lisa__sched_pelt_rt, pelt_rt),
	EASCOPE_HOOK(lisa__sched_pelt_dl, pelt_dl),
#ifdef CONFIG_HAVE_SCHED_AVG_IRQ
	EASCOPE_HOOK(lisa__sched_pelt_irq, pelt_irq),
#endif
	EASCOPE_SCHED_HOOK(lisa__sched_util_est_se, util_est_se),
	EASCOPE_SCHED_HOOK(lisa__sched_util_est_cfs, util_est_cfs),
	EASCOPE_SCHED_HOOK(lisa__sched_overutilized, overutilized),
	EASCOPE_SCHED_HOOK(lisa__sched_update_nr_running, update_nr_running),
	EASCOPE_SCHED_HOOK(lisa__sched_cpu_capacity, cpu_capacity),
	EASCOPE_SCHED_HOOK(sched_compute_energy, compute_energy),
	{
		.call = &event_sched_uclamp_task,
		.tp = &__tracepoint_pelt_se_tp,
		.probe = eascope_uclamp_task,
	},
	{
		.call = &event_sched_uclamp_cpu,
		.tp = &__tracepoint_pelt_cfs_tp,
		.probe = eascope_uclamp_cpu,
	},
};

static struct eascope_hook *eascope_find_hook(struct trace_event_call *call)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(eascope_hooks); i++)
		if (eascope_hooks[i].call == call)
			return &eascope_hooks[i];

	return NULL;
}

/* Called with event_mutex held, which also guards the users. */
static int eascope_event_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	struct eascope_hook *hook = eascope_find_hook(call);
	bool get = type == TRACE_REG_REGISTER;
	bool put = type == TRACE_REG_UNREGISTER;
	int ret;

#ifdef CONFIG_PERF_EVENTS
	get |= type == TRACE_REG_PERF_REGISTER;
	put |= type == TRACE_REG_PERF_UNREGISTER;
#endif

	if (WARN_ON_ONCE(!hook))
		return -EINVAL;

	ret = trace_event_reg(call, type, data);
	if (ret)
		return ret;

	if (get && !hook->users++) {
		ret = tracepoint_probe_register(hook->tp, hook->probe, NULL);
		if (ret) {
			hook->users--;
			trace_event_reg(call, type + (TRACE_REG_UNREGISTER - TRACE_REG_REGISTER),
					data);
		}
	} else if (put && !--hook->users) {
		tracepoint_probe_unregister(hook->tp, hook->probe, NULL);
	}

	return ret;
}

/* Before events can be enabled, be it by the kernel's command line. */
void __init eascope_trace_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(eascope_hooks); i++)
		eascope_hooks[i].call->class->reg = eascope_event_reg;
}
