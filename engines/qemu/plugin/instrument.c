// SPDX-License-Identifier: GPL-2.0-or-later
/* The instrumentation of guest code: which instructions call the engine, and what each counts. */
#include "instrument.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "channel.h"
#include "debt.h"
#include "loop.h"
#include "machine.h"
#include "messages.h"
#include "report.h"
#include "slices.h"
#include "vcpu.h"
#include "virtual_time.h"
#include "waits.h"

/* AArch64 instructions that matter for time. Each is four bytes, little-endian. */
#define INSN_WFI 0xd503207fu
#define INSN_WFE 0xd503205fu
#define INSN_YIELD 0xd503203fu
#define INSN_HVC_0 0xd4000002u
#define INSN_ERET 0xd69f03e0u
#define INSN_HINT(number) (0xd503201fu | (number) << 5)
#define INSN_HINT_MESSAGE INSN_HINT(HINT_MESSAGE)
#define INSN_HINT_4_TURNS INSN_HINT(HINT_4_TURNS)
#define INSN_HINT_1_TURN INSN_HINT(HINT_1_TURN)

/* MRS Xt, CNTPCT_EL0 or CNTVCT_EL0, or their self-synchronised forms. */
static bool reads_clock(uint32_t insn)
{
	switch (insn & ~0x1fu) {
	case 0xd53be020u:
	case 0xd53be040u:
	case 0xd53be0a0u:
	case 0xd53be0c0u:
		return true;
	}
	return false;
}

/* MSR TPIDR_EL0, Xt: another thread goes on. */
static bool switches_thread(uint32_t insn)
{
	return (insn & ~0x1fu) == 0xd51bd040u;
}

/* MSR CNT{P,V}_{TVAL,CTL,CVAL}_EL0, Xt: a timer of this vCPU changes. */
static bool sets_timer(uint32_t insn)
{
	return (insn & 0xfffffe00u) == 0xd51be200u;
}

#define PSCI_CPU_SUSPEND_32 0x84000001u
#define PSCI_CPU_SUSPEND_64 0xc4000001u
#define PSCI_CPU_OFF 0x84000002u
#define PSCI_CPU_ON_32 0x84000003u
#define PSCI_CPU_ON_64 0xc4000003u
#define PSCI_SYSTEM_OFF 0x84000008u
#define PSCI_SYSTEM_RESET 0x84000009u

/* One cache line for each vCPU. */
struct scoreboard {
	work count;
	uint64_t owes;
	uint64_t padding[6];
};

static struct qemu_plugin_scoreboard *scoreboard;
static qemu_plugin_u64 count_entry;
static qemu_plugin_u64 owes_entry;

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

/* The vCPU executes so many instructions of a loop, or fewer (negative) than were booked. */
static void book_loop(struct vcpu *vcpu, int64_t instructions, work weight)
{
	vcpu->loop_done += instructions * weight;
	vcpu->loop_instructions += instructions;
}

/* What on_loop() knows: so many instructions of a loop. */
#define OF_LOOP(instructions, loop) ((void *)((instructions) | (uintptr_t)(loop) << 32))

/* A callback in the place of an inline addition: what is added depends on cluster and OPP. */
static void on_loop(unsigned int i, void *of_loop)
{
	uint32_t instructions = (uintptr_t)of_loop;
	work weight = loop_weight(vcpus[i].cluster, (uintptr_t)of_loop >> 32);

	*vcpus[i].count += instructions * weight;
	book_loop(&vcpus[i], instructions, weight);
}

static void on_block_at_limit(unsigned int i, void *place)
{
	slices_block_at_limit(&vcpus[i], WORK(place), CODE(place), HOST_PC);
}

/* This one may be refused, and comes again then. The OPP may change before it returns. */
static void on_loop_at_limit(unsigned int i, void *place)
{
	struct vcpu *vcpu = &vcpus[i];
	work weight = loop_weight(vcpu->cluster, CODE(place) - CODE_LOOP);

	book_loop(vcpu, -(int64_t)INSTRUCTIONS(place), weight);
	slices_block_at_limit(vcpu, INSTRUCTIONS(place) * weight, CODE(place), HOST_PC);
	book_loop(vcpu, INSTRUCTIONS(place), weight);
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
	slices_order_clock_read(&vcpus[i], WORK(place), CODE(place), HOST_PC);
}

