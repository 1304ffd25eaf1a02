/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Virtual time, and the work that moves it. */
#ifndef EASCOPE_VIRTUAL_TIME_H
#define EASCOPE_VIRTUAL_TIME_H

#include <stdint.h>

/*
 * Virtual time: ns since power-on, with 48 fractional bits. These are the bits of work and of a
 * cluster's period together, so work times period is a time without rounding: how work is cut into
 * slices, which differs between an elided and an executed loop, moves no time.
 */
typedef unsigned __int128 vtime;
#define VT_NEVER (~(vtime)0)
#define VT_FRACTION_BITS 48

static inline vtime vt_from_ns(uint64_t ns)
{
	return (vtime)ns << VT_FRACTION_BITS;
}

static inline uint64_t vt_to_ns(vtime t)
{
	return t >> VT_FRACTION_BITS;
}

/*
 * Work: what moves time. An instruction is this much of it; one at a pace of its own, as
 * the busy loop's are, has a weight.
 */
typedef uint64_t work;
#define WORK_BITS 16
#define ONE_INSTRUCTION ((work)1 << WORK_BITS)

/* ns per instruction. */
#define PERIOD_FRACTION_BITS (VT_FRACTION_BITS - WORK_BITS)

/*
 * What was `amount` in units of `old` is so much in units of `new`. Amounts that differ by whole
 * units are rounded alike.
 */
static inline vtime vt_rescale(vtime amount, uint64_t old, uint64_t new)
{
	return amount / old * new + amount % old * new / old;
}

static inline work work_of(uint64_t instructions)
{
	return instructions << WORK_BITS;
}

#endif
