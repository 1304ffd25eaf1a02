/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DVFS device. */
#ifndef EASCOPE_ENERGYCTRL_H
#define EASCOPE_ENERGYCTRL_H

#include "virtual_time.h"

void energyctrl_init(void);
void energyctrl_map(void);
vtime energyctrl_next(void);
void energyctrl_run(vtime base);

#endif
