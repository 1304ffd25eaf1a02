// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU frequency scaling for machines with gem5's energy controller.
 *
 * The controller is one block of 32-bit registers for the whole machine. It
 * knows DVFS domains, and for each of them a table of performance levels of
 * which level 0 is the fastest. A request is two writes, the domain and the
 * level; it takes effect when the controller's transition latency is over,
 * and a later request replaces one that is still in flight. Nothing has to be
 * waited for, so policies switch from the scheduler's context. Machines whose
 * firmware has to be waited for state so in the device tree: their policies
 * switch from a thread, which sleeps until the latency is over.
 *
 * A controller may grant a domain less than is requested, such as under a power
 * budget of the package, and the device tree says so. What it grants changes
 * without a request, and without an interrupt. So it is read at every request,
 * and for the scheduler at every tick.
 *
 * A domain's clock may have a floor while another domain requests a fast one,
 * such as where they share a supply. Whoever requests for the one domain then
 * requests for the other, too.
 *
 * Where the device tree has turbo OPPs, cpufreq has a switch for them (boost).
 * At boot it is off, or on where the device tree says so. What it is at boot
 * decides at which OPP a CPU has its capacity.
 *
 * Which level an OPP of the device tree stands for is found by frequency. The
 * controller derives its figures from whole picoseconds of clock period, so
 * the two differ a little.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/arch_topology.h>
#include <linux/cleanup.h>
#include <linux/cpufreq.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/pm_opp.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <trace/events/power.h>

#define CREATE_TRACE_POINTS
#include "gem5-cpufreq-trace.h"

#define DVFS_HANDLER_STATUS		0x00
#define DVFS_NUM_DOMAINS		0x04
#define DVFS_DOMAINID_AT_INDEX		0x08
#define DVFS_HANDLER_TRANS_LATENCY	0x0c
#define DOMAIN_ID			0x10
#define PERF_LEVEL			0x14
#define NUM_OF_PERF_LEVELS		0x1c
#define PERF_LEVEL_TO_READ		0x20
#define FREQ_AT_PERF_LEVEL		0x24
#define VOLT_AT_PERF_LEVEL		0x28
#define PERF_LEVEL_GRANTED		0x2c

#define DEFAULT_RATE_LIMIT_US		500

/* As the device tree has it: in force while domain @of requests @at_khz or more. */
struct gem5_floor {
	u32 of;
	u32 at_khz;
	u32 on;
	u32 khz;
};

struct gem5_ectrl {
	void __iomem *base;
	/* The selector registers are one set for all domains. */
	raw_spinlock_t lock;
	u32 latency_ns;
	u32 rate_limit_us;
	u32 nr_domains;
	/* Requests are made by a thread that sleeps for the latency. */
	bool waits;
	/* Less may be granted than is requested. */
	bool may_grant_less;
	u32 nr_floors;
	const struct gem5_floor *floors;
	/* Those with policies, if there are floors; changed under both locks. */
	struct list_head domains;
	/* Transitions of one policy that another policy's request makes. */
	struct mutex transitions;
};

struct gem5_domain {
	struct gem5_ectrl *ectrl;
	struct cpufreq_policy *policy;
	struct list_head node;
	/* What the policy asked for last, and what was requested for it: not below its floor. */
	unsigned int asked_khz;
	unsigned int requested_khz;
	/* The fastest OPP that is no turbo OPP. */
	unsigned int sustained_khz;
	u32 id;
	/* Indexed by perf level: what the controller says about it. */
	u32 nr_levels;
	struct {
		u32 khz;
		u32 uv;
	} level[] __counted_by(nr_levels);
};

/* The lowest clock of @domain while the others ask for what they ask for now: no turbo OPP. */
static unsigned int gem5_floor_khz(const struct gem5_domain *domain)
{
	const struct gem5_ectrl *ectrl = domain->ectrl;
	const struct gem5_floor *floor;
	const struct gem5_domain *pos;
	unsigned int khz = 0;

	lockdep_assert_held(&ectrl->lock);

	for (floor = ectrl->floors; floor < ectrl->floors + ectrl->nr_floors; floor++) {
		if (floor->on != domain->id)
			continue;
		list_for_each_entry(pos, &ectrl->domains, node)
			if (pos->id == floor->of && pos->asked_khz >= floor->at_khz)
				khz = max(khz, floor->khz);
	}

	return min(khz, domain->sustained_khz);
}

