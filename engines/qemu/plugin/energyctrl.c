// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DVFS as gem5 has it: the registers of its EnergyCtrl device and the rules of its DVFSHandler.
 *
 * One driver in the guest serves both engines, so what counts is gem5's behaviour: level 0 is the
 * fastest and the one at power-on; a level takes effect one transition latency after it was asked
 * for; until then the old one is read back; a new request replaces one in flight and starts the
 * latency again; a request for the level that is set now only cancels what is in flight. The
 * acknowledge flag is one for all domains and need not be read. Domain ids are cluster numbers.
 *
 * What gem5 has not: a package with a power budget (budget.c) grants no level above a limit that
 * moves with the number of CPUs that are on. A request for a faster one is carried out at the limit,
 * and again whenever that moves. PERF_LEVEL reads the level that is in force, as ever.
 */
#include "energyctrl.h"

#include "clock.h"
#include "counters.h"
#include "debt.h"
#include "machine.h"
#include "qemu_internals.h"
#include "report.h"
#include "slices.h"
#include "rotation.h"
#include "vcpu.h"
#include "virtual_time.h"

#define ENERGYCTRL_SIZE 0x1000
#define NS_PER_S 1000000000ull

enum energyctrl_register {
	DVFS_HANDLER_STATUS = 0x00,
	DVFS_NUM_DOMAINS = 0x04,
	DVFS_DOMAINID_AT_INDEX = 0x08,
	DVFS_HANDLER_TRANS_LATENCY = 0x0c,
	DOMAIN_ID = 0x10,
	PERF_LEVEL = 0x14,
	PERF_LEVEL_ACK = 0x18,
	NUM_OF_PERF_LEVELS = 0x1c,
	PERF_LEVEL_TO_READ = 0x20,
	FREQ_AT_PERF_LEVEL = 0x24,
	VOLT_AT_PERF_LEVEL = 0x28,
	/* Ours, on a package with a budget: the fastest level that it grants the domain now. */
	PERF_LEVEL_GRANTED = 0x2c,
};

/* The selectors are one set for the whole machine; the guest's driver holds a lock. */
static struct {
	uint32_t domain_index;
	uint32_t domain;
	uint32_t level_to_read;
	bool acknowledged;
} device;

/* What the cluster gets of what it was asked for. */
static unsigned int target(const struct cluster *cluster)
{
	return cluster->requested_level > cluster->granted_level ? cluster->requested_level :
								   cluster->granted_level;
}

/* Begin the transition to what the cluster gets; true: there is one to begin. */
static bool begin_transition(struct cluster *cluster)
{
	cluster->completes_at = VT_NEVER;
	if (target(cluster) == cluster->level)
		return false;
	cluster->wanted_level = target(cluster);
	cluster->completes_at = clock_now() + vt_from_ns(config.transition_latency_ns);
	/* Whoever runs now must not run past the change. */
	for (unsigned int i = 0; i < config.n_cpus; i++)
		slices_cut(&vcpus[i]);
	return true;
}

static void request(struct cluster *cluster, uint32_t level)
{
	if (level >= cluster->n_opps)
		return; /* gem5 warns and ignores it */
	cluster->requests++;
	cluster->requested_level = level;
	if (begin_transition(cluster))
		device.acknowledged = true;
}

/* From now on no level faster than `level` is granted. A transition that this leaves alone goes on. */
void energyctrl_grant(struct cluster *cluster, unsigned int level)
{
	bool in_flight = cluster->completes_at != VT_NEVER;

	cluster->granted_level = level;
	if (target(cluster) != (in_flight ? cluster->wanted_level : cluster->level))
		begin_transition(cluster);
}

static uint64_t read_register(void *opaque, uint64_t offset, unsigned int size)
{
	const struct cluster *cluster = &clusters[device.domain];
	bool level_known = device.level_to_read < cluster->n_opps;
	bool was_acknowledged;

	(void)opaque;
	(void)size;
	switch (offset) {
	case DVFS_HANDLER_STATUS:
		return 1;
	case DVFS_NUM_DOMAINS:
		return config.n_clusters;
	case DVFS_DOMAINID_AT_INDEX:
		return device.domain_index;
	case DVFS_HANDLER_TRANS_LATENCY:
		return config.transition_latency_ns;
	case DOMAIN_ID:
		return device.domain;
	case PERF_LEVEL:
		return cluster->level;
	case PERF_LEVEL_ACK:
		was_acknowledged = device.acknowledged;
		device.acknowledged = false;
		return was_acknowledged;
	case NUM_OF_PERF_LEVELS:
		return cluster->n_opps;
	case FREQ_AT_PERF_LEVEL:
		return level_known ? cluster->opps[device.level_to_read].khz : 0;
	case VOLT_AT_PERF_LEVEL:
		return level_known ? cluster->opps[device.level_to_read].uv : 0;
	case PERF_LEVEL_GRANTED:
		if (config.n_budget_steps)
			return cluster->granted_level;
		break;
	}
	report_end("fail", "the guest reads EnergyCtrl at offset 0x%lx, where there is no register",
		   (unsigned long)offset);
}

