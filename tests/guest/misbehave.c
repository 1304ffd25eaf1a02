// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests that end badly, one for each value of HOW. */
#include "guest.h"

#define UART ((volatile uint32_t *)0x09000000ul)

static void print(const char *s)
{
	while (*s)
		*UART = *s++;
}

void guest_main(void)
{
	print("hello from the guest\n");
#if HOW == 1 /* says so itself */
	fail("the agent\nis unhappy");
#elif HOW == 2 /* sleeps, and nothing will wake it */
	for (;;)
		asm volatile("wfi");
#elif HOW == 3 /* never ends */
	for (;;)
		;
#elif HOW == 4 /* panics like Linux, then spins */
	print("Kernel panic - not syncing: Attempted to kill init!\n");
	for (;;)
		;
#elif HOW == 5 /* goes off without EXIT */
	power_off();
#elif HOW == 6 /* a file outside the run's folder */
	message(VERB_WRITE_FILE, (uint64_t) "../escape", 0, (uint64_t) "x", 1);
#elif HOW == 7 /* an unknown message */
	message(77, 0, 0, 0, 0);
#elif HOW == 8 /* a register that does not exist */
	reg_write(0x40, 1);
#elif HOW == 9 /* the wrong CPU's idle state */
	message(VERB_IDLE_STATE, 3, 0, 0, 0);
#elif HOW == 10 /* too large a chunk */
	message(VERB_WRITE_FILE, (uint64_t) "large", 0, (uint64_t)UART, 2ul << 20);
#elif HOW == 11 /* one of the engine's own files */
	message(VERB_WRITE_FILE, (uint64_t) "counters.parquet", 0, (uint64_t) "x", 1);
#elif HOW == 12 /* an idle state that the platform has not got */
	message(VERB_IDLE_STATE, 0, 5, 0, 0);
#elif HOW == 13 /* ends with an error */
	message(5, 3, 0, 0, 0);
#endif
	finish();
}
