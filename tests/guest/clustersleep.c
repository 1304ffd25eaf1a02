// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two CPUs of a cluster sleep in overlapping stretches, by a common schedule in us:
 *
 *	     0      1000     2000     4000   5000 5500  6000    8000  8500  9000
 *	CPU0 work   state 2 ................. exit work  state 1 ..... work
 *	CPU1 work            state 2 ..  exit work  state 2 ............  work
 *
 * All other CPUs are in state 2 for good. Both are in state 2 from 2000 to 4000 only.
 */
#include "guest.h"

#define EXIT_OVER (~0ul)

static volatile uint64_t begin, done;

static void work_until(uint64_t us)
{
	uint64_t until = begin + us * clock_hz() / 1000000;

	while (clock_ticks() < until)
		;
}

static void sleep_until(uint64_t cpu, uint64_t state, uint64_t us)
{
	uint64_t until = begin + us * clock_hz() / 1000000;

	message(VERB_IDLE_STATE, cpu, state, 0, 0);
	wait_for_interrupt_ns(ticks_to_ns(until - clock_ticks()));
}

static void exit_until(uint64_t cpu, uint64_t us)
{
	work_until(us);
	message(VERB_IDLE_STATE, cpu, EXIT_OVER, 0, 0);
}

void secondary_main(uint64_t cpu)
{
	if (cpu != 1) {
		message(VERB_IDLE_STATE, cpu, 2, 0, 0);
		return;
	}
	while (!begin)
		;
	work_until(2000);
	sleep_until(1, 2, 4000);
	exit_until(1, 4200);
	work_until(5500);
	sleep_until(1, 2, 8500);
	exit_until(1, 8600);
	work_until(9000);
	done = 1;
}

void guest_main(void)
{
	start_secondaries();
	/* The others have the time to get there. */
	spin_ns(200000);
	mark(MARK_START);
	begin = clock_ticks();
	work_until(1000);
	sleep_until(0, 2, 5000);
	exit_until(0, 5300);
	work_until(6000);
	sleep_until(0, 1, 8000);
	exit_until(0, 8100);
	work_until(9000);
	mark(MARK_STOP);
	while (!done)
		;
	finish();
}
