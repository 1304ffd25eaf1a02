// SPDX-License-Identifier: GPL-2.0-or-later
/* The instrumentation of guest code: which instructions call the engine, and what each counts. */
#include "instrument.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "channel.h"
#include "debt.h"
#include "instructions.h"
#include "loop.h"
#include "machine.h"
#include "messages.h"
#include "program.h"
#include "report.h"
#include "slices.h"
#include "vcpu.h"
#include "virtual_time.h"
#include "waits.h"

#define INSN_HINT_MESSAGE INSN_HINT(HINT_MESSAGE)
#define INSN_HINT_4_ITERATIONS INSN_HINT(HINT_4_ITERATIONS)
#define INSN_HINT_1_ITERATION INSN_HINT(HINT_1_ITERATION)

/* One cache line for each vCPU. */
struct scoreboard {
	work count;
	uint64_t owes;
	uint64_t program;
	uint64_t padding[5];
};

static struct qemu_plugin_scoreboard *scoreboard;
static qemu_plugin_u64 count_entry;
static qemu_plugin_u64 owes_entry;
static qemu_plugin_u64 program_entry;

/* Where PSCI CPU_ON has last started a CPU; its MMU is off, so this is the block's address too. */
static uint64_t started_at;

/* The host's return address into generated code: what QEMU needs to leave it. */
#define HOST_PC ((uintptr_t)__builtin_return_address(0))

/*
 * What a callback knows of its place: the instructions from there to the end of the block,
 * and whose code it is.
 */
#define PLACE_BITS 16
#define PLACE(instructions, code) ((void *)((instructions) | (uintptr_t)(code) << PLACE_BITS))
#define INSTRUCTIONS(place) ((uintptr_t)(place) & ((1u << PLACE_BITS) - 1))
#define CODE(place) ((enum code)((uintptr_t)(place) >> PLACE_BITS & 15))
#define WORK(place) work_of(INSTRUCTIONS(place))

/* The vCPU executes so many instructions at a pace, or fewer (negative) than were booked. */
static void book_paced(struct vcpu *vcpu, int64_t instructions, work weight)
{
	vcpu->paced_done += instructions * weight;
	vcpu->paced_instructions += instructions;
}

/* What on_loop() knows: so many instructions of a loop. */
#define OF_LOOP(instructions, loop) ((void *)((instructions) | (uintptr_t)(loop) << 32))

/* A callback in the place of an inline addition: what is added depends on cluster and OPP. */
static void on_loop(unsigned int i, void *of_loop)
{
	uint32_t instructions = (uintptr_t)of_loop;
	work weight = pace_weight(vcpus[i].cluster, (uintptr_t)of_loop >> 32);

	*vcpus[i].count += instructions * weight;
	book_paced(&vcpus[i], instructions, weight);
}

/*
 * Whose code it is, now that it runs: a page of a library is shared, so what its block is at
 * depends on who executes it.
 */
static enum code code_now(const struct vcpu *vcpu, void *place)
{
	if (CODE(place) != CODE_PROGRAM || *vcpu->program == PROGRAM_NONE)
		return CODE(place);
	return CODE_PACED + program_pace(*vcpu->program);
}

/* The work that is left of the block; a loop's has no instruction that asks for it. */
static work work_now(const struct vcpu *vcpu, void *place)
{
	if (CODE(place) != CODE_PROGRAM || *vcpu->program == PROGRAM_NONE)
		return WORK(place);
	return INSTRUCTIONS(place) * pace_weight(vcpu->cluster, program_pace(*vcpu->program));
}

/* A block of a program with figures: what was added inline has another weight. */
static void on_program(unsigned int i, void *place)
{
	work weight = pace_weight(vcpus[i].cluster, program_pace(*vcpus[i].program));

	*vcpus[i].count += INSTRUCTIONS(place) * weight - WORK(place);
	book_paced(&vcpus[i], INSTRUCTIONS(place), weight);
}

static void on_page_of_program(unsigned int i, void *program)
{
	program_found(&vcpus[i], (uintptr_t)program);
}

static void on_block_at_limit(unsigned int i, void *place)
{
	slices_block_at_limit(&vcpus[i], WORK(place), CODE(place), HOST_PC);
}

/* This one may be refused, and comes again then. The OPP may change before it returns. */
static void at_limit(struct vcpu *vcpu, void *place, enum code code, uintptr_t host_pc)
{
	work weight = pace_weight(vcpu->cluster, code - CODE_PACED);

	book_paced(vcpu, -(int64_t)INSTRUCTIONS(place), weight);
	slices_block_at_limit(vcpu, INSTRUCTIONS(place) * weight, code, host_pc);
	book_paced(vcpu, INSTRUCTIONS(place), weight);
}

static void on_loop_at_limit(unsigned int i, void *place)
{
	at_limit(&vcpus[i], place, CODE(place), HOST_PC);
}

