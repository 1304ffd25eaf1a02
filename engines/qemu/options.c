// SPDX-License-Identifier: GPL-2.0-or-later
/* The options that follow the plugin's name on QEMU's command line; engines/qemu.py writes them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

struct config config = {
	.report_fd = 2,
	.program_quantum_ns = 100000,
	.kernel_quantum_ns = 20000,
	.transition_latency_ns = 20000,
	.energyctrl_address = 0x0b000000,
	.dead_ns = 600ull * 1000000000,
	.limit_ns = 24ull * 3600 * 1000000000,
};

/* "0:0-3:850000@900000@850000000+450000@...": cluster, CPUs, OPPs by falling frequency. */
static bool parse_cluster(const char *text)
{
	unsigned int c, first, last;
	struct cluster *cluster;
	int used;

	if (sscanf(text, "%u:%u-%u:%n", &c, &first, &last, &used) != 3 || c >= MAX_CLUSTERS ||
	    last >= MAX_CPUS || first > last)
		return false;
	cluster = &clusters[c];
	for (const char *p = text + used; *p; p += *p == '+') {
		struct opp *opp = &cluster->opps[cluster->n_opps];

		if (cluster->n_opps == MAX_OPPS ||
		    sscanf(p, "%" SCNu32 "@%" SCNu32 "@%" SCNu64 "%n", &opp->khz, &opp->uv,
			   &opp->instructions_per_s, &used) != 3 ||
		    !opp->instructions_per_s)
			return false;
		cluster->n_opps++;
		p += used;
		if (*p && *p != '+')
			return false;
	}
	for (unsigned int i = first; i <= last; i++) {
		config.cluster_of[i] = c;
		vcpus[i].index = i;
		vcpus[i].cluster = cluster;
		vcpus[i].announced_idle = IDLE_NONE;
		vcpus[i].horizon = VT_NEVER;
	}
	if (c >= config.n_clusters)
		config.n_clusters = c + 1;
	if (last >= config.n_cpus)
		config.n_cpus = last + 1;
	return cluster->n_opps > 0;
}

/* "0:1000:1200000": cluster, exit time of each idle state in ns. */
static bool parse_idle(const char *text)
{
	unsigned int c, n = 0;
	int used;

	if (sscanf(text, "%u%n", &c, &used) != 1 || c >= MAX_CLUSTERS)
		return false;
	for (text += used; *text; text += used) {
		if (n == MAX_IDLE_STATES ||
		    sscanf(text, ":%" SCNu64 "%n", &config.idle_exit_ns[c][n], &used) != 1)
			return false;
		n++;
	}
	if (n > config.n_idle_states)
		config.n_idle_states = n;
	return n > 0;
}

/* "0:2": cluster, the idle state in which all of its CPUs are when it sleeps. */
static bool parse_cluster_sleep(const char *text)
{
	unsigned int c, state;
	int used = 0;

	if (sscanf(text, "%u:%u%n", &c, &state, &used) != 2 || text[used] ||
	    c >= MAX_CLUSTERS || !state || state >= MAX_IDLE_STATES)
		return false;
	config.cluster_sleep[c] = state;
	return true;
}

static bool parse_option(char *option)
{
	static const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{ "program_quantum_ns", &config.program_quantum_ns },
		{ "kernel_quantum_ns", &config.kernel_quantum_ns },
		{ "latency_ns", &config.transition_latency_ns },
		{ "energyctrl", &config.energyctrl_address },
		{ "hint_4_turns", &config.hint_4_turns },
		{ "hint_1_turn", &config.hint_1_turn },
		{ "dead_ns", &config.dead_ns },
		{ "limit_ns", &config.limit_ns },
	};
	char *value = strchr(option, '=');
	char *end;

	if (!value)
		return false;
	*value++ = 0;
	if (!strcmp(option, "cluster"))
		return parse_cluster(value);
	if (!strcmp(option, "idle"))
		return parse_idle(value);
	if (!strcmp(option, "cluster_sleep"))
		return parse_cluster_sleep(value);
	if (!strcmp(option, "report")) {
		config.report_fd = atoi(value);
		return true;
	}
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(option, numbers[i].name))
			continue;
		*numbers[i].value = strtoull(value, &end, 0);
		return *value && !*end;
	}
	return false;
}

bool options_parse(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!parse_option(argv[i])) {
			fprintf(stderr, "eascope: wrong plugin option %s\n", argv[i]);
			return false;
		}
	}
	return true;
}
