// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rt-app's busy loop itself, taken from the program and called without an operating system, on all
 * CPUs: how many instructions a turn is, and how fast it runs. RTAPP is the program's file,
 * FUNCTION the loop's place in it. All clusters are at LEVEL; where there is a NEXT_LEVEL, they are
 * sent there NEXT_NS after the first CPU began, while the others are in the loop.
 */
#include "guest.h"

#ifndef LEVEL
#define LEVEL 0
#endif

#define LATENCY_AND_SOME_NS 100000ul

#define TEXT(x) #x
#define STRING(x) TEXT(x)

/* The program expects to lie at a multiple of a page; it addresses itself relatively. */
asm(".section .data.program, \"aw\"\n"
    ".balign 4096\n"
    ".global program\n"
    "program:\n"
    "	.incbin	\"" STRING(RTAPP) "\"\n"
    ".text\n");

extern char program[];

static volatile uint64_t done[N_CPUS];
static uint64_t began_ns[N_CPUS];
static uint64_t took_ns[N_CPUS];

static void work(uint64_t cpu)
{
	void (*loop)(uint64_t turns) = (void (*)(uint64_t))(program + FUNCTION);
	uint64_t before;

	/* The loop computes in floating point. */
	asm volatile("msr cpacr_el1, %0\n\tisb" : : "r"(3ul << 20));
	before = clock_ticks();
	began_ns[cpu] = ticks_to_ns(before);
	loop(TURNS);
	took_ns[cpu] = ticks_to_ns(clock_ticks() - before);
	done[cpu] = 1;
}

void secondary_main(uint64_t cpu)
{
	work(cpu);
}

static void set_levels(uint32_t level)
{
	uint32_t domains = reg_read(DVFS_NUM_DOMAINS);

	for (uint32_t domain = 0; domain < domains; domain++)
		set_level(domain, level);
}

void guest_main(void)
{
	set_levels(LEVEL);
	spin_ns(LATENCY_AND_SOME_NS);
	start_secondaries();
#ifdef NEXT_LEVEL
	spin_ns(NEXT_NS);
	set_levels(NEXT_LEVEL);
	done[0] = 1;
#else
	work(0);
#endif
	for (uint64_t cpu = 0; cpu < N_CPUS; cpu++)
		while (!done[cpu])
			asm volatile("yield");
	for (uint64_t cpu = 0; cpu < N_CPUS; cpu++) {
		out_cpu("began_ns", cpu, began_ns[cpu]);
		out_cpu("took_ns", cpu, took_ns[cpu]);
	}
	finish();
}
