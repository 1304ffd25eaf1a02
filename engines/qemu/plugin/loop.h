/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which code is rt-app's busy loop, and which mixture's copy of it. */
#ifndef EASCOPE_LOOP_H
#define EASCOPE_LOOP_H

#include <stdint.h>

/* No loop's code. */
#define LOOP_NONE (-1)

int loop_at(uint64_t address);

#endif
