/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for the scheduler's bare tracepoints, with the names and fields that
 * LISA's analyses look for.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lisa

#if !defined(_LAB_TRACE_LISA_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LAB_TRACE_LISA_H

#include <linux/tracepoint.h>

#include "sched.h"

#ifndef EASCOPE_PATH_LEN
#define EASCOPE_PATH_LEN	64
/* Hexadecimal digits of a CPU mask, a comma after each eight, and the end. */
#define EASCOPE_SPAN_LEN	(DIV_ROUND_UP(NR_CPUS, 4) + DIV_ROUND_UP(NR_CPUS, 32) + 1)

void eascope_cfs_rq_path(struct cfs_rq *cfs_rq, char *path, int len);
#endif

TRACE_EVENT(lisa__sched_pelt_cfs,

	TP_PROTO(struct cfs_rq *cfs_rq),

	TP_ARGS(cfs_rq),

	TP_STRUCT__entry(
		__field(int, cpu)
		__array(char, path, EASCOPE_PATH_LEN)
		__field(unsigned long, load)
		__field(unsigned long, runnable)
		__field(unsigned long, util)
		__field(unsigned long long, update_time)
	),

	TP_fast_assign(
		__entry->cpu = cpu_of(rq_of(cfs_rq));
		eascope_cfs_rq_path(cfs_rq, __entry->path, EASCOPE_PATH_LEN);
		__entry->load = cfs_rq->avg.load_avg;
		__entry->runnable = cfs_rq->avg.runnable_avg;
		__entry->util = cfs_rq->avg.util_avg;
		__entry->update_time = cfs_rq->avg.last_update_time;
	),

	TP_printk("cpu=%d path=%s load=%lu util=%lu update_time=%llu runnable=%lu",
		  __entry->cpu, __entry->path, __entry->load, __entry->util,
		  __entry->update_time, __entry->runnable)
);

TRACE_EVENT(lisa__sched_pelt_se,

	TP_PROTO(struct sched_entity *se),

	TP_ARGS(se),

	TP_STRUCT__entry(
		__field(int, cpu)
		__array(char, path, EASCOPE_PATH_LEN)
		__array(char, comm, TASK_COMM_LEN)
		__field(int, pid)
		__field(unsigned long, load)
		__field(unsigned long, runnable)
		__field(unsigned long, util)
		__field(unsigned long long, update_time)
	),

	/* A task has a name and no path, a group a path and no name. */
	TP_fast_assign(
		__entry->cpu = cpu_of(rq_of(cfs_rq_of(se)));
		eascope_cfs_rq_path(group_cfs_rq(se), __entry->path, EASCOPE_PATH_LEN);
		strscpy(__entry->comm, entity_is_task(se) ? task_of(se)->comm : "(null)",
			TASK_COMM_LEN);
		__entry->pid = entity_is_task(se) ? task_of(se)->pid : -1;
		__entry->load = se->avg.load_avg;
		__entry->runnable = se->avg.runnable_avg;
		__entry->util = se->avg.util_avg;
		__entry->update_time = se->avg.last_update_time;
	),

	TP_printk("cpu=%d path=%s comm=%s pid=%d load=%lu util=%lu update_time=%llu runnable=%lu",
		  __entry->cpu, __entry->path, __entry->comm, __entry->pid, __entry->load,
		  __entry->util, __entry->update_time, __entry->runnable)
);

DECLARE_EVENT_CLASS(lisa__sched_pelt_rq,

	TP_PROTO(int cpu, const struct sched_avg *avg),

	TP_ARGS(cpu, avg),

	TP_STRUCT__entry(
		__field(int, cpu)
		__field(unsigned long, load)
		__field(unsigned long, runnable)
		__field(unsigned long, util)
		__field(unsigned long long, update_time)
	),

	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->load = avg->load_avg;
		__entry->runnable = avg->runnable_avg;
		__entry->util = avg->util_avg;
		__entry->update_time = avg->last_update_time;
	),

	TP_printk("cpu=%d load=%lu util=%lu update_time=%llu runnable=%lu", __entry->cpu,
		  __entry->load, __entry->util, __entry->update_time, __entry->runnable)
);

DEFINE_EVENT(lisa__sched_pelt_rq, lisa__sched_pelt_rt,
	TP_PROTO(int cpu, const struct sched_avg *avg),
	TP_ARGS(cpu, avg));

DEFINE_EVENT(lisa__sched_pelt_rq, lisa__sched_pelt_dl,
	TP_PROTO(int cpu, const struct sched_avg *avg),
	TP_ARGS(cpu, avg));

#ifdef CONFIG_HAVE_SCHED_AVG_IRQ
DEFINE_EVENT(lisa__sched_pelt_rq, lisa__sched_pelt_irq,
	TP_PROTO(int cpu, const struct sched_avg *avg),
	TP_ARGS(cpu, avg));
