/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As in the kernel's sched/types.h, which has it in no header of the C library. A kernel without
 * latency_nice has a struct that ends before it.
 */
#ifndef EASCOPE_ATTRIBUTES_H
#define EASCOPE_ATTRIBUTES_H

#include <stdint.h>

struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
	int32_t latency_nice;
	uint32_t reserved;
};

#define KEEP_ALL	0x18
#define CLAMP_MIN	0x20
#define CLAMP_MAX	0x40
#define LATENCY_NICE	0x80

#endif