static void on_program_at_limit(unsigned int i, void *place)
{
	enum code code = code_now(&vcpus[i], place);

	if (code >= CODE_PACED)
		at_limit(&vcpus[i], place, code, HOST_PC);
	else
		slices_block_at_limit(&vcpus[i], WORK(place), code, HOST_PC);
}

static void on_wfi(unsigned int i, void *place)
{
	waits_sleep(&vcpus[i], WORK(place), HOST_PC);
}

static void on_wait(unsigned int i, void *place)
{
	(void)place;
	waits_stall(&vcpus[i]);
}

static void on_clock_read(unsigned int i, void *place)
{
	struct vcpu *vcpu = &vcpus[i];
	enum code code = code_now(vcpu, place);
	int64_t instructions = code == CODE(place) ? 0 : INSTRUCTIONS(place);
	work tail = work_now(vcpu, place);
	work weight = instructions ? tail / instructions : 0;

	/* It may be refused, as a block at the limit. */
	book_paced(vcpu, -instructions, weight);
	slices_order_clock_read(vcpu, tail, code, HOST_PC);
	book_paced(vcpu, instructions, weight);
}

static void on_timer_write(unsigned int i, void *place)
{
	(void)place;
	slices_cut(&vcpus[i]);
}

static void on_message(unsigned int i, void *place)
{
	channel_message(&vcpus[i], work_now(&vcpus[i], place), HOST_PC);
}

static void on_return_with_debt(unsigned int i, void *place)
{
	(void)place;
	slices_look_at_next_block(&vcpus[i]);
}

static void on_kernel_hint(unsigned int i, void *place)
{
	(void)place;
	waits_kernel_spins(&vcpus[i]);
}

/* What MSR writes. XZR reads 0. */
static uint64_t written(unsigned int i, void *x)
{
	return (uintptr_t)x == 31 ? 0 : channel_register(&vcpus[i], (uintptr_t)x);
}

static void on_thread_switch(unsigned int i, void *x)
{
	debt_thread_switch(&vcpus[i], written(i, x));
}

static void on_asid(unsigned int i, void *x)
{
	program_set_asid(&vcpus[i], written(i, x));
}

static void on_space_switch(unsigned int i, void *x)
{
	program_switch(&vcpus[i], written(i, x));
}

static void on_hvc(unsigned int i, void *place)
{
	uint32_t function = channel_register(&vcpus[i], 0);

	if (function == PSCI_CPU_SUSPEND_32 || function == PSCI_CPU_SUSPEND_64)
		waits_sleep(&vcpus[i], WORK(place), HOST_PC);
	else if (function == PSCI_CPU_OFF)
		waits_power_off(&vcpus[i]);
	else if (function == PSCI_CPU_ON_32 || function == PSCI_CPU_ON_64)
		started_at = channel_register(&vcpus[i], 2);
	else if (function == PSCI_SYSTEM_OFF || function == PSCI_SYSTEM_RESET)
		report_powered_off();
}

/* The hint's turns pass as if they had been executed. */
static void instrument_hint(struct qemu_plugin_insn *insn, bool four, void *place)
{
	unsigned int loop = CODE(place) >= CODE_PACED ? CODE(place) - CODE_PACED : 0;
	uint64_t instructions = four ? config.hints[loop].of_4_iterations :
				       config.hints[loop].of_1_iteration;

	if (CODE(place) == CODE_KERNEL)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_kernel_hint, QEMU_PLUGIN_CB_NO_REGS,
						       place);
	if (config.weighs_code)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_loop, QEMU_PLUGIN_CB_NO_REGS,
						       OF_LOOP(instructions, loop));
	else
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
			insn, QEMU_PLUGIN_INLINE_ADD_U64, count_entry, work_of(instructions));
}

/* True for an instruction at which the vCPU may stop. */
static bool instrument_insn(struct qemu_plugin_insn *insn, uint32_t code, void *place)
{
	/*
	 * Callbacks that may leave the block in its middle ask for the registers: QEMU then has
	 * the guest's state in memory when they are called.
	 */
	enum qemu_plugin_cb_flags leaves = QEMU_PLUGIN_CB_R_REGS, stays = QEMU_PLUGIN_CB_NO_REGS;
	void *x = (void *)(uintptr_t)(code & 0x1f);

	if (code == INSN_WFI)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_wfi, leaves, place);
	else if (code == INSN_WFE || code == INSN_YIELD)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_wait, stays, place);
	else if (code == INSN_HVC_0)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_hvc, leaves, place);
	else if (code == INSN_HINT_MESSAGE)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_message, leaves, place);
	else if (reads_clock(code))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_clock_read, leaves, place);
	else if (switches_thread(code))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_thread_switch, leaves, x);
	else if (config.n_program_pages && sets_asid(code))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_asid, leaves, x);
	else if (config.n_program_pages && switches_space(code))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_space_switch, leaves, x);
	else if (code == INSN_ERET)
		qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_return_with_debt, stays,
							    QEMU_PLUGIN_COND_NE, owes_entry, 0,
							    place);
	else if (sets_timer(code))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_timer_write, stays, place);
	else if (code == INSN_HINT_4_ITERATIONS && config.hints[0].of_4_iterations)
		instrument_hint(insn, true, place);
	else if (code == INSN_HINT_1_ITERATION && config.hints[0].of_1_iteration)
		instrument_hint(insn, false, place);
	else
		return false;
	return true;
}

