/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One boot for many runs, and the script that tells runs of one machine apart. */
#ifndef EASCOPE_SHARE_H
#define EASCOPE_SHARE_H

#include <stdint.h>

#include "vcpu.h"

/* The agent asks for its script from an offset on: where all runs of a machine are still alike. */
void share_script(const struct vcpu *vcpu, uint64_t buffer, uint64_t room, uint64_t offset,
		  uint64_t got);

#endif
