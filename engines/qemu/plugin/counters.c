// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where each CPU's time went, in whole ns that add up.
 *
 * A row covers one CPU between two breaks (completed OPP changes of its cluster, START, STOP, the
 * ends of the run). Rows are broken when `base` reaches that moment, but a CPU that is ahead may
 * have said already what it does later; such changes wait in a short queue. Every change and break
 * is cut to whole ns once and each ns is given to exactly one column, so the columns of a row sum
 * to its length exactly.
 *
 * A cluster's shared part is off while every CPU of the cluster is in the state that means
 * cluster-sleep. So the changes of a cluster's CPUs take effect together, in the order of their times.
 */
#include "counters.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "local_time.h"
#include "machine.h"
#include "report.h"
#include "vcpu.h"
#include "virtual_time.h"

#define COUNTERS_FILE "counters.raw"
#define MAX_PENDING 16

/* Columns of a row: idle states by number, then these. */
enum { ACTIVE = MAX_IDLE_STATES, ENTRY, EXIT, N_STATES };

struct account {
	unsigned int state;
	uint64_t until_ns;
	uint64_t ns[N_STATES];
	uint64_t instructions_before;
	struct {
		uint64_t at_ns;
		unsigned int state;
	} pending[MAX_PENDING];
	unsigned int n_pending;
};

static struct account accounts[MAX_CPUS];
/* Shared parts: how much of the current row they were on for. */
static struct {
	uint64_t until_ns;
	uint64_t on_ns;
} shared[MAX_CLUSTERS];
static uint64_t row_start_ns[MAX_CLUSTERS];
static FILE *file;

void counters_init(void)
{
	file = fopen(COUNTERS_FILE, "w");
	if (!file)
		report_end("engine", "cannot write " COUNTERS_FILE);
	/* Every CPU is off at power-on, QEMU starts the first one at time 0. */
	for (unsigned int i = 0; i < config.n_cpus; i++)
		accounts[i].state = config.n_idle_states - 1;
}

static void spend(struct account *account, uint64_t at_ns)
{
	if (at_ns <= account->until_ns)
		return;
	account->ns[account->state] += at_ns - account->until_ns;
	account->until_ns = at_ns;
}

static bool in_cluster_sleep(unsigned int c)
{
	if (!config.cluster_sleep[c])
		return false;
	for (unsigned int i = 0; i < config.n_cpus; i++)
		if (config.cluster_of[i] == c && accounts[i].state != config.cluster_sleep[c])
			return false;
	return true;
}

static void spend_shared(unsigned int c, uint64_t at_ns)
{
	if (at_ns <= shared[c].until_ns)
		return;
	if (!in_cluster_sleep(c))
		shared[c].on_ns += at_ns - shared[c].until_ns;
	shared[c].until_ns = at_ns;
}

/* The CPU of the cluster whose next change comes first, up to at_ns. */
static struct account *next_change(unsigned int c, uint64_t at_ns)
{
	struct account *first = NULL;

	for (unsigned int i = 0; i < config.n_cpus; i++) {
		struct account *account = &accounts[i];

		if (config.cluster_of[i] != c || !account->n_pending ||
		    account->pending[0].at_ns > at_ns)
			continue;
		if (!first || account->pending[0].at_ns < first->pending[0].at_ns)
			first = account;
	}
	return first;
}

static void apply_until(unsigned int c, uint64_t at_ns)
{
	struct account *account;

	while ((account = next_change(c, at_ns))) {
		spend_shared(c, account->pending[0].at_ns);
		spend(account, account->pending[0].at_ns);
		account->state = account->pending[0].state;
		account->n_pending--;
		memmove(account->pending, account->pending + 1,
			account->n_pending * sizeof(account->pending[0]));
	}
}

static void change(const struct vcpu *vcpu, vtime at, unsigned int state)
{
	struct account *account = &accounts[vcpu->index];

	apply_until(config.cluster_of[vcpu->index], vt_to_ns(time_base()));
	if (account->n_pending == MAX_PENDING)
		report_end("engine", "cpu%u changes state too often within one quantum",
			   vcpu->index);
	account->pending[account->n_pending].at_ns = vt_to_ns(at);
	account->pending[account->n_pending].state = state;
	account->n_pending++;
}