static void on_timer_write(unsigned int i, void *place)
{
	(void)place;
	slices_cut(&vcpus[i]);
}

static void on_message(unsigned int i, void *place)
{
	channel_message(&vcpus[i], WORK(place), HOST_PC);
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

static void on_thread_switch(unsigned int i, void *place)
{
	/* The register's number stands above the place; XZR reads 0. */
	unsigned int x = (uintptr_t)place >> 32;

	debt_thread_switch(&vcpus[i], x == 31 ? 0 : channel_register(&vcpus[i], x));
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
	unsigned int loop = CODE(place) >= CODE_LOOP ? CODE(place) - CODE_LOOP : 0;
	uint64_t instructions = four ? config.hints[loop].of_4_turns :
				       config.hints[loop].of_1_turn;

	if (CODE(place) == CODE_KERNEL)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_kernel_hint, QEMU_PLUGIN_CB_NO_REGS,
						       place);
	if (config.weighs_loop)
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
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, on_thread_switch, leaves,
			(void *)((uintptr_t)place | (uint64_t)(code & 0x1f) << 32));
	else if (code == INSN_ERET)
		qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_return_with_debt, stays,
							    QEMU_PLUGIN_COND_NE, owes_entry, 0,
							    place);
	else if (sets_timer(code))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_timer_write, stays, place);
	else if (code == INSN_HINT_4_TURNS && config.hints[0].of_4_turns)
		instrument_hint(insn, true, place);
	else if (code == INSN_HINT_1_TURN && config.hints[0].of_1_turn)
		instrument_hint(insn, false, place);
	else
		return false;
	return true;
}

/* Whether the signed field of `bits` bits from bit `low` on is greater than 0. */
static bool is_positive(uint32_t insn, unsigned int low, unsigned int bits)
{
	return (int32_t)(insn << (32 - low - bits)) >> (32 - bits) > 0;
}

/* A direct branch to a higher address. */
static bool branches_forward(uint32_t insn)
{
	if ((insn & 0x7c000000u) == 0x14000000u) /* B, BL */
		return is_positive(insn, 0, 26);
	if ((insn & 0xff000000u) == 0x54000000u || /* B.cond */
	    (insn & 0x7e000000u) == 0x34000000u) /* CBZ, CBNZ */
		return is_positive(insn, 5, 19);
	if ((insn & 0x7e000000u) == 0x36000000u) /* TBZ, TBNZ */
		return is_positive(insn, 5, 14);
	return false;
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
	loop = config.weighs_loop ? loop_at(address) : LOOP_NONE;
	return loop == LOOP_NONE ? CODE_PROGRAM : CODE_LOOP + loop;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t n = qemu_plugin_tb_n_insns(block);
	uint64_t address = qemu_plugin_tb_vaddr(block);
	enum code code = code_at(address);
	bool special = false;

	(void)id;
	if (code >= CODE_LOOP)
		qemu_plugin_register_vcpu_tb_exec_cb(block, on_loop, QEMU_PLUGIN_CB_NO_REGS,
						     OF_LOOP(n, code - CODE_LOOP));
	else
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
			block, QEMU_PLUGIN_INLINE_ADD_U64, count_entry, work_of(n));
	for (size_t k = 0; k < n; k++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, k);

		special |= instrument_insn(insn, insn_code(insn), PLACE(n - k, code));
	}
	if (special || may_stop_at(address, insn_code(qemu_plugin_tb_get_insn(block, n - 1))))
		qemu_plugin_register_vcpu_tb_exec_cond_cb(
			block, code >= CODE_LOOP ? on_loop_at_limit : on_block_at_limit,
			QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_COND_GE, count_entry, COUNT_LIMIT,
			PLACE(n, code));
}

void instrument_add_vcpu(unsigned int i)
{
	/* The scoreboard moves when it grows. */
	for (unsigned int k = 0; k <= i; k++) {
		struct scoreboard *entry = qemu_plugin_scoreboard_find(scoreboard, k);

		vcpus[k].count = &entry->count;
		vcpus[k].owes = &entry->owes;
	}
}

void instrument_init(qemu_plugin_id_t id)
{
	scoreboard = qemu_plugin_scoreboard_new(sizeof(struct scoreboard));
	count_entry = (qemu_plugin_u64){ scoreboard, offsetof(struct scoreboard, count) };
	owes_entry = (qemu_plugin_u64){ scoreboard, offsetof(struct scoreboard, owes) };
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
}
