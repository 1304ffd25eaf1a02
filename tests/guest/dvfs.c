// SPDX-License-Identifier: GPL-2.0-or-later
/* EnergyCtrl's registers and the rules of a transition, seen from a CPU of the other cluster. */
#include "guest.h"

#define OTHER 1
#define HALF_LATENCY_NS 10000ul
#define LONG_NS 100000ul

static uint32_t levels_seen;

/* Wait until the level of the other domain is no longer `old`; ns since `since`. */
static uint64_t wait_for_change(uint32_t old, uint64_t since)
{
	uint32_t level;

	do {
		level = get_level(OTHER);
		levels_seen |= 1u << level;
	} while (level == old && ticks_to_ns(clock_ticks() - since) < 10 * LONG_NS);
	return ticks_to_ns(clock_ticks() - since);
}

static void describe(void)
{
	out("status", reg_read(DVFS_HANDLER_STATUS));
	out("domains", reg_read(DVFS_NUM_DOMAINS));
	out("latency_ns", reg_read(DVFS_HANDLER_TRANS_LATENCY));
	for (uint32_t d = 0; d < reg_read(DVFS_NUM_DOMAINS); d++) {
		reg_write(DVFS_DOMAINID_AT_INDEX, d);
		out_cpu("id", d, reg_read(DVFS_DOMAINID_AT_INDEX));
		reg_write(DOMAIN_ID, d);
		out_cpu("levels", d, reg_read(NUM_OF_PERF_LEVELS));
		out_cpu("first_level", d, reg_read(PERF_LEVEL));
		for (uint32_t l = 0; l <= reg_read(NUM_OF_PERF_LEVELS); l++) {
			reg_write(PERF_LEVEL_TO_READ, l);
			out_cpu(d ? "khz1" : "khz0", l, reg_read(FREQ_AT_PERF_LEVEL));
			out_cpu(d ? "uv1" : "uv0", l, reg_read(VOLT_AT_PERF_LEVEL));
		}
	}
}

void guest_main(void)
{
	uint64_t since;

	describe();

	/* A plain request. */
	since = clock_ticks();
	set_level(OTHER, 2);
	out("old_level_reads_back", get_level(OTHER));
	out("plain_ns", wait_for_change(0, since));
	out("plain_level", get_level(OTHER));
	out("ack", reg_read(PERF_LEVEL_ACK));
	out("ack_again", reg_read(PERF_LEVEL_ACK));

	/* One in flight is replaced, and the latency starts again. */
	levels_seen = 0;
	since = clock_ticks();
	set_level(OTHER, 1);
	spin_ns(HALF_LATENCY_NS);
	set_level(OTHER, 0);
	out("replaced_ns", wait_for_change(2, since));
	out("replaced_level", get_level(OTHER));
	out("replaced_seen", levels_seen);
	(void)reg_read(PERF_LEVEL_ACK);

	/* A request for the level that is set cancels one in flight. */
	set_level(OTHER, 2);
	(void)reg_read(PERF_LEVEL_ACK);
	spin_ns(HALF_LATENCY_NS);
	set_level(OTHER, 0);
	out("cancel_ack", reg_read(PERF_LEVEL_ACK));
	spin_ns(LONG_NS);
	out("cancelled_level", get_level(OTHER));

	/* No such level, no such domain: ignored. */
	set_level(OTHER, 99);
	spin_ns(LONG_NS);
	out("invalid_level", get_level(OTHER));
	reg_write(DOMAIN_ID, 7);
	out("domain_stays", reg_read(DOMAIN_ID));
	finish();
}