void counters_set_active(const struct vcpu *vcpu, vtime at)
{
	change(vcpu, at, ACTIVE);
}

/* Until the CPU sleeps, or an interrupt that came in the meantime lets its exit begin. */
void counters_set_entry(const struct vcpu *vcpu, vtime at)
{
	change(vcpu, at, ENTRY);
}

/* From the wake-up until the idle state's exit work is over. */
void counters_set_exit(const struct vcpu *vcpu, vtime at)
{
	change(vcpu, at, EXIT);
}

void counters_set_idle(const struct vcpu *vcpu, unsigned int state, vtime at)
{
	change(vcpu, at, state);
}

/* Instructions that the vCPU had executed at time `at`, which it may be ahead of. */
static uint64_t instructions_at(const struct vcpu *vcpu, vtime at)
{
	vtime ahead = vcpu->debt + (vcpu->local > at ? vcpu->local - at : 0);
	uint64_t executed = time_instructions(vcpu, ahead);
	uint64_t before = accounts[vcpu->index].instructions_before;

	return executed > before ? executed : before;
}

static void write_cpu_row(const struct vcpu *vcpu, uint64_t start_ns, vtime at, const struct opp *opp)
{
	struct account *account = &accounts[vcpu->index];
	uint64_t instructions = instructions_at(vcpu, at);
	uint64_t awake_ns;

	spend(account, vt_to_ns(at));
	awake_ns = account->ns[ACTIVE] + account->ns[ENTRY] + account->ns[EXIT];
	fprintf(file,
		"%u,%u,%" PRIu64 ",%" PRIu64 ",%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		(unsigned int)(vcpu->cluster - clusters), vcpu->index, start_ns, vt_to_ns(at),
		opp->khz, opp->uv, account->ns[ACTIVE], account->ns[ENTRY], account->ns[EXIT]);
	for (unsigned int s = 0; s < config.n_idle_states; s++)
		fprintf(file, ",%" PRIu64, account->ns[s]);
	fprintf(file, ",%" PRIu64 ",%" PRIu64 "\n",
		(uint64_t)((unsigned __int128)awake_ns * opp->khz / 1000000),
		instructions - account->instructions_before);
	memset(account->ns, 0, sizeof(account->ns));
	account->instructions_before = instructions;
}

/* On is active, the rest lies in the column of the state that means cluster-sleep. */
static void write_shared_row(unsigned int c, uint64_t start_ns, uint64_t end_ns,
			     const struct opp *opp)
{
	spend_shared(c, end_ns);
	fprintf(file, "%u,%d,%" PRIu64 ",%" PRIu64 ",%u,%u,%" PRIu64 ",0,0", c, SHARED_PART, start_ns,
		end_ns, opp->khz, opp->uv, shared[c].on_ns);
	for (unsigned int s = 0; s < config.n_idle_states; s++)
		fprintf(file, ",%" PRIu64, s && s == config.cluster_sleep[c] ?
			end_ns - start_ns - shared[c].on_ns : 0);
	fputs(",0,0\n", file);
	shared[c].on_ns = 0;
}

/* End the rows of a cluster at `at`; `base` has reached it, and the old OPP is still set. */
void counters_break(unsigned int c, vtime at)
{
	const struct opp *opp = &clusters[c].opps[clusters[c].level];
	uint64_t start_ns = row_start_ns[c], end_ns = vt_to_ns(at);

	if (end_ns == start_ns)
		return;
	apply_until(c, end_ns);
	for (unsigned int i = 0; i < config.n_cpus; i++)
		if (vcpus[i].cluster == &clusters[c])
			write_cpu_row(&vcpus[i], start_ns, at, opp);
	write_shared_row(c, start_ns, end_ns, opp);
	row_start_ns[c] = end_ns;
}

/* All rows so far are in the file. */
void counters_flush(void)
{
	fflush(file);
}

/* Go on in the file of this name in the working directory, which has all rows so far. */
void counters_move(void)
{
	int fd = open(COUNTERS_FILE, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0 || dup2(fd, fileno(file)) < 0)
		report_end("engine", "cannot write " COUNTERS_FILE);
	close(fd);
}

void counters_close(void)
{
	if (!file)
		return;
	if (fclose(file) != 0)
		perror("eascope: " COUNTERS_FILE);
	file = NULL;
}
