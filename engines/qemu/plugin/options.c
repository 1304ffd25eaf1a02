// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options after the plugin's name on QEMU's command line; engines/qemu/command.py writes them.
 *
 * None has a default here: what shapes a run stands in the settings that its key is made from.
 */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "vcpu.h"
#include "virtual_time.h"

/* "0:0-3:850000@900000@850000000+450000@...": cluster, CPUs, OPPs by falling frequency. */
static bool parse_cluster(const char *text)
{
	unsigned int c, first, last;
	struct cluster *cluster;
	int used = 0; /* a missing last colon leaves it as it is */

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
		opp->weights[0] = ONE_INSTRUCTION;
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

/* "3": how many idle states a cluster has. */
static bool parse_idle(const char *text)
{
	unsigned int n;
	int used = 0;

	if (sscanf(text, "%u%n", &n, &used) != 1 || text[used] || !n || n > MAX_IDLE_STATES)
		return false;
	if (n > config.n_idle_states)
		config.n_idle_states = n;
	return true;
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

/* "0:24000": cluster, what an instruction of the busy loop weighs, in 2^-16 of any other. */
static bool parse_loop_weight(const char *text)
{
	unsigned int c;
	int used = 0;
	work weight;

	if (sscanf(text, "%u:%" SCNu64 "%n", &c, &weight, &used) != 2 || text[used] ||
	    c >= MAX_CLUSTERS || !weight || weight > 1024 * ONE_INSTRUCTION)
		return false;
	for (unsigned int level = 0; level < clusters[c].n_opps; level++)
		clusters[c].opps[level].weights[0] = weight;
	config.weighs_code = true;
	return true;
}

/* "0x402660-0x402764": addresses of the busy loop; the first are its function's. */
static bool parse_loop_code(const char *text)
{
	struct address_range *range = &config.loop_code[config.n_loop_ranges];
	int used = 0;

	if (config.n_loop_ranges == MAX_LOOP_RANGES ||
	    sscanf(text, "0x%" SCNx64 "-0x%" SCNx64 "%n", &range->start, &range->end, &used) != 2 ||
	    text[used] || range->start >= range->end)
		return false;
	config.n_loop_ranges++;
	return true;
}

static bool add_loop_copy(const char *text, unsigned int loop)
{
	struct loop_copy *copy = &config.loop_copies[config.n_loop_copies];
	uint32_t *words = copy->begins;
	int used = 0;

	if (config.n_loop_copies == MAX_LOOP_COPIES ||
	    sscanf(text, "%" SCNx32 ":%" SCNx32 ":%" SCNx32 ":%" SCNx32 "%n", &words[0], &words[1],
		   &words[2], &words[3], &used) != LOOP_WORDS ||
	    text[used])
		return false;
	copy->loop = loop;
	config.n_loop_copies++;
	return true;
}

/* "d503201f:d503201f:d503201f:d503201f": the first instructions of the function in one copy. */
static bool parse_loop_begins(const char *text)
{
	return add_loop_copy(text, 0);
}

/* "1:528:129:d503...:d503...:d503...:d503...": a mixture, both hints, how its copy begins. */
static bool parse_mixture(const char *text)
{
	struct loop_hints hints;
	unsigned int loop;
	int used = 0;

	if (sscanf(text, "%u:%" SCNu64 ":%" SCNu64 ":%n", &loop, &hints.of_4_iterations,
		   &hints.of_1_iteration, &used) != 3 ||
	    !used || !loop || loop >= MAX_LOOPS || !hints.of_4_iterations || !hints.of_1_iteration)
		return false;
	config.hints[loop] = hints;
	config.weighs_code = true;
	return add_loop_copy(text + used, loop);
}

/* A weight at each of a cluster's OPPs: "70000+68000". */
static bool parse_weights(const char *text, struct cluster *cluster, unsigned int pace)
{
	unsigned int level = 0;
	int used;

	for (; *text; text += *text == '+') {
		work weight;

		if (level == cluster->n_opps || sscanf(text, "%" SCNu64 "%n", &weight, &used) != 1 ||
		    !weight || weight > 1024 * ONE_INSTRUCTION)
			return false;
		cluster->opps[level++].weights[pace] = weight;
		text += used;
		if (*text && *text != '+')
			return false;
	}
	return level == cluster->n_opps;
}

/* "1:0:70000+68000": a mixture, cluster, an instruction's weight at each of its OPPs. */
static bool parse_mixture_weights(const char *text)
{
	unsigned int loop, c;
	int used = 0;

	return sscanf(text, "%u:%u:%n", &loop, &c, &used) == 2 && used && loop &&
	       loop < MAX_LOOPS && c < MAX_CLUSTERS &&
	       parse_weights(text + used, &clusters[c], loop);
}

/* "1:0:70000+68000": the same of a program. */
static bool parse_program_weights(const char *text)
{
	unsigned int program, c;
	int used = 0;

	return sscanf(text, "%u:%u:%n", &program, &c, &used) == 2 && used && program &&
	       program <= MAX_PROGRAMS && c < MAX_CLUSTERS &&
	       parse_weights(text + used, &clusters[c], program_pace(program));
}

/* "1:9c3f0a12b4d5e6f7+...": a program, the digest of each page of its code. */
static bool parse_program(const char *text)
{
	unsigned int program;
	int used = 0;

	if (sscanf(text, "%u:%n", &program, &used) != 1 || !used || !program ||
	    program > MAX_PROGRAMS)
		return false;
	for (text += used; *text; text += *text == '+') {
		struct program_page *page = &config.program_pages[config.n_program_pages];

		if (config.n_program_pages == MAX_PROGRAM_PAGES ||
		    sscanf(text, "%" SCNx64 "%n", &page->digest, &used) != 1)
			return false;
		page->program = program;
		config.n_program_pages++;
		text += used;
		if (*text && *text != '+')
			return false;
	}
	config.weighs_code = true;
	return config.n_program_pages > 0;
}

/* "9:2802000": while up to so many CPUs are on, so many kHz at most. By rising number of CPUs. */
static bool parse_budget(const char *text)
{
	struct budget_step *step = &config.budget_steps[config.n_budget_steps];
	int used = 0;

	if (config.n_budget_steps == MAX_BUDGET_STEPS ||
	    sscanf(text, "%u:%" SCNu32 "%n", &step->cpus, &step->max_khz, &used) != 2 ||
	    text[used] || !step->cpus ||
	    (config.n_budget_steps && step->cpus <= step[-1].cpus))
		return false;
	config.n_budget_steps++;
	return true;
}

/* "1000000": ns. */
static bool parse_budget_interval(const char *text)
{
	int used = 0;

	return sscanf(text, "%" SCNu64 "%n", &config.budget_interval_ns, &used) == 1 &&
	       !text[used] && config.budget_interval_ns;
}

/* "5": the file descriptor that lines for Python go to. */
static bool parse_report(const char *text)
{
	int used = 0;

	return sscanf(text, "%d%n", &config.report_fd, &used) == 1 && !text[used] &&
	       config.report_fd >= 0;
}

/* "6": the socket on which runs are asked for. */
static bool parse_serve(const char *text)
{
	int used = 0;

	return sscanf(text, "%d%n", &config.serve_fd, &used) == 1 && !text[used] &&
	       config.serve_fd >= 0;
}

static bool parse_text(char *to, size_t room, const char *text)
{
	return *text && snprintf(to, room, "%s", text) < (int)room;
}

static bool parse_script(const char *text)
{
	return parse_text(config.script, sizeof(config.script), text);
}

static bool parse_console(const char *text)
{
	return parse_text(config.console, sizeof(config.console), text);
}

static struct number {
	const char *name;
	uint64_t *value;
	bool given;
} numbers[] = {
	{ .name = "program_quantum_ns", .value = &config.program_quantum_ns },
	{ .name = "kernel_quantum_ns", .value = &config.kernel_quantum_ns },
	{ .name = "latency_ns", .value = &config.transition_latency_ns },
	{ .name = "energyctrl", .value = &config.energyctrl_address },
	{ .name = "hint_4_iterations", .value = &config.hints[0].of_4_iterations },
	{ .name = "hint_1_iteration", .value = &config.hints[0].of_1_iteration },
	{ .name = "dead_ns", .value = &config.dead_ns },
	{ .name = "limit_ns", .value = &config.limit_ns },
};

#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static bool parse_number(struct number *number, const char *text)
{
	char *end;

	*number->value = strtoull(text, &end, 0);
	number->given = *text && !*end;
	return number->given;
}

static bool parse_option(char *option)
{
	static const struct {
		const char *name;
		bool (*parse)(const char *text);
	} parsers[] = {
		{ "cluster", parse_cluster },
		{ "idle", parse_idle },
		{ "cluster_sleep", parse_cluster_sleep },
		{ "loop_weight", parse_loop_weight },
		{ "loop_code", parse_loop_code },
		{ "loop_begins", parse_loop_begins },
		{ "mixture", parse_mixture },
		{ "mixture_weights", parse_mixture_weights },
		{ "program", parse_program },
		{ "program_weights", parse_program_weights },
		{ "budget", parse_budget },
		{ "budget_interval_ns", parse_budget_interval },
		{ "report", parse_report },
		{ "serve", parse_serve },
		{ "script", parse_script },
		{ "console", parse_console },
	};
	char *value = strchr(option, '=');

	if (!value)
		return false;
	*value++ = 0;
	for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++)
		if (!strcmp(option, parsers[i].name))
			return parsers[i].parse(value);
	for (size_t i = 0; i < N_NUMBERS; i++)
		if (!strcmp(option, numbers[i].name))
			return parse_number(&numbers[i], value);
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
	for (size_t i = 0; i < N_NUMBERS; i++) {
		if (!numbers[i].given) {
			fprintf(stderr, "eascope: plugin option %s is missing\n", numbers[i].name);
			return false;
		}
	}
	return true;
}