/* The vCPU waits at the instruction before `address` or has just been started at `address`. */
static bool follows_a_wait(uint64_t address)
{
	static GByteArray *before;
	uint32_t code;

	if (address == started_at)
		return true;
	if (!before)
		before = g_byte_array_new();
	if (!qemu_plugin_read_memory_vaddr(address - sizeof(code), before, sizeof(code)))
		return true;
	memcpy(&code, before->data, sizeof(code));
	return code == INSN_WFI || code == INSN_HVC_0;
}

/*
 * The limit is looked at where the vCPU can be stopped, and that need not be at every block: a loop
 * has a branch backwards or an indirect one. So blocks that end in a direct branch forwards go
 * unchecked, which are most. But wherever a vCPU may wait for its turn, its next block must be
 * checked: at a block where it was stopped (checked, as it was), at an instruction of ours (checked),
 * after WFI and HVC, at an exception vector (a multiple of 128), and where PSCI starts it.
 * slices_block_at_limit() finds out if one runs all the same.
 */
static bool may_stop_at(uint64_t address, uint32_t last)
{
	return !branches_forward(last) || address % 128 == 0 || follows_a_wait(address);
}

static uint32_t insn_code(const struct qemu_plugin_insn *insn)
{
	uint32_t code = 0;

	if (qemu_plugin_insn_data(insn, &code, sizeof(code)) != sizeof(code))
		return 0;
	return code;
}

static enum code code_at(uint64_t address)
{
	int loop;

	/* Kernels live in the upper half of the address space. */
	if (address >> 63)
		return CODE_KERNEL;
	loop = config.weighs_code ? loop_at(address) : LOOP_NONE;
	return loop == LOOP_NONE ? CODE_PROGRAM : CODE_PACED + loop;
}

/* A program's block, of any program: who executes it is looked at each time. */
static void instrument_program(struct qemu_plugin_tb *block, uint64_t address, void *place)
{
	unsigned int program = program_of_page(address);

	if (program != PROGRAM_NONE)
		qemu_plugin_register_vcpu_tb_exec_cond_cb(
			block, on_page_of_program, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_COND_NE,
			program_entry, program, (void *)(uintptr_t)program);
	qemu_plugin_register_vcpu_tb_exec_cond_cb(block, on_program, QEMU_PLUGIN_CB_NO_REGS,
						  QEMU_PLUGIN_COND_NE, program_entry, PROGRAM_NONE,
						  place);
}

static qemu_plugin_vcpu_udata_cb_t at_limit_of(enum code code)
{
	if (code >= CODE_PACED)
		return on_loop_at_limit;
	if (code == CODE_PROGRAM && config.n_program_pages)
		return on_program_at_limit;
	return on_block_at_limit;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t n = qemu_plugin_tb_n_insns(block);
	uint64_t address = qemu_plugin_tb_vaddr(block);
	enum code code = code_at(address);
	bool special = false;

	(void)id;
	if (code >= CODE_PACED)
		qemu_plugin_register_vcpu_tb_exec_cb(block, on_loop, QEMU_PLUGIN_CB_NO_REGS,
						     OF_LOOP(n, code - CODE_PACED));
	else
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
			block, QEMU_PLUGIN_INLINE_ADD_U64, count_entry, work_of(n));
	if (code == CODE_PROGRAM && config.n_program_pages)
		instrument_program(block, address, PLACE(n, code));
	for (size_t k = 0; k < n; k++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, k);

		special |= instrument_insn(insn, insn_code(insn), PLACE(n - k, code));
	}
	if (special || may_stop_at(address, insn_code(qemu_plugin_tb_get_insn(block, n - 1))))
		qemu_plugin_register_vcpu_tb_exec_cond_cb(
			block, at_limit_of(code), QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_COND_GE,
			count_entry, COUNT_LIMIT, PLACE(n, code));
}

void instrument_add_vcpu(unsigned int i)
{
	/* The scoreboard moves when it grows. */
	for (unsigned int k = 0; k <= i; k++) {
		struct scoreboard *entry = qemu_plugin_scoreboard_find(scoreboard, k);

		vcpus[k].count = &entry->count;
		vcpus[k].owes = &entry->owes;
		vcpus[k].program = &entry->program;
	}
}

void instrument_init(qemu_plugin_id_t id)
{
	scoreboard = qemu_plugin_scoreboard_new(sizeof(struct scoreboard));
	count_entry = (qemu_plugin_u64){ scoreboard, offsetof(struct scoreboard, count) };
	owes_entry = (qemu_plugin_u64){ scoreboard, offsetof(struct scoreboard, owes) };
	program_entry = (qemu_plugin_u64){ scoreboard, offsetof(struct scoreboard, program) };
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
}
