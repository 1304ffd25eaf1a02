// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A window with known parts: work, entry into state 1, an idle period there, its exit work, work, a
 * plain WFI, entry and exit that a pending interrupt leaves nothing between, and an OPP change of
 * this cluster in the middle of work.
 */
#include "guest.h"

#define EXIT_BEGINS (~1ul)
#define EXIT_OVER (~0ul)

#define WORK_NS 1000000ul
#define IDLE_NS 2000000ul
#define ENTRY_NS 40000ul
#define EXIT_NS 300000ul
#define PLAIN_WFI_NS 500000ul

void guest_main(void)
{
	mark(MARK_START);
	spin_ns(WORK_NS);

	message(VERB_IDLE_STATE, 0, 1, ENTRY_NS, 0);
	spin_ns(ENTRY_NS);
	out("slept_ns", wait_for_interrupt_ns(IDLE_NS));
	message(VERB_IDLE_STATE, 0, EXIT_BEGINS, EXIT_NS, 0);
	spin_ns(EXIT_NS);
	message(VERB_IDLE_STATE, 0, EXIT_OVER, 0, 0);

	spin_ns(WORK_NS);
	out("slept_plain_ns", wait_for_interrupt_ns(PLAIN_WFI_NS));

	message(VERB_IDLE_STATE, 0, 2, ENTRY_NS, 0);
	spin_ns(ENTRY_NS);
	message(VERB_IDLE_STATE, 0, EXIT_BEGINS, EXIT_NS, 0);
	spin_ns(EXIT_NS);
	message(VERB_IDLE_STATE, 0, EXIT_OVER, 0, 0);

	set_level(0, 1);
	spin_ns(WORK_NS);
	mark(MARK_STOP);
	finish();
}