/* The slowest OPP of at least @khz, whatever the policy's limits. */
static unsigned int gem5_index(const struct cpufreq_policy *policy, unsigned int khz)
{
	const struct cpufreq_frequency_table *table = policy->freq_table, *pos, *found = NULL;

	cpufreq_for_each_entry(pos, table)
		if (!found || (pos->frequency >= khz && pos->frequency < found->frequency) ||
		    (found->frequency < khz && pos->frequency > found->frequency))
			found = pos;

	return found - table;
}

/*
 * The OPP that @domain has to get: what it asked for, but not below its floor. What holds the other
 * domain's supply up does not ask for the policy's limits.
 */
static unsigned int gem5_wanted_index(const struct gem5_domain *domain)
{
	return gem5_index(domain->policy, max(domain->asked_khz, gem5_floor_khz(domain)));
}

static void gem5_request(struct gem5_domain *domain, unsigned int index)
{
	const struct cpufreq_frequency_table *opp = &domain->policy->freq_table[index];
	struct gem5_ectrl *ectrl = domain->ectrl;
	u32 level = opp->driver_data;

	lockdep_assert_held(&ectrl->lock);

	WRITE_ONCE(domain->requested_khz, opp->frequency);
	writel_relaxed(domain->id, ectrl->base + DOMAIN_ID);
	writel_relaxed(level, ectrl->base + PERF_LEVEL);
	trace_gem5_dvfs(domain->id, level, domain->level[level].khz,
			domain->level[level].uv, ectrl->latency_ns);
}

static void gem5_wait(const struct gem5_ectrl *ectrl)
{
	ktime_t latency = ns_to_ktime(ectrl->latency_ns);

	if (ectrl->waits) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout(&latency, HRTIMER_MODE_REL);
	}
}

static int gem5_cpufreq_target_index(struct cpufreq_policy *policy,
				     unsigned int index)
{
	struct gem5_domain *domain = policy->driver_data;

	scoped_guard(raw_spinlock_irqsave, &domain->ectrl->lock)
		gem5_request(domain, index);
	gem5_wait(domain->ectrl);
	return 0;
}

static unsigned int gem5_cpufreq_fast_switch(struct cpufreq_policy *policy,
					     unsigned int target_freq)
{
	struct gem5_domain *domain = policy->driver_data;
	int index = cpufreq_table_find_index_l(policy, target_freq, false);

	scoped_guard(raw_spinlock_irqsave, &domain->ectrl->lock)
		gem5_request(domain, index);
	return policy->freq_table[index].frequency;
}

/* The frequency of the OPP that @level stands for; 0 when the controller has no such level. */
static unsigned long gem5_khz(const struct cpufreq_policy *policy, u32 level)
{
	const struct gem5_domain *domain = policy->driver_data;
	struct cpufreq_frequency_table *pos;

	cpufreq_for_each_entry(pos, policy->freq_table)
		if (pos->driver_data == level)
			return pos->frequency;

	/* A level that no OPP stands for. */
	return level < domain->nr_levels ? domain->level[level].khz : 0;
}

static unsigned int gem5_cpufreq_get(unsigned int cpu)
{
	struct cpufreq_policy *policy = cpufreq_cpu_get_raw(cpu);
	struct gem5_domain *domain;
	struct gem5_ectrl *ectrl;
	u32 level;

	if (!policy)
		return 0;

	domain = policy->driver_data;
	ectrl = domain->ectrl;
	scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
		writel_relaxed(domain->id, ectrl->base + DOMAIN_ID);
		level = readl_relaxed(ectrl->base + PERF_LEVEL);
	}

	/* The core moves off a level that no OPP stands for. */
	return gem5_khz(policy, level);
}

