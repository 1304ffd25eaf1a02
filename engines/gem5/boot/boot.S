/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Boot loader for gem5's Arm machines: from reset at the highest exception level to the kernel's
 * entry at EL2, non-secure.
 *
 * gem5 starts every CPU here with
 *	x0	device tree
 *	x3	the kernel's entry
 *	x5	release word of the spin table (cpu-release-addr in the device tree); 0 after reset
 * CPU 0 goes on to the kernel with x0 = device tree and x1..x3 = 0 (arm64's boot protocol), the
 * others wait until the release word holds an address, and go there.
 *
 * The assembler is given GICD (distributor), GICC (CPU interface of a GICv2) or GICR (redistributors
 * of a GICv3), and COUNTER_HZ (system counter).
 */
#include "m5ops.h"

/* Set bit in x10 when the field of four bits at shift in ID register reg is at least least. */
	.macro	enable bit, reg, shift, least=1
	mrs	x9, \reg
	ubfx	x9, x9, #\shift, #4
	cmp	x9, #\least
	orr	x11, x10, #(1 << \bit)
	csel	x10, x11, x10, hs
	.endm

#define ID_AA64ISAR2_EL1	S3_0_C0_C6_2
#define ID_AA64MMFR3_EL1	S3_0_C0_C7_3
#define ZCR_EL3			S3_6_C1_C2_0
#define SMCR_EL3		S3_6_C1_C2_6
#define ICC_SRE_EL3		S3_6_C12_C12_5

#define GICR_TYPER		0x08
#define GICR_WAKER		0x14
#define GICR_PAGE		0x10000		/* of SGIs and PPIs, behind the first */
#define GICR_SIZE		0x20000
#define IGROUPR			0x80

	.text
	.globl	_start
_start:
	mrs	x9, CurrentEL
	cmp	x9, #(3 << 2)
	b.ne	leave			/* a machine without EL3 has nothing to open */

	adr	x9, vectors
	msr	vbar_el3, x9

	/*
	 * What EL3 keeps from lower levels by default. A kernel uses each feature
	 * that the ID registers announce, so each is opened: NS, RES1 (4, 5), SMD, HCE, RW.
	 */
	mov	x10, #(1 << 0 | 3 << 4 | 1 << 7 | 1 << 8 | 1 << 10)
	enable	16, id_aa64isar1_el1, 4		/* APK: pointer authentication, */
	enable	17, id_aa64isar1_el1, 4		/* API: by any of four algorithms */
	enable	16, id_aa64isar1_el1, 8
	enable	17, id_aa64isar1_el1, 8
	enable	16, id_aa64isar1_el1, 24
	enable	17, id_aa64isar1_el1, 24
	enable	16, id_aa64isar1_el1, 28
	enable	17, id_aa64isar1_el1, 28
	enable	16, ID_AA64ISAR2_EL1, 12
	enable	17, ID_AA64ISAR2_EL1, 12
	enable	25, id_aa64pfr0_el1, 56, 2	/* EnSCXT: SCXTNUM_ELx */
	enable	26, id_aa64pfr1_el1, 8, 2	/* ATA: allocation tags */
	enable	27, id_aa64mmfr0_el1, 56	/* FGTEn: fine-grained traps */
	enable	28, id_aa64mmfr0_el1, 60, 2	/* ECVEn: CNTPOFF_EL2 */
	enable	38, id_aa64mmfr1_el1, 40	/* HXEn: HCRX_EL2 */
	enable	39, id_aa64pfr1_el1, 44		/* GCSEn: guarded control stack */
	enable	41, id_aa64pfr1_el1, 24		/* EnTP2: TPIDR2_EL0 */
	enable	43, ID_AA64MMFR3_EL1, 0		/* TCR2En: TCR2_ELx */
	enable	44, ID_AA64MMFR3_EL1, 4		/* SCTLR2En: SCTLR2_ELx */
	enable	45, ID_AA64MMFR3_EL1, 8		/* PIEn: permission indirection */
	msr	scr_el3, x10

	/* Floating point is open at 0; the longest vectors where there are any. */
	mov	x10, #0
	enable	8, id_aa64pfr0_el1, 32		/* EZ: SVE */
	enable	12, id_aa64pfr1_el1, 24		/* ESM: SME */
	msr	cptr_el3, x10
	isb
	mov	x9, #0xf
	tbz	x10, #8, 1f
	msr	ZCR_EL3, x9
1:	tbz	x10, #12, 2f
	msr	SMCR_EL3, x9
2:
	ldr	x9, =COUNTER_HZ
	msr	cntfrq_el0, x9

#ifdef GICR
	/*
	 * All interrupts to group 1, the non-secure one: words of 32, of which word 0 is each
	 * CPU's own and lies in its redistributor. CPU 0 wakes all redistributors.
	 */
	mrs	x12, mpidr_el1
	tst	x12, #0xffffff
	b.ne	7f
	mov	w11, #-1
	ldr	x9, =GICD
	ldr	w10, [x9, #4]			/* TYPER: words, less one */
	and	x10, x10, #0x1f
3:	cbz	x10, 4f
	add	x12, x9, x10, lsl #2
	str	w11, [x12, #IGROUPR]
	sub	x10, x10, #1
	b	3b
4:	ldr	x9, =GICR
5:	ldr	w12, [x9, #GICR_WAKER]
	bic	w12, w12, #2			/* ProcessorSleep */
	str	w12, [x9, #GICR_WAKER]
6:	ldr	w12, [x9, #GICR_WAKER]
	tbnz	w12, #2, 6b			/* ChildrenAsleep */
	add	x12, x9, #GICR_PAGE
	str	w11, [x12, #IGROUPR]
	ldr	w12, [x9, #GICR_TYPER]
	add	x9, x9, #GICR_SIZE
	tbz	w12, #4, 5b			/* Last */
7:	mov	x9, #0xf			/* system registers, for the lower levels too */
	msr	ICC_SRE_EL3, x9
	isb
#else
	/* All interrupts to group 1, the non-secure one; priorities of the whole range. */
	ldr	x9, =GICD
	ldr	w10, [x9, #4]			/* TYPER: words of 32 interrupts, less one */
	and	x10, x10, #0x1f
	mov	w11, #-1
	mrs	x12, mpidr_el1
	tst	x12, #0xffffff
	csel	x10, x10, xzr, eq		/* word 0 is each CPU's own, the rest CPU 0's */
3:	add	x12, x9, x10, lsl #2
	str	w11, [x12, #0x80]		/* IGROUPR */
	subs	x10, x10, #1
	b.pl	3b
	ldr	x9, =GICC
	mov	w11, #0xff
	str	w11, [x9, #4]			/* PMR */
	mov	w11, #3
	str	w11, [x9]			/* CTLR: both groups */
#endif

	ldr	x9, =0x30c50830			/* SCTLR_EL2: RES1, all else off */
	msr	sctlr_el2, x9
	mov	x9, #0x3c9			/* EL2 with its own stack, DAIF masked */
	msr	spsr_el3, x9
	adr	x9, leave
	msr	elr_el3, x9
	dsb	sy
	isb
	eret

leave:
	mov	x9, x3
	mov	x1, #0
	mov	x2, #0
	mov	x3, #0
	mrs	x10, mpidr_el1
	tst	x10, #0xffffff
	b.ne	park
	br	x9

park:
	mov	x0, #0
4:	wfe
	ldr	x9, [x5]
	cbz	x9, 4b
	br	x9

/*
 * Nothing calls EL3 and nothing should trap to it: a register that was not opened above would
 * otherwise be a silent hang. gem5's operation "fail" ends the simulation with the syndrome.
 */
trapped:
	mov	x0, #0
	mrs	x1, esr_el3
	.inst	M5_INSTRUCTION(M5_FAIL)
	b	.

	.balign	2048
vectors:
	.rept	16
	.balign	128
	b	trapped
	.endr
	.ltorg
