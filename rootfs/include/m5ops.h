/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gem5's pseudo operations, by gem5's own numbers (its include/gem5/asm/generic/m5ops.h). C and
 * assembler include this file. The kernel's idle driver has M5_QUIESCE_NS as an instruction of its
 * own: a patch of the queue `base` can include nothing of ours.
 */
#ifndef EASCOPE_M5OPS_H
#define EASCOPE_M5OPS_H

/* The operation as an instruction of an Arm CPU, for .inst; arguments are in x0, x1, ... */
#define M5_INSTRUCTION(number)	(0xff000110 | (number) << 16)

#define M5_QUIESCE_NS		0x02
#define M5_QUIESCE_CYCLES	0x03
#define M5_NOW_NS		0x07	/* gem5 calls it rpns */
#define M5_EXIT			0x21
#define M5_FAIL			0x22
#define M5_CHECKPOINT		0x43
#define M5_WRITE_FILE		0x4f
#define M5_READ_FILE		0x50
#define M5_WORK_BEGIN		0x5a

#endif
