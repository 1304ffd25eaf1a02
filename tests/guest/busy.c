// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All CPUs busy with a fixed amount of integer work, then off: the same on the fast engine and on a
 * plain QEMU, so that the two can be timed against each other.
 */
#include "guest.h"

#ifndef LOOPS
#define LOOPS 20000000ul
#endif

static volatile uint64_t done[N_CPUS];

#ifdef SHORT_BLOCKS
/* The worst case: a translation block of two instructions. */
static void work(uint64_t cpu)
{
	spin(5 * LOOPS);
	done[cpu] = 1;
}
#else
/* Ten instructions a turn: adds, a multiply, a load and a store. */
static void work(uint64_t cpu)
{
	uint64_t n = LOOPS, a = cpu, b = 3;
	uint64_t cell = 0;
	uint64_t *p = &cell;

	asm volatile("1:	add	%1, %1, %2\n"
		     "	eor	%2, %2, %1, lsl #7\n"
		     "	ldr	x9, [%3]\n"
		     "	mul	x9, x9, %1\n"
		     "	add	x9, x9, #13\n"
		     "	str	x9, [%3]\n"
		     "	lsr	x10, %2, #3\n"
		     "	eor	%1, %1, x10\n"
		     "	subs	%0, %0, #1\n"
		     "	b.ne	1b\n"
		     : "+r"(n), "+r"(a), "+r"(b), "+r"(p)
		     :
		     : "cc", "memory", "x9", "x10");
	done[cpu] = 1;
}
#endif

void secondary_main(uint64_t cpu)
{
	work(cpu);
}

void guest_main(void)
{
	start_secondaries();
	work(0);
	for (uint64_t cpu = 0; cpu < N_CPUS; cpu++)
		while (!done[cpu])
			asm volatile("yield");
	finish();
}