/* What the domain gets of what was requested for it. */
static unsigned int gem5_granted_khz(const struct cpufreq_policy *policy)
{
	const struct gem5_domain *domain = policy->driver_data;
	struct gem5_ectrl *ectrl = domain->ectrl;
	u32 level;

	if (!ectrl->may_grant_less)
		return READ_ONCE(domain->requested_khz);

	scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
		writel_relaxed(domain->id, ectrl->base + DOMAIN_ID);
		level = readl_relaxed(ectrl->base + PERF_LEVEL_GRANTED);
	}

	return min_t(unsigned int, READ_ONCE(domain->requested_khz), gem5_khz(policy, level));
}

/* Whether a domain may run at another clock than its policy asked for; ticks then say which. */
static bool gem5_limited(const struct gem5_ectrl *ectrl)
{
	return ectrl->may_grant_less || ectrl->nr_floors;
}

static unsigned long gem5_freq_scale(const struct cpufreq_policy *policy, unsigned long khz)
{
	const struct gem5_domain *domain = policy->driver_data;

	/* Until the scheduler's reference is known it is below. */
	return (khz << SCHED_CAPACITY_SHIFT) /
	       max_t(unsigned long, topology_get_freq_ref(policy->cpu), domain->sustained_khz);
}

/* Where the core leaves the scale to the ticks, and idle CPUs have none, or did not request. */
static void gem5_scale_freq(const struct cpufreq_policy *policy, unsigned int khz)
{
	unsigned long scale = gem5_freq_scale(policy, khz);
	unsigned int cpu;

	for_each_cpu(cpu, policy->related_cpus)
		WRITE_ONCE(per_cpu(arch_freq_scale, cpu), scale);
}

/*
 * Another domain's request began or ended a floor of this one, if it changes the clock.
 *
 * The core notes a fast switch after it, without our lock. If a CPU of this domain is there just
 * now, policy->cur is what that one asked for until the next tick in this domain, and time_in_state
 * and the trace until its next switch. What runs is what was requested here.
 */
static void gem5_apply_floor(struct gem5_domain *domain)
{
	struct cpufreq_policy *policy = domain->policy;
	unsigned int index = gem5_wanted_index(domain);
	unsigned int cpu, khz = policy->freq_table[index].frequency;

	if (khz == domain->requested_khz)
		return;

	gem5_request(domain, index);
	gem5_scale_freq(policy, khz);
	cpufreq_stats_record_transition(policy, khz);
	WRITE_ONCE(policy->cur, khz);
	for_each_cpu(cpu, policy->cpus)
		trace_cpu_frequency(khz, cpu);
}

static unsigned int gem5_cpufreq_limited_fast_switch(struct cpufreq_policy *policy,
						     unsigned int target_freq)
{
	unsigned int index = gem5_index(policy, target_freq);
	struct gem5_domain *pos, *domain = policy->driver_data;
	struct gem5_ectrl *ectrl = domain->ectrl;
	unsigned int khz;

	scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
		domain->asked_khz = policy->freq_table[index].frequency;
		gem5_request(domain, gem5_wanted_index(domain));
		if (ectrl->nr_floors)
			list_for_each_entry(pos, &ectrl->domains, node)
				if (pos != domain)
					gem5_apply_floor(pos);
	}

	khz = gem5_granted_khz(policy);
	gem5_scale_freq(policy, khz);
	return khz;
}

/*
 * Returns whether a request was made. Only of the policy that asked is the transition still to be
 * ended then: others are announced at once, and nobody waits for them.
 */
static bool gem5_transition(struct gem5_domain *domain, struct cpufreq_freqs *freqs, bool asked)
{
	struct cpufreq_policy *policy = domain->policy;
	struct gem5_ectrl *ectrl = domain->ectrl;
	unsigned int index;

	lockdep_assert_held(&ectrl->transitions);

	scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
		index = gem5_wanted_index(domain);
		if (policy->fast_switch_enabled)
			gem5_apply_floor(domain);
	}

	freqs->old = policy->cur;
	freqs->new = policy->freq_table[index].frequency;
	if (policy->fast_switch_enabled || freqs->old == freqs->new)
		return false;

	cpufreq_freq_transition_begin(policy, freqs);
	scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
		/* Others may have switched fast meanwhile. */
		index = gem5_wanted_index(domain);
		freqs->new = policy->freq_table[index].frequency;
		gem5_request(domain, index);
	}
	if (!asked) {
		cpufreq_freq_transition_end(policy, freqs, 0);
		gem5_scale_freq(policy, freqs->new);
	}
	return true;
}