static void write_register(void *opaque, uint64_t offset, uint64_t value, unsigned int size)
{
	(void)opaque;
	(void)size;
	switch (offset) {
	case DVFS_DOMAINID_AT_INDEX:
		if (value >= config.n_clusters)
			report_end("fail", "the guest asks EnergyCtrl for domain index %lu of %u",
				   (unsigned long)value, config.n_clusters);
		device.domain_index = value;
		return;
	case DOMAIN_ID:
		if (value < config.n_clusters)
			device.domain = value;
		return;
	case PERF_LEVEL:
		request(&clusters[device.domain], value);
		return;
	case PERF_LEVEL_TO_READ:
		device.level_to_read = value;
		return;
	}
	report_end("fail", "the guest writes EnergyCtrl at offset 0x%lx, where it may not",
		   (unsigned long)offset);
}

/* A cluster's rate from `at` on. Nobody holds a grant, and no time before `at` is to come. */
static void set_level(struct cluster *cluster, unsigned int level, vtime at)
{
	const struct opp *old_opp = &cluster->opps[cluster->level], *new_opp = &cluster->opps[level];
	uint64_t old_period = cluster->period;

	cluster->level = level;
	cluster->period = ((unsigned __int128)NS_PER_S << PERIOD_FRACTION_BITS) /
			  new_opp->instructions_per_s;
	/*
	 * A vCPU may be ahead of `at`: what it has executed beyond `at` took place at the new rate.
	 * What it has waited beyond `at`, for an idle state's exit or another vCPU, took no longer.
	 */
	for (unsigned int i = 0; i < config.n_cpus; i++) {
		struct vcpu *vcpu = &vcpus[i];
		vtime from = vcpu->waited_until > at ? vcpu->waited_until : at;
		uint64_t old = old_period, new = cluster->period;

		if (vcpu->cluster != cluster || vcpu->state != VCPU_RUNNING)
			continue;
		debt_pay(vcpu, at);
		/* An instruction that waits for memory weighs otherwise at another clock. */
		if (vcpu->pace != PACE_NONE) {
			old *= old_opp->weights[vcpu->pace];
			new *= new_opp->weights[vcpu->pace];
		}
		vcpu->debt = vt_rescale(vcpu->debt, old, new);
		if (vcpu->local > from)
			vcpu->local = from + vt_rescale(vcpu->local - from, old, new);
	}
}

/* When the next transition completes. */
static vtime next_completion(void)
{
	vtime next = VT_NEVER;

	for (unsigned int c = 0; c < config.n_clusters; c++)
		if (clusters[c].completes_at < next)
			next = clusters[c].completes_at;
	return next;
}

/* Complete the transitions that are due. Nobody holds a grant. */
static void complete_due(vtime base)
{
	for (unsigned int c = 0; c < config.n_clusters; c++) {
		struct cluster *cluster = &clusters[c];
		vtime at = cluster->completes_at;

		if (at > base)
			continue;
		counters_break(c, at);
		set_level(cluster, cluster->wanted_level, at);
		cluster->completes_at = VT_NEVER;
		cluster->transitions++;
	}
}

void energyctrl_init(void)
{
	static const struct rotation_events completions = { next_completion, complete_due };

	for (unsigned int c = 0; c < config.n_clusters; c++) {
		clusters[c].completes_at = VT_NEVER;
		set_level(&clusters[c], 0, 0);
	}
	rotation_add_events(&completions);
}

void energyctrl_map(void)
{
	internals_map_device("eascope-energyctrl", config.energyctrl_address, ENERGYCTRL_SIZE,
			     read_register, write_register);
	/* Also the check that QEMU's MemoryRegionOps has the layout that we gave it. */
	if (internals_peek(config.energyctrl_address + DVFS_NUM_DOMAINS) != config.n_clusters)
		report_end("engine", "QEMU's MemoryRegionOps is not that of QEMU 10.0");
}
