/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM eascope

#if !defined(_GEM5_CPUFREQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _GEM5_CPUFREQ_TRACE_H

#include <linux/tracepoint.h>

/* A request for a perf level; it takes effect after latency_ns, unless replaced. */
TRACE_EVENT(gem5_dvfs,

	TP_PROTO(u32 domain, u32 level, u32 khz, u32 uv, u32 latency_ns),

	TP_ARGS(domain, level, khz, uv, latency_ns),

	TP_STRUCT__entry(
		__field(u32, domain)
		__field(u32, level)
		__field(u32, khz)
		__field(u32, uv)
		__field(u32, latency_ns)
	),

	TP_fast_assign(
		__entry->domain = domain;
		__entry->level = level;
		__entry->khz = khz;
		__entry->uv = uv;
		__entry->latency_ns = latency_ns;
	),

	TP_printk("domain=%u level=%u khz=%u uv=%u latency_ns=%u",
		  __entry->domain, __entry->level, __entry->khz, __entry->uv,
		  __entry->latency_ns)
);

#endif /* _GEM5_CPUFREQ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE gem5-cpufreq-trace

#include <trace/define_trace.h>
