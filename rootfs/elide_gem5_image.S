/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stands in place of rt-app's busy loop in the copy for gem5: x0 turns pass while the CPU
 * stands still, by gem5's pseudo operations. elide_gem5.py says why it is done like this.
 *
 * The assembler is told SLICE_NS (length of a slice), PROBE_TURNS (length of the first one after
 * a look around) and OWN_CYCLES (what a slice costs beside standing still).
 *
 *	x9	turns left
 *	x10	cycles of a turn on this CPU, in sixteenths
 *	x11	thread's CPU time less the machine's time (ns) as long as nothing interrupts
 *	x12	turns per ns of the last whole slice, times 2^20
 *	x13	turns of this slice
 *	x14	when it began (ns)
 *	x15	how long it was (ns), whatever happened meanwhile
 *
 * The exclusive monitor tells whether anything happened: every return from an exception clears it.
 */
#define NR_getcpu			168
#define NR_clock_gettime		113
#define CLOCK_THREAD_CPUTIME_ID		3

	.macro	quiesce_cycles		/* x0: cycles */
	.inst	0xff030110
	.endm
	.macro	now_ns			/* to x0 */
	.inst	0xff070110
	.endm

	.text
	.globl	quiesce_turns
quiesce_turns:
	cbz	x0, out
	mov	x9, x0
	sub	sp, sp, #16
	mov	x13, #0				/* no slice yet: nothing to settle */
	mov	x12, #(1 << 30)			/* a rate for which any time is a whole slice */

	/* Which CPU is this, and how long has this thread run? */
look:
	mov	x8, #NR_getcpu
	mov	x0, sp
	mov	x1, #0
	svc	#0
	ldr	w4, [sp]
	mov	x8, #NR_clock_gettime
	mov	x0, #CLOCK_THREAD_CPUTIME_ID
	mov	x1, sp
	svc	#0
	ldxr	x1, [sp]			/* seconds; from here on an interruption shows */
	ldr	x2, [sp, #8]
	mov	x3, #(1000000000 & 0xffff)
	movk	x3, #(1000000000 >> 16), lsl #16
	madd	x2, x1, x3, x2

	/* What the interrupted slice did: the time that this thread had, at the last rate. */
	sub	x3, x2, x14
	sub	x3, x3, x11
	cmp	x3, x15
	csel	x3, x3, x15, lo
	mul	x3, x3, x12
	lsr	x3, x3, #20
	cmp	x3, x13
	csel	x3, x3, x13, lo
	subs	x9, x9, x3
	b.eq	done

	adr	x5, table
	ldrh	w10, [x5, x4, lsl #1]
	cbz	w10, unknown
	now_ns
	mov	x14, x0
	sub	x11, x2, x0
	mov	x13, #PROBE_TURNS
slice:
	cmp	x13, x9
	csel	x13, x13, x9, lo
	mul	x0, x13, x10
	lsr	x0, x0, #4
	sub	x0, x0, #OWN_CYCLES
	sevl
	quiesce_cycles
	wfe
	now_ns
	sub	x15, x0, x14
	stxr	w1, xzr, [sp]
	ldxr	x2, [sp]
	cbnz	w1, look

	mov	x14, x0
	lsl	x2, x13, #20
	udiv	x12, x2, x15
	subs	x9, x9, x13
	b.eq	done
	mov	x1, #SLICE_NS
	mul	x13, x12, x1
	lsr	x13, x13, #20
	b	slice

done:
	add	sp, sp, #16
out:
	ret
unknown:
	brk	#0				/* no such CPU in the table */

	.balign	4
table:
	.rept	8
	.hword	0
	.endr
