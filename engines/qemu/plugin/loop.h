/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which code is rt-app's busy loop. */
#ifndef EASCOPE_LOOP_H
#define EASCOPE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

bool loop_has(uint64_t address);

#endif