#endif

/* 6.12 keeps one figure where LISA knows two: enqueued and ewma are the same. */
TRACE_EVENT(lisa__sched_util_est_se,

	TP_PROTO(struct sched_entity *se),

	TP_ARGS(se),

	TP_STRUCT__entry(
		__field(int, cpu)
		__array(char, path, EASCOPE_PATH_LEN)
		__array(char, comm, TASK_COMM_LEN)
		__field(int, pid)
		__field(unsigned int, enqueued)
		__field(unsigned int, ewma)
		__field(unsigned long, util)
	),

	TP_fast_assign(
		__entry->cpu = cpu_of(rq_of(cfs_rq_of(se)));
		eascope_cfs_rq_path(group_cfs_rq(se), __entry->path, EASCOPE_PATH_LEN);
		strscpy(__entry->comm, entity_is_task(se) ? task_of(se)->comm : "(null)",
			TASK_COMM_LEN);
		__entry->pid = entity_is_task(se) ? task_of(se)->pid : -1;
		__entry->enqueued = se->avg.util_est & ~UTIL_AVG_UNCHANGED;
		__entry->ewma = __entry->enqueued;
		__entry->util = se->avg.util_avg;
	),

	TP_printk("cpu=%d path=%s comm=%s pid=%d enqueued=%u ewma=%u util=%lu",
		  __entry->cpu, __entry->path, __entry->comm, __entry->pid,
		  __entry->enqueued, __entry->ewma, __entry->util)
);

TRACE_EVENT(lisa__sched_util_est_cfs,

	TP_PROTO(struct cfs_rq *cfs_rq),

	TP_ARGS(cfs_rq),

	TP_STRUCT__entry(
		__field(int, cpu)
		__array(char, path, EASCOPE_PATH_LEN)
		__field(unsigned int, enqueued)
		__field(unsigned int, ewma)
		__field(unsigned long, util)
	),

	TP_fast_assign(
		__entry->cpu = cpu_of(rq_of(cfs_rq));
		eascope_cfs_rq_path(cfs_rq, __entry->path, EASCOPE_PATH_LEN);
		__entry->enqueued = cfs_rq->avg.util_est;
		__entry->ewma = __entry->enqueued;
		__entry->util = cfs_rq->avg.util_avg;
	),

	TP_printk("cpu=%d path=%s enqueued=%u ewma=%u util=%lu", __entry->cpu,
		  __entry->path, __entry->enqueued, __entry->ewma, __entry->util)
);

TRACE_EVENT(lisa__sched_overutilized,

	TP_PROTO(struct root_domain *rd, bool overutilized),

	TP_ARGS(rd, overutilized),

	TP_STRUCT__entry(
		__field(int, overutilized)
		__array(char, span, EASCOPE_SPAN_LEN)
	),

	TP_fast_assign(
		__entry->overutilized = overutilized;
		scnprintf(__entry->span, EASCOPE_SPAN_LEN, "%*pb", cpumask_pr_args(rd->span));
	),

	TP_printk("overutilized=%d span=0x%s", __entry->overutilized, __entry->span)
);

TRACE_EVENT(lisa__sched_update_nr_running,

	TP_PROTO(struct rq *rq, int change),

	TP_ARGS(rq, change),

	TP_STRUCT__entry(
		__field(int, cpu)
		__field(int, change)
		__field(unsigned int, nr_running)
	),

	TP_fast_assign(
		__entry->cpu = cpu_of(rq);
		__entry->change = change;
		__entry->nr_running = rq->nr_running;
	),

	TP_printk("cpu=%d change=%d nr_running=%u", __entry->cpu, __entry->change,
		  __entry->nr_running)
);

TRACE_EVENT(lisa__sched_cpu_capacity,

	TP_PROTO(struct rq *rq),

	TP_ARGS(rq),

	TP_STRUCT__entry(
		__field(int, cpu)
		__field(unsigned long, capacity)
		__field(unsigned long, capacity_orig)
		__field(unsigned long, capacity_curr)
	),

	TP_fast_assign(
		__entry->cpu = cpu_of(rq);
		__entry->capacity = rq->cpu_capacity;
		__entry->capacity_orig = arch_scale_cpu_capacity(__entry->cpu);
		__entry->capacity_curr = cap_scale(__entry->capacity_orig,
						   arch_scale_freq_capacity(__entry->cpu));
	),

	TP_printk("cpu=%d capacity=%lu capacity_orig=%lu capacity_curr=%lu", __entry->cpu,
		  __entry->capacity, __entry->capacity_orig, __entry->capacity_curr)
);

#endif /* _LAB_TRACE_LISA_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../../kernel/sched
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE eascope_trace_lisa

#include <trace/define_trace.h>
