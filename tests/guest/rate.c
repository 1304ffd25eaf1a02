// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The speed of every CPU at every OPP, alone and with all CPUs busy: a loop of known length against
 * the guest's own clock. Prints millionths of an instruction per ns.
 */
#include "guest.h"

#define LOOPS 1000000ul
#define LATENCY_AND_SOME_NS 100000ul

static volatile uint64_t result[N_CPUS];
static volatile uint64_t round_asked;
static volatile uint64_t round_done[N_CPUS];
/* The CPU that measures in this round; N_CPUS: all of them. */
static volatile uint64_t who;

static void measure(uint64_t cpu)
{
	uint64_t before = clock_ticks();

	spin(LOOPS);
	result[cpu] = 2 * LOOPS * 1000000ul / ticks_to_ns(clock_ticks() - before);
}

void secondary_main(uint64_t cpu)
{
	uint64_t seen = 0;

	for (;;) {
		while (round_asked == seen)
			asm volatile("yield");
		seen = round_asked;
		if (who == cpu || who == N_CPUS)
			measure(cpu);
		round_done[cpu] = seen;
	}
}

static void measure_round(uint64_t measuring)
{
	who = measuring;
	asm volatile("dmb ish" : : : "memory");
	round_asked++;
	if (who == 0 || who == N_CPUS)
		measure(0);
	for (uint64_t cpu = 1; cpu < N_CPUS; cpu++)
		while (round_done[cpu] != round_asked)
			asm volatile("yield");
}

void guest_main(void)
{
	uint32_t domains = reg_read(DVFS_NUM_DOMAINS);
	uint32_t most = 0;

	if (reg_read(DVFS_HANDLER_STATUS) != 1)
		fail("EnergyCtrl is not there");
	start_secondaries();
	for (uint32_t d = 0; d < domains; d++) {
		reg_write(DOMAIN_ID, d);
		if (reg_read(NUM_OF_PERF_LEVELS) > most)
			most = reg_read(NUM_OF_PERF_LEVELS);
	}
	for (uint32_t level = 0; level < most; level++) {
		for (uint32_t d = 0; d < domains; d++)
			set_level(d, level);
		spin_ns(LATENCY_AND_SOME_NS);
		for (uint32_t d = 0; d < domains; d++)
			out_cpu("level", d, get_level(d));
		for (uint64_t cpu = 0; cpu < N_CPUS; cpu++) {
			measure_round(cpu);
			out_cpu("alone", cpu, result[cpu]);
		}
		measure_round(N_CPUS);
		for (uint64_t cpu = 0; cpu < N_CPUS; cpu++)
			out_cpu("busy", cpu, result[cpu]);
	}
	finish();
}