/* Linux 7.3 leaves out a request for what is in force otherwise: it counts when a floor ends. */
static void gem5_want_every_request(struct cpufreq_policy *policy)
{
#ifndef GEM5_LISTS_FREQUENCIES
	policy->update_limits = true;
#endif
}

/*
 * With floors, from a context that may sleep: policy->cur is what is in force, not what was asked
 * for, of this policy and of the others. Domains whose floor rises or falls come first.
 */
static int gem5_cpufreq_target(struct cpufreq_policy *policy, unsigned int target_freq,
			       unsigned int relation)
{
	struct gem5_domain *pos, *domain = policy->driver_data;
	struct gem5_ectrl *ectrl = domain->ectrl;
	struct cpufreq_freqs freqs = { };
	bool requested;

	scoped_guard(mutex, &ectrl->transitions) {
		scoped_guard(raw_spinlock_irqsave, &ectrl->lock)
			domain->asked_khz = target_freq;
		list_for_each_entry(pos, &ectrl->domains, node)
			if (pos != domain)
				gem5_transition(pos, &freqs, false);
		requested = gem5_transition(domain, &freqs, true);
	}
	if (requested) {
		gem5_wait(ectrl);
		cpufreq_freq_transition_end(policy, &freqs, 0);
		gem5_scale_freq(policy, freqs.new);
	}
	gem5_want_every_request(policy);
	return 0;
}

/* At each tick: the scheduler, and those who read the policy, see what is granted by now. */
static void gem5_scale_freq_tick(void)
{
	struct cpufreq_policy *policy = cpufreq_cpu_get_raw(smp_processor_id());
	unsigned int cur, khz;

	if (!policy)
		return;

	cur = READ_ONCE(policy->cur);
	khz = gem5_granted_khz(policy);
	this_cpu_write(arch_freq_scale, gem5_freq_scale(policy, khz));
	/*
	 * Other policies compare what they request with this. A request, or the tick of
	 * another CPU, may have written what was granted after that: theirs stays.
	 */
	if (policy->fast_switch_enabled && cur != khz)
		cmpxchg(&policy->cur, cur, khz);
}

static struct scale_freq_data gem5_scale_freq_data = {
	.source		= SCALE_FREQ_SOURCE_CPUFREQ,
	.set_freq_scale	= gem5_scale_freq_tick,
};

static struct gem5_domain *gem5_domain_read(struct gem5_ectrl *ectrl, u32 id)
{
	struct gem5_domain *domain;
	u32 i, nr_levels, found;

	for (i = 0; i < ectrl->nr_domains; i++) {
		scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
			writel_relaxed(i, ectrl->base + DVFS_DOMAINID_AT_INDEX);
			found = readl_relaxed(ectrl->base + DVFS_DOMAINID_AT_INDEX);
		}
		if (found == id)
			break;
	}
	/* The controller takes down the machine for a domain it does not know. */
	if (i == ectrl->nr_domains)
		return ERR_PTR(-ENXIO);

	scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
		writel_relaxed(id, ectrl->base + DOMAIN_ID);
		nr_levels = readl_relaxed(ectrl->base + NUM_OF_PERF_LEVELS);
	}
	if (!nr_levels)
		return ERR_PTR(-ENXIO);

	domain = kzalloc(struct_size(domain, level, nr_levels), GFP_KERNEL);
	if (!domain)
		return ERR_PTR(-ENOMEM);

	domain->ectrl = ectrl;
	INIT_LIST_HEAD(&domain->node);
	domain->id = id;
	domain->nr_levels = nr_levels;
	for (i = 0; i < nr_levels; i++) {
		scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
			writel_relaxed(id, ectrl->base + DOMAIN_ID);
			writel_relaxed(i, ectrl->base + PERF_LEVEL_TO_READ);
			domain->level[i].khz = readl_relaxed(ectrl->base + FREQ_AT_PERF_LEVEL);
			domain->level[i].uv = readl_relaxed(ectrl->base + VOLT_AT_PERF_LEVEL);
		}
	}

	return domain;
}

