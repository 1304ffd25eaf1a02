/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AArch64 instructions, by their encoding. */
#ifndef EASCOPE_INSTRUCTIONS_H
#define EASCOPE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* AArch64 instructions that matter for time. Each is four bytes, little-endian. */
#define INSN_WFI 0xd503207fu
#define INSN_WFE 0xd503205fu
#define INSN_YIELD 0xd503203fu
#define INSN_HVC_0 0xd4000002u
#define INSN_ERET 0xd69f03e0u
#define INSN_HINT(number) (0xd503201fu | (number) << 5)

/* MRS Xt, CNTPCT_EL0 or CNTVCT_EL0, or their self-synchronised forms. */
static inline bool reads_clock(uint32_t insn)
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
static inline bool switches_thread(uint32_t insn)
{
	return (insn & ~0x1fu) == 0xd51bd040u;
}

/* MSR TTBR0_EL1, Xt: another address space. */
static inline bool switches_space(uint32_t insn)
{
	return (insn & ~0x1fu) == 0xd5182000u;
}

/* MSR TTBR1_EL1, Xt: its number comes before it. */
static inline bool sets_asid(uint32_t insn)
{
	return (insn & ~0x1fu) == 0xd5182020u;
}

/* MSR CNT{P,V}_{TVAL,CTL,CVAL}_EL0, Xt: a timer of this vCPU changes. */
static inline bool sets_timer(uint32_t insn)
{
	return (insn & 0xfffffe00u) == 0xd51be200u;
}

/* Whether the signed field of `bits` bits from bit `low` on is greater than 0. */
static inline bool is_positive(uint32_t insn, unsigned int low, unsigned int bits)
{
	return (int32_t)(insn << (32 - low - bits)) >> (32 - bits) > 0;
}

/* A direct branch to a higher address. */
static inline bool branches_forward(uint32_t insn)
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

/* What HVC asks for, in x0. */
#define PSCI_CPU_SUSPEND_32 0x84000001u
#define PSCI_CPU_SUSPEND_64 0xc4000001u
#define PSCI_CPU_OFF 0x84000002u
#define PSCI_CPU_ON_32 0x84000003u
#define PSCI_CPU_ON_64 0xc4000003u
#define PSCI_SYSTEM_OFF 0x84000008u
#define PSCI_SYSTEM_RESET 0x84000009u

#endif
