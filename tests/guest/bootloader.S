/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Around the boot loader of gem5 on QEMU's virt machine with EL3: gives each CPU the registers that
 * gem5 gives it, and is the kernel that is entered. CPU 0 prints its exception level and, as a
 * letter, whether x0 is the device tree; then it releases CPU 1 through the spin table, which
 * prints its level and a letter for x0 = 0.
 */
#define UART		0x09000000
#define DEVICE_TREE	0x88000000
#define RELEASE		0x87fffff8

	.text
	.globl	reset
reset:
	ldr	x0, =DEVICE_TREE
	ldr	x3, =kernel
	ldr	x5, =RELEASE
	b	_start

	.macro	tell expected, letter
	ldr	x10, =UART
	mrs	x11, CurrentEL
	lsr	x11, x11, #2
	add	x11, x11, #'0'
	str	w11, [x10]
	mov	x11, #\letter
	ldr	x12, =\expected
	cmp	x0, x12
	mov	x12, #'?'
	csel	x11, x11, x12, eq
	str	w11, [x10]
	.endm

kernel:
	tell	DEVICE_TREE, 'A'
	ldr	x9, =RELEASE
	adr	x10, second
	str	x10, [x9]
	dsb	sy
	sev
	b	.

second:
	tell	0, 'B'
	b	.