/* The level nearest to @khz, or an error when none is within half a percent. */
static int gem5_find_level(const struct gem5_domain *domain, u32 khz)
{
	u32 i, best = 0, best_diff = U32_MAX;

	for (i = 0; i < domain->nr_levels; i++) {
		u32 diff = abs_diff(domain->level[i].khz, khz);

		if (diff < best_diff) {
			best_diff = diff;
			best = i;
		}
	}

	return best_diff <= khz / 200 ? best : -ENXIO;
}

static int gem5_map_levels(struct device *dev, struct gem5_domain *domain,
			   struct cpufreq_frequency_table *table)
{
	struct cpufreq_frequency_table *pos;

	cpufreq_for_each_entry(pos, table) {
		int level = gem5_find_level(domain, pos->frequency);

		if (level < 0) {
			dev_err(dev, "no perf level of domain %u is near OPP %u kHz\n",
				domain->id, pos->frequency);
			return level;
		}
		pos->driver_data = level;
		if (!(pos->flags & CPUFREQ_BOOST_FREQ))
			domain->sustained_khz = pos->frequency; /* they ascend */
	}

	return domain->sustained_khz ? 0 : -EINVAL;
}

static bool gem5_has_turbo(const struct cpufreq_frequency_table *table)
{
	const struct cpufreq_frequency_table *pos;

	cpufreq_for_each_entry(pos, table)
		if (pos->flags & CPUFREQ_BOOST_FREQ)
			return true;

	return false;
}

/* Before Linux 6.15 the first policy that has turbo OPPs asks the core for a switch, ... */
static int gem5_enable_boost_support(void)
{
#ifdef GEM5_LISTS_FREQUENCIES
	return cpufreq_enable_boost_support();
#else
	return 0;
#endif
}

#ifndef GEM5_LISTS_FREQUENCIES
/* The core never lowers cpuinfo.max_freq, which from Linux 7.1 on is what limits the policy. */
static int gem5_set_boost(struct cpufreq_policy *policy, int state)
{
	const struct gem5_domain *domain = policy->driver_data;

	policy->cpuinfo.max_freq = domain->sustained_khz;
	return cpufreq_boost_set_sw(policy, state);
}
#endif

/* ... and later on the driver has it before there are policies. */
static void gem5_set_boost_support(struct cpufreq_driver *driver)
{
#ifndef GEM5_LISTS_FREQUENCIES
	struct device_node *np = of_find_node_with_property(NULL, "turbo-mode");

	driver->set_boost = np ? gem5_set_boost : NULL;
	of_node_put(np);
#endif
}

/*
 * A new policy's greatest frequency follows the switch. That of one whose CPUs were all offline is
 * for the core, which from Linux 7.1 on looks whether the switch has changed meanwhile.
 */
static bool gem5_follows_switch(struct cpufreq_policy *policy)
{
#ifdef GEM5_LISTS_FREQUENCIES
	return true;
#else
	return !freq_qos_request_active(&policy->boost_freq_req);
#endif
}

