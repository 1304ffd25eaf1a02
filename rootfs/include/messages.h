/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and names by which the guest talks to the machine. The agent, the fast engine's plugin and
 * bare-metal tests include this file; Python reads it (rootfs/headers.py). So each stands here
 * alone. The kernel's idle driver has its own copy of the hints and of VERB_IDLE_STATE: a patch of the
 * queue `base` can include nothing of ours.
 */
#ifndef EASCOPE_MESSAGES_H
#define EASCOPE_MESSAGES_H

/* Marks of the agent; a bare-metal test may set others. */
#define MARK_READY		1
#define MARK_START		2
#define MARK_STOP		3

/* Files of the run that the agent makes itself. */
#define FILE_STATE		"state.txt"
#define FILE_TRACE		"trace.dat"

/*
 * `hint #HINT_MESSAGE` is a message to the fast engine: its verb in x0, arguments from x1 on. Every
 * other machine takes it for a NOP.
 */
#define HINT_MESSAGE		0x60

#define VERB_MARK		1
#define VERB_IDLE_STATE		2	/* the kernel's */
#define VERB_WRITE_FILE		3
#define VERB_FAIL		4
#define VERB_EXIT		5
#define VERB_READ_SCRIPT	6

/* Hints that stand for turns of rt-app's busy loop, in its copy for the fast engine. */
#define HINT_4_ITERATIONS		0x61
#define HINT_1_ITERATION		0x62

#endif
