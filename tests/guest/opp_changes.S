/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OPP changes with no CPU asleep, on gem5 without an operating system: before each, every CPU
 * executes TURNS turns of loads, stores, floating point and branches, so that all of its statistics
 * have moved. CPU 0 asks for the changes, of cluster DOMAIN, CHANGES times to and fro between its
 * two fastest OPPs. The compiler is given ENERGYCTRL, the board's address. The boot loader enters here at EL2, the other CPUs by the spin table.
 */
#include "energyctrl.h"
#include "m5ops.h"
#include "messages.h"

#define STACKS		0x87000000

	.macro	mark number
	mov	x0, #\number
	mov	x1, #0
	.inst	M5_INSTRUCTION(M5_WORK_BEGIN)
	.endm

	.text
	.globl	_start
_start:
	mov	x9, #0x33ff		/* floating point is not trapped */
	msr	cptr_el2, x9
	adr	x10, other
	str	x10, [x5]
	dsb	sy
	sev
	ldr	x20, =STACKS
	mark	MARK_START
	mov	x21, #0
1:	sev				/* all others do their turns, too */
	bl	work
	ldr	x9, =ENERGYCTRL
	mov	w10, #DOMAIN
	str	w10, [x9, #DOMAIN_ID]
	and	w10, w21, #1
	eor	w10, w10, #1
	str	w10, [x9, #PERF_LEVEL]
	mrs	x10, cntpct_el0
	add	x10, x10, #SETTLE_TICKS
2:	isb
	mrs	x11, cntpct_el0
	cmp	x11, x10
	b.lo	2b
	add	x21, x21, #1
	cmp	x21, #CHANGES
	b.lo	1b
	mark	MARK_STOP
	mov	x0, #0
	.inst	M5_INSTRUCTION(M5_EXIT)
	b	.

other:
	mov	x9, #0x33ff
	msr	cptr_el2, x9
	mrs	x9, mpidr_el1		/* affinity 0 and 1 are below 256 each: lines of their own */
	and	x9, x9, #0xffff
	ldr	x20, =STACKS
	add	x20, x20, x9, lsl #8
3:	wfe
	bl	work
	b	3b

work:
	mov	x12, #TURNS
	fmov	d0, #1.5
4:	ldr	x13, [x20]
	add	x13, x13, #1
	str	x13, [x20, #8]
	fmadd	d1, d0, d0, d1
	tbz	x12, #0, 5f
	mul	x14, x13, x13
5:	subs	x12, x12, #1
	b.ne	4b
	ret

	/* gem5 wants a kernel to have these. */
	.globl	__udelay, __const_udelay
__udelay:
__const_udelay:
	ret