static int gem5_cpufreq_init(struct cpufreq_policy *policy)
{
	struct gem5_ectrl *ectrl = cpufreq_get_driver_data();
	struct cpufreq_frequency_table *table;
	struct of_phandle_args args;
	struct gem5_domain *domain;
	struct device *dev;
	u32 level;
	int ret;

	dev = get_cpu_device(policy->cpu);
	if (!dev)
		return -ENODEV;

	ret = of_perf_domain_get_sharing_cpumask(policy->cpu, "performance-domains",
						 "#performance-domain-cells",
						 policy->cpus, &args);
	if (ret)
		return ret;
	of_node_put(args.np);

	domain = gem5_domain_read(ectrl, args.args[0]);
	if (IS_ERR(domain)) {
		dev_err(dev, "energy controller has no usable domain %u\n", args.args[0]);
		return PTR_ERR(domain);
	}

	ret = dev_pm_opp_of_cpumask_add_table(policy->cpus);
	if (ret) {
		dev_err_probe(dev, ret, "no OPP table\n");
		goto free_domain;
	}

	ret = dev_pm_opp_init_cpufreq_table(dev, &table);
	if (ret)
		goto remove_opps;

	ret = gem5_map_levels(dev, domain, table);
	if (ret)
		goto free_table;

	scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
		writel_relaxed(domain->id, ectrl->base + DOMAIN_ID);
		level = readl_relaxed(ectrl->base + PERF_LEVEL);
	}

	policy->driver_data = domain;
	policy->freq_table = table;
	if (gem5_has_turbo(table)) {
		if (gem5_follows_switch(policy))
			policy->boost_enabled = cpufreq_boost_enabled();
		ret = gem5_enable_boost_support();
		if (ret)
			goto free_table;
	}

	domain->policy = policy;
	domain->asked_khz = gem5_khz(policy, level);
	domain->requested_khz = domain->asked_khz;
	policy->cpuinfo.transition_latency = ectrl->latency_ns;
	policy->transition_delay_us = ectrl->rate_limit_us;
	policy->fast_switch_possible = !ectrl->waits;
	policy->dvfs_possible_from_any_cpu = true;
	if (gem5_limited(ectrl))
		topology_set_scale_freq_source(&gem5_scale_freq_data, policy->cpus);
	return 0;

free_table:
	dev_pm_opp_free_cpufreq_table(dev, &table);
remove_opps:
	dev_pm_opp_of_cpumask_remove_table(policy->cpus);
free_domain:
	kfree(domain);
	return ret;
}

/* The policy has its limits by now. */
static void gem5_cpufreq_ready(struct cpufreq_policy *policy)
{
	struct gem5_domain *pos, *domain = policy->driver_data;
	struct gem5_ectrl *ectrl = domain->ectrl;
	struct cpufreq_freqs freqs;

	gem5_want_every_request(policy);
	if (!ectrl->nr_floors)
		return;

	guard(mutex)(&ectrl->transitions);
	scoped_guard(raw_spinlock_irqsave, &ectrl->lock) {
		if (!list_empty(&domain->node))
			return;
		list_add(&domain->node, &ectrl->domains);
	}
	/* The governor has asked for a frequency before, when nobody saw its floors. */
	list_for_each_entry(pos, &ectrl->domains, node)
		gem5_transition(pos, &freqs, false);
}

static void gem5_cpufreq_exit(struct cpufreq_policy *policy)
{
	struct device *dev = get_cpu_device(policy->cpu);
	struct gem5_domain *domain = policy->driver_data;

	/* What it held up stays so until the next request. */
	scoped_guard(mutex, &domain->ectrl->transitions)
		scoped_guard(raw_spinlock_irqsave, &domain->ectrl->lock)
			list_del_init(&domain->node);
	if (gem5_limited(domain->ectrl))
		topology_clear_scale_freq_source(SCALE_FREQ_SOURCE_CPUFREQ,
						 policy->related_cpus);
	dev_pm_opp_free_cpufreq_table(dev, &policy->freq_table);
	dev_pm_opp_of_cpumask_remove_table(policy->related_cpus);
	kfree(domain);
}

static ssize_t show_fast_switch_enabled(struct cpufreq_policy *policy, char *buf)
{
	return sysfs_emit(buf, "%d\n", policy->fast_switch_enabled);
}
cpufreq_freq_attr_ro(fast_switch_enabled);

static struct freq_attr *gem5_cpufreq_attr[] = {
#ifdef GEM5_LISTS_FREQUENCIES
	/* Before Linux 6.15 the core leaves that to its drivers. */
	&cpufreq_freq_attr_scaling_available_freqs,
#endif
	&fast_switch_enabled,
	NULL
};

static struct cpufreq_driver gem5_cpufreq_driver = {
	.name		= "gem5-cpufreq",
	.flags		= CPUFREQ_NEED_INITIAL_FREQ_CHECK |
			  CPUFREQ_HAVE_GOVERNOR_PER_POLICY,
	.init		= gem5_cpufreq_init,
	.exit		= gem5_cpufreq_exit,
	.ready		= gem5_cpufreq_ready,
	.verify		= cpufreq_generic_frequency_table_verify,
	.target_index	= gem5_cpufreq_target_index,
	.fast_switch	= gem5_cpufreq_fast_switch,
	.get		= gem5_cpufreq_get,
	.register_em	= cpufreq_register_em_with_opp,
	.attr		= gem5_cpufreq_attr,
};

