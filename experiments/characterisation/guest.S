/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workload kernels on one CPU without an operating system, at each of its OPPs: every instruction
 * between two marks is the kernel's. gem5's boot loader enters here at EL2.
 *
 * The compiler is given LEVELS (OPPs of the cluster), ENERGYCTRL and SETTLE_TICKS (ticks of the
 * system counter that an OPP change surely needs), and finds rt-app's text in rt-app.bin (from its
 * busy loop's function to the end of ldexp, at the same offset in a page). With MIXTURES, kernels are
 * those of mixtures.S, which has their table and calls `mixture` for each.
 *
 * Marks: 2 and 3 around all; before and after kernel k at level l: 64 l + 2 k + 1024 and the
 * next number. Level 0 is the fastest.
 */
#include "m5ops.h"

#define DOMAIN_ID	0x10
#define PERF_LEVEL	0x14

#define STACK		0x87000000
/* Zero, far from all else; larger than any L2 of a platform. */
#define LINES		0x90000000
#define LINES_MASK	0x1ffff		/* 128 Ki lines of 64 bytes: 8 MiB */

	.macro	mark
	mov	x1, #0
	.inst	M5_INSTRUCTION(M5_WORK_BEGIN)
	.endm

	.text
	.globl	_start
_start:
	mov	x9, #0x33ff		/* floating point is not trapped */
	msr	cptr_el2, x9
	msr	hcr_el2, xzr
	ldr	x9, =STACK
	mov	sp, x9

	/* Memory is one block of normal memory, the first GiB is devices; no TLB miss matters. */
	ldr	x9, =0x00ff		/* attribute 0: write-back; 1: device */
	msr	mair_el2, x9
	ldr	x9, =0x80823519		/* 39 bits, 4 KiB, write-back inner shareable walks, 40 bits PA */
	msr	tcr_el2, x9
	adrp	x9, tables
	msr	ttbr0_el2, x9
	dsb	sy
	isb
	ldr	x9, =0x30c51835		/* RES1, I, C, M */
	msr	sctlr_el2, x9
	isb

	ldr	x19, =0x123456789abcdef	/* state of the pseudo-random kernels */
	mov	x20, #1
	mov	x0, #2
	mark
	mov	x21, #0			/* level */
next_level:
	ldr	x9, =ENERGYCTRL
	str	wzr, [x9, #DOMAIN_ID]
	str	w21, [x9, #PERF_LEVEL]
	mrs	x10, cntpct_el0
	ldr	x11, =SETTLE_TICKS
	add	x10, x10, x11
1:	isb
	mrs	x11, cntpct_el0
	cmp	x11, x10
	b.lo	1b

	mov	x22, #0			/* kernel */
	adr	x23, kernels
next_kernel:
	ldr	x24, [x23, x22, lsl #3]
	cbz	x24, level_done
	blr	x24			/* caches and predictors get to know it */
	lsl	x25, x21, #6
	add	x25, x25, x22, lsl #1
	add	x25, x25, #1024
	mov	x0, x25
	mark
	blr	x24
	add	x0, x25, #1
	mark
	add	x22, x22, #1
	b	next_kernel
level_done:
	add	x21, x21, #1
	cmp	x21, #LEVELS
	b.lo	next_level

	mov	x0, #3
	mark
	mov	x0, #0
	.inst	M5_INSTRUCTION(M5_EXIT)
	b	.

	.balign	8
kernels:
#ifndef MIXTURES
	.quad	busy_loop, integer, branchy, floating_point, memory, 0
#else
	.include "mixtures.S"
#endif

/* rt-app's own busy loop. */
busy_loop:
	stp	x29, x30, [sp, #-16]!
	mov	x0, #BUSY_TURNS
	bl	rt_app
	ldp	x29, x30, [sp], #16
	ret

/* Independent additions with a load and a store that hit. */
integer:
	mov	x0, #4000
	sub	x1, sp, #64
1:	ldr	x2, [x1]
	add	x3, x3, #1
	eor	x4, x4, x3
	add	x5, x5, #3
	add	x6, x6, x2
	orr	x7, x5, x3
	str	x7, [x1, #8]
	sub	x9, x9, x5
	add	x10, x10, #5
	subs	x0, x0, #1
	b.ne	1b
	ret

/* Three branches a turn that nothing predicts (xorshift). */
branchy:
	mov	x0, #3000
1:	eor	x19, x19, x19, lsl #13
	eor	x19, x19, x19, lsr #7
	eor	x19, x19, x19, lsl #17
	tbz	x19, #3, 2f
	add	x3, x3, #1
2:	tbz	x19, #11, 3f
	add	x4, x4, x3
3:	tbz	x19, #23, 4f
	eor	x5, x5, x4
4:	subs	x0, x0, #1
	b.ne	1b
	ret

/* Multiplications and additions of doubles, half of them in four chains. */
floating_point:
	mov	x0, #3000
	fmov	d16, #1.0
	fmov	d17, #0.5
1:	fmadd	d0, d16, d17, d0
	fmadd	d1, d16, d17, d1
	fmul	d4, d16, d17
	fadd	d5, d16, d17
	fmadd	d2, d16, d17, d2
	fmadd	d3, d16, d17, d3
	fmul	d6, d16, d17
	fadd	d7, d16, d17
	subs	x0, x0, #1
	b.ne	1b
	ret

/* Loads of which each needs the last one's value, from lines that no cache holds. */
memory:
	mov	x0, #3000
	ldr	x1, =LINES
	ldr	x3, =LINES_MASK
	ldr	x4, =1664525
	ldr	x5, =1013904223
1:	madd	x20, x20, x4, x5
	and	x6, x20, x3
	lsl	x6, x6, #6
	ldr	x7, [x1, x6]
	add	x20, x20, x7
	subs	x0, x0, #1
	b.ne	1b
	ret

#ifdef MIXTURES
/* x9 times: x10 turns of the busy loop, then x11 dependent misses. */
mixture:
	stp	x29, x30, [sp, #-48]!
	stp	x26, x27, [sp, #16]
	str	x28, [sp, #32]
	mov	x26, x9
	mov	x27, x10
	mov	x28, x11
2:	mov	x0, x27
	bl	rt_app
	mov	x0, x28
	ldr	x1, =LINES
	ldr	x3, =LINES_MASK
	ldr	x4, =1664525
	ldr	x5, =1013904223
1:	madd	x20, x20, x4, x5
	and	x6, x20, x3
	lsl	x6, x6, #6
	ldr	x7, [x1, x6]
	add	x20, x20, x7
	subs	x0, x0, #1
	b.ne	1b
	subs	x26, x26, #1
	b.ne	2b
	ldr	x28, [sp, #32]
	ldp	x26, x27, [sp, #16]
	ldp	x29, x30, [sp], #48
	ret
#endif

/* gem5 wants a kernel to have these, to skip what they wait. */
	.globl	__udelay
__udelay:
	.globl	__const_udelay
__const_udelay:
	ret
	.ltorg

	.balign	4096
	.skip	RT_APP_OFFSET
rt_app:
	.incbin	"rt-app.bin"

	.balign	4096
tables:
	.quad	0x0040000000000445	/* 0: devices, never executed */
	.quad	0
	.quad	0x0000000080000741	/* 2 GiB: normal, inner shareable, accessed */
	.skip	4096 - 24
