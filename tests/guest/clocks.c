// SPDX-License-Identifier: GPL-2.0-or-later
/* Under a lock, every CPU reads the clock and compares it with the last read of any CPU. */
#include "guest.h"

#define READS 20000ul

static uint32_t lock;
static uint64_t last, backwards;
static volatile uint64_t done[N_CPUS];

static void acquire(void)
{
	uint32_t taken, one = 1;

	asm volatile("1:	ldaxr	%w0, [%1]\n"
		     "	cbnz	%w0, 1b\n"
		     "	stlxr	%w0, %w2, [%1]\n"
		     "	cbnz	%w0, 1b\n"
		     : "=&r"(taken)
		     : "r"(&lock), "r"(one)
		     : "memory");
}

static void release(void)
{
	asm volatile("stlr wzr, [%0]" : : "r"(&lock) : "memory");
}

static void compare(uint64_t cpu)
{
	for (uint64_t i = 0; i < READS; i++) {
		uint64_t now;

		acquire();
		now = clock_ticks();
		if (now < last)
			backwards++;
		last = now;
		release();
		spin(1 + (i + cpu) % 37);
	}
	done[cpu] = 1;
}

void secondary_main(uint64_t cpu)
{
	compare(cpu);
}

void guest_main(void)
{
	start_secondaries();
	compare(0);
	for (uint64_t cpu = 0; cpu < N_CPUS; cpu++)
		while (!done[cpu])
			asm volatile("yield");
	out("backwards", backwards);
	out("reads", N_CPUS * READS);
	finish();
}
