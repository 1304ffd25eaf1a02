/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands in place of rt-app's busy loop in the copy for gem5: x0 turns pass while the CPU
 * stands still, by gem5's pseudo operations. eliding_copy.py says why it is done like this.
 *
 * The assembler is given PROBE_TURNS (length of the first slice after a look around), OWN_CYCLES
 * (what a slice costs besides standing still), AWAY_SHIFT (see x15) and TABLE_CPUS (entries of the
 * table).
 *
 *	x9	turns left
 *	x10	cycles of a turn on this CPU, in sixteenths
 *	x11	thread's CPU time less the machine's time (ns) as long as nobody else runs
 *	x12	turns per ns of the last whole slice, times 2^20
 *	x13	turns of this slice
 *	x14	when it began (ns)
 *	x15	how long it was (ns), whatever happened meanwhile; from 2^AWAY_SHIFT on others ran,
 *		and it becomes the time that this thread had
 *
 * The exclusive monitor tells whether anything happened: every return from an exception clears it.
 *
 * With MEMORY defined, a turn also waits for memory: x16 has its ns in sixteenths, and the CPU stands
 * still a second time in a slice, for a time that no clock changes. That copy is longer.
 */
#include "m5ops.h"

#define NR_getcpu			168
#define NR_clock_gettime		113
#define CLOCK_THREAD_CPUTIME_ID		3

	.macro	quiesce_cycles		/* x0: cycles */
	.inst	M5_INSTRUCTION(M5_QUIESCE_CYCLES)
	.endm
	.macro	quiesce_ns		/* x0: ns */
	.inst	M5_INSTRUCTION(M5_QUIESCE_NS)
	.endm
	.macro	now_ns			/* to x0 */
	.inst	M5_INSTRUCTION(M5_NOW_NS)
	.endm

	.text
	.globl	quiesce_iterations
quiesce_iterations:
	cbz	x0, out
	mov	x9, x0
	sub	sp, sp, #16
	mov	x13, #0				/* no slice yet: nothing to settle */
	mov	x12, #(1 << 30)			/* a rate for which any time is a whole slice */
	mov	x15, x12			/* and as if others had run: ask for everything */

	/* Which CPU is this? */
look:
	mov	x8, #NR_getcpu
	mov	x0, sp
	mov	x1, #0
	svc	#0
	ldr	w4, [sp]
	lsr	x1, x15, #AWAY_SHIFT
	cbz	x1, settle

	/* Others ran: how long did this thread? (nothing, once in a second of its time) */
	mov	x8, #NR_clock_gettime
	mov	x0, #CLOCK_THREAD_CPUTIME_ID
	mov	x1, sp
	svc	#0
	ldr	x2, [sp, #8]
	sub	x15, x2, x14
	sub	x15, x15, x11
	bic	x15, x15, x15, asr #63
	now_ns
	sub	x11, x2, x0

	/* What the interrupted slice did: its time at the last rate. */
settle:
	mul	x3, x15, x12
	lsr	x3, x3, #20
	cmp	x3, x13
	csel	x3, x3, x13, lo
	subs	x9, x9, x3
	b.eq	done

	adr	x5, table
#ifdef MEMORY
	ldr	w10, [x5, x4, lsl #2]
	cbz	w10, unknown
	lsr	w16, w10, #16
	and	w10, w10, #0xffff
#else
	ldrh	w10, [x5, x4, lsl #1]
	cbz	w10, unknown
#endif
	ldxr	x1, [sp]			/* from here on an interruption shows */
	now_ns
	mov	x13, #PROBE_TURNS
slice:
	mov	x14, x0
	cmp	x13, x9
	csel	x13, x13, x9, lo
	mul	x0, x13, x10
	lsr	x0, x0, #4
	sub	x0, x0, #OWN_CYCLES
	sevl
	quiesce_cycles
	wfe
#ifdef MEMORY
	/* As below: what can be computed now is, before the monitor is asked. */
	mul	x0, x13, x16
	lsr	x0, x0, #4
	nop
	nop
	nop
	nop
	stxr	w1, xzr, [sp]
	ldxr	x5, [sp]
	cbnz	w1, cut
	sevl
	quiesce_ns
	wfe
#endif
	/*
	 * An O3CPU that an interrupt wakes up fetches one group of instructions more before it
	 * takes it. The monitor must not be among them, so what can be computed now is.
	 */
	now_ns
	sub	x15, x0, x14
	lsl	x2, x13, #20
	udiv	x2, x2, x15
	add	x3, x2, x2, lsr #1		/* turns in 1.5 * 2^15 ns */
	lsr	x3, x3, #5
	stxr	w1, xzr, [sp]
	ldxr	x5, [sp]
	cbnz	w1, look

	mov	x12, x2
	subs	x9, x9, x13
	mov	x13, x3
	b.ne	slice

done:
	add	sp, sp, #16
out:
	ret
unknown:
	brk	#0				/* no such CPU in the table */

#ifdef MEMORY
	/* Interrupted in its first part: the second one does not begin. */
cut:
	now_ns
	sub	x15, x0, x14
	b	look

	.org	CODE_BYTES, 0
table:
	.rept	TABLE_CPUS
	.word	0
	.endr
#else
	.org	244, 0				/* as long as the function that it replaces */
table:
	.rept	TABLE_CPUS
	.hword	0
	.endr
#endif
