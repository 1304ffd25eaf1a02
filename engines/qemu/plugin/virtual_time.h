/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Virtual time, and the work that moves it. */
#ifndef EASCOPE_VIRTUAL_TIME_H
#define EASCOPE_VIRTUAL_TIME_H

#include <stdint.h>

/* Virtual time: ns since power-on, with 16 fractional bits (78 hours). */
typedef uint64_t vtime;
#define VT_NEVER UINT64_MAX
#define VT_FRACTION_BITS 16

static inline vtime vt_from_ns(uint64_t ns)
{
	return ns << VT_FRACTION_BITS;
}

static inline uint64_t vt_to_ns(vtime t)
{
	return t >> VT_FRACTION_BITS;
}

/*
 * Work: what moves time. An instruction is this much of it; one of the busy loop, which runs at
 * another rate, is its cluster's `loop_weight`.
 */
typedef uint64_t work;
#define WORK_BITS 16
#define ONE_INSTRUCTION ((work)1 << WORK_BITS)

static inline work work_of(uint64_t instructions)
{
	return instructions << WORK_BITS;
}

#endif