static int gem5_read_floors(struct device *dev, struct gem5_ectrl *ectrl)
{
	const char *name = "gem5,clock-floors";
	const size_t cells = sizeof(struct gem5_floor) / sizeof(u32);
	struct gem5_floor *floors;
	int nr;

	if (!of_property_present(dev->of_node, name))
		return 0;

	nr = of_property_count_elems_of_size(dev->of_node, name, sizeof(*floors));
	if (nr <= 0)
		return -EINVAL;

	floors = devm_kcalloc(dev, nr, sizeof(*floors), GFP_KERNEL);
	if (!floors)
		return -ENOMEM;

	ectrl->floors = floors;
	ectrl->nr_floors = nr;
	return of_property_read_u32_array(dev->of_node, name, (u32 *)floors, nr * cells);
}

static int gem5_cpufreq_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct gem5_ectrl *ectrl;
	int ret;

	ectrl = devm_kzalloc(dev, sizeof(*ectrl), GFP_KERNEL);
	if (!ectrl)
		return -ENOMEM;

	ectrl->base = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(ectrl->base))
		return PTR_ERR(ectrl->base);

	raw_spin_lock_init(&ectrl->lock);
	mutex_init(&ectrl->transitions);
	INIT_LIST_HEAD(&ectrl->domains);

	/* While the handler is disabled every other register reads as 0. */
	if (!readl_relaxed(ectrl->base + DVFS_HANDLER_STATUS))
		return dev_err_probe(dev, -ENODEV, "DVFS is disabled\n");

	ectrl->nr_domains = readl_relaxed(ectrl->base + DVFS_NUM_DOMAINS);
	ectrl->latency_ns = readl_relaxed(ectrl->base + DVFS_HANDLER_TRANS_LATENCY);
	if (of_property_read_u32(dev->of_node, "gem5,rate-limit-us", &ectrl->rate_limit_us))
		ectrl->rate_limit_us = DEFAULT_RATE_LIMIT_US;
	ectrl->waits = of_property_read_bool(dev->of_node, "gem5,wait-for-transition");
	ectrl->may_grant_less = of_property_read_bool(dev->of_node, "gem5,may-grant-less");
	ret = gem5_read_floors(dev, ectrl);
	if (ret)
		return dev_err_probe(dev, ret, "no usable gem5,clock-floors\n");
	if (ectrl->nr_floors) {
		gem5_cpufreq_driver.target = gem5_cpufreq_target;
		gem5_cpufreq_driver.target_index = NULL;
		/* A request for what is in force changes what is in force when a floor ends. */
		gem5_cpufreq_driver.flags |= CPUFREQ_NEED_UPDATE_LIMITS;
	}
	if (gem5_limited(ectrl))
		gem5_cpufreq_driver.fast_switch = gem5_cpufreq_limited_fast_switch;

	gem5_set_boost_support(&gem5_cpufreq_driver);
	gem5_cpufreq_driver.boost_enabled = of_property_read_bool(dev->of_node, "gem5,boost");
	gem5_cpufreq_driver.driver_data = ectrl;
	return cpufreq_register_driver(&gem5_cpufreq_driver);
}

static void gem5_cpufreq_remove(struct platform_device *pdev)
{
	cpufreq_unregister_driver(&gem5_cpufreq_driver);
}

static const struct of_device_id gem5_cpufreq_match[] = {
	{ .compatible = "arm,gem5-energy-ctrl" },
	{ }
};
MODULE_DEVICE_TABLE(of, gem5_cpufreq_match);

static struct platform_driver gem5_cpufreq_platform_driver = {
	.probe	= gem5_cpufreq_probe,
	.remove	= gem5_cpufreq_remove,
	.driver	= {
		.name		= "gem5-cpufreq",
		.of_match_table	= gem5_cpufreq_match,
	},
};
module_platform_driver(gem5_cpufreq_platform_driver);

MODULE_DESCRIPTION("CPU frequency scaling with gem5's energy controller");
MODULE_LICENSE("GPL");
