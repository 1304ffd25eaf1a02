/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of decisions and inputs that no upstream event shows.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM eascope

#if !defined(_EASCOPE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _EASCOPE_TRACE_H

#include <linux/tracepoint.h>

#include "sched.h"

#ifndef EASCOPE_CLAMP_DEFINED
#define EASCOPE_CLAMP_DEFINED
/* An upper clamp of SCHED_CAPACITY_SCALE is none: utilization may exceed it for a while. */
static inline unsigned long eascope_clamp(unsigned long util, unsigned long uclamp_min,
				      unsigned long uclamp_max)
{
	if (uclamp_max < SCHED_CAPACITY_SCALE)
		util = min(util, uclamp_max);

	return max(util, uclamp_min);
}
#endif

/* EAS: the energy of @dst_cpu's performance domain, with @p there if dst_cpu >= 0. */
TRACE_EVENT(sched_compute_energy,

	TP_PROTO(struct task_struct *p, int dst_cpu, unsigned long energy,
		 unsigned long max_util, unsigned long busy_time),

	TP_ARGS(p, dst_cpu, energy, max_util, busy_time),

	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, dst_cpu)
		__field(unsigned long, energy)
		__field(unsigned long, max_util)
		__field(unsigned long, busy_time)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->dst_cpu = dst_cpu;
		__entry->energy = energy;
		__entry->max_util = max_util;
		__entry->busy_time = busy_time;
	),

	TP_printk("comm=%s pid=%d dst_cpu=%d energy=%lu max_util=%lu busy_time=%lu",
		  __entry->comm, __entry->pid, __entry->dst_cpu, __entry->energy,
		  __entry->max_util, __entry->busy_time)
);

/*
 * While activations are counted: the CPU on which a task wakes up or begins, the
 * number of its activation, and the CPU that its class chose. They differ where
 * the decision is forced.
 */
TRACE_EVENT(sched_decision,

	TP_PROTO(struct task_struct *p, unsigned int activation, int prev_cpu, int chosen, int cpu),

	TP_ARGS(p, activation, prev_cpu, chosen, cpu),

	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(unsigned int, activation)
		__field(int, prev_cpu)
		__field(int, chosen)
		__field(int, cpu)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->activation = activation;
		__entry->prev_cpu = prev_cpu;
		__entry->chosen = chosen;
		__entry->cpu = cpu;
	),

	TP_printk("comm=%s pid=%d activation=%u prev_cpu=%d chosen=%d cpu=%d",
		  __entry->comm, __entry->pid, __entry->activation, __entry->prev_cpu,
		  __entry->chosen, __entry->cpu)
);

/*
 * A task's utilization as it is and as its effective clamps leave it, when load
 * tracking has updated it; @est is the estimate that placement goes by.
 */
TRACE_EVENT(sched_uclamp_task,

	TP_PROTO(struct task_struct *p, int cpu, unsigned long uclamp_min,
		 unsigned long uclamp_max),

	TP_ARGS(p, cpu, uclamp_min, uclamp_max),

	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, cpu)
		__field(unsigned long, util_avg)
		__field(unsigned long, uclamp_avg)
		__field(unsigned long, uclamp_min)
		__field(unsigned long, uclamp_max)
		__field(unsigned long, est)
		__field(unsigned long, est_clamped)
		__field(long, bias)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->cpu = cpu;
		__entry->uclamp_min = uclamp_min;
		__entry->uclamp_max = uclamp_max;
		__entry->util_avg = p->se.avg.util_avg;
		__entry->uclamp_avg = eascope_clamp(__entry->util_avg, uclamp_min, uclamp_max);
		__entry->est = max_t(unsigned long, __entry->util_avg,
				     p->se.avg.util_est & ~UTIL_AVG_UNCHANGED);
		__entry->est_clamped = eascope_clamp(__entry->est, uclamp_min, uclamp_max);
		__entry->bias = (long)__entry->uclamp_avg - (long)__entry->util_avg;
	),

	TP_printk("comm=%s pid=%d cpu=%d util_avg=%lu uclamp_avg=%lu uclamp_min=%lu uclamp_max=%lu est=%lu est_clamped=%lu bias=%ld",
		  __entry->comm, __entry->pid, __entry->cpu, __entry->util_avg,
		  __entry->uclamp_avg, __entry->uclamp_min, __entry->uclamp_max,
		  __entry->est, __entry->est_clamped, __entry->bias)
);

/* The same for a CPU: its root runqueue under the maximum of its tasks' clamps. */
TRACE_EVENT(sched_uclamp_cpu,

	TP_PROTO(struct rq *rq, unsigned long uclamp_min, unsigned long uclamp_max),

	TP_ARGS(rq, uclamp_min, uclamp_max),

	TP_STRUCT__entry(
		__field(int, cpu)
		__field(unsigned long, util_avg)
		__field(unsigned long, uclamp_avg)
		__field(unsigned long, uclamp_min)
		__field(unsigned long, uclamp_max)
		__field(unsigned long, est)
	),

	TP_fast_assign(
		__entry->cpu = cpu_of(rq);
		__entry->uclamp_min = uclamp_min;
		__entry->uclamp_max = uclamp_max;
		__entry->util_avg = rq->cfs.avg.util_avg;
		__entry->uclamp_avg = eascope_clamp(__entry->util_avg, uclamp_min, uclamp_max);
		__entry->est = rq->cfs.avg.util_est;
	),

	TP_printk("cpu=%d util_avg=%lu uclamp_avg=%lu uclamp_min=%lu uclamp_max=%lu est=%lu",
		  __entry->cpu, __entry->util_avg, __entry->uclamp_avg,
		  __entry->uclamp_min, __entry->uclamp_max, __entry->est)
);

/*
 * schedutil: what a CPU asks for (@util between @min and @max, @perf with
 * headroom and clamps) and the frequency that its policy is at or goes to. When
 * the rate limit swallows the request, the figures are those of the last one.
 */
TRACE_EVENT(sched_cpufreq_req,

	TP_PROTO(unsigned int cpu, unsigned long util, unsigned long min, unsigned long max,
		 unsigned long perf, unsigned int next_freq, bool limited),

	TP_ARGS(cpu, util, min, max, perf, next_freq, limited),

	TP_STRUCT__entry(
		__field(unsigned int, cpu)
		__field(unsigned long, util)
		__field(unsigned long, min)
		__field(unsigned long, max)
		__field(unsigned long, perf)
		__field(unsigned int, next_freq)
		__field(unsigned int, limited)
	),

	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->util = util;
		__entry->min = min;
		__entry->max = max;
		__entry->perf = perf;
		__entry->next_freq = next_freq;
		__entry->limited = limited;
	),

	TP_printk("cpu=%u util=%lu min=%lu max=%lu perf=%lu next_freq=%u limited=%u",
		  __entry->cpu, __entry->util, __entry->min, __entry->max, __entry->perf,
		  __entry->next_freq, __entry->limited)
);

#endif /* _EASCOPE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../../kernel/sched
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE eascope_trace_eascope

#include <trace/define_trace.h>
