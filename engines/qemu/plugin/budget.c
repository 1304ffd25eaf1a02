// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The package's power budget: the more CPUs are on, the lower the frequency that each is granted.
 *
 * At each interval the CPUs that are on are counted: those that are not in an idle state deeper than
 * WFI, and not off. The step of the budget that has enough CPUs limits all clusters from then on. So
 * between two counts more CPUs may be on than the limit is for, as on a chip whose firmware looks at
 * its cores from time to time.
 */
#include "budget.h"

#include <stdbool.h>

#include "energyctrl.h"
#include "machine.h"
#include "rotation.h"
#include "vcpu.h"
#include "virtual_time.h"

static vtime next_count;

/* A vCPU may be ahead of `at`: it has gone to sleep, or off, only when its local time comes. */
static bool is_on(const struct vcpu *vcpu, vtime at)
{
	if (vcpu->state == VCPU_RUNNING || vcpu->local > at)
		return true;
	return vcpu->state == VCPU_ASLEEP && vcpu->announced_idle <= 0;
}

static uint32_t max_khz_of(unsigned int cpus)
{
	unsigned int step = 0;

	while (step + 1 < config.n_budget_steps && config.budget_steps[step].cpus < cpus)
		step++;
	return config.budget_steps[step].max_khz;
}

/* The fastest level of the cluster that is not above max_khz, or its slowest. */
static unsigned int level_of(const struct cluster *cluster, uint32_t max_khz)
{
	unsigned int level = 0;

	while (level + 1 < cluster->n_opps && cluster->opps[level].khz > max_khz)
		level++;
	return level;
}

static vtime next(void)
{
	return next_count;
}

static void count(vtime base)
{
	unsigned int cpus = 0;
	uint32_t max_khz;

	if (next_count > base)
		return;
	next_count = base + vt_from_ns(config.budget_interval_ns);
	for (unsigned int i = 0; i < config.n_cpus; i++)
		cpus += is_on(&vcpus[i], base);
	max_khz = max_khz_of(cpus);
	for (unsigned int c = 0; c < config.n_clusters; c++)
		energyctrl_grant(&clusters[c], level_of(&clusters[c], max_khz));
}

void budget_init(void)
{
	static const struct rotation_events counts = { next, count };

	if (!config.n_budget_steps)
		return;
	next_count = vt_from_ns(config.budget_interval_ns);
	rotation_add_events(&counts);
}
