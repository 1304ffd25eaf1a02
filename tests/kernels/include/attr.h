/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A task's attributes as the kernel has them; the C library's headers may be older. */
#ifndef ATTR_H
#define ATTR_H

#include <stdint.h>

#define FLAG_CLAMP_MIN	0x20
#define FLAG_CLAMP_MAX	0x40
#define FLAG_KEEP_ALL	0x18
#define FLAG_LATENCY_NICE	0x80

struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t clamp_min, clamp_max;
	int32_t latency_nice;	/* zero, and so is what follows, where the kernel has none */
	uint32_t reserved;
};

#endif
