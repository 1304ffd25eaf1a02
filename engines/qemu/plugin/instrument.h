/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instrumentation of guest code. */
#ifndef EASCOPE_INSTRUMENT_H
#define EASCOPE_INSTRUMENT_H

#include "qemu_plugin_api.h"

void instrument_init(qemu_plugin_id_t id);
/* The vCPU `i` has been made, and all below it: where their counts are. */
void instrument_add_vcpu(unsigned int i);

#endif
