/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DVFS device. */
#ifndef EASCOPE_ENERGYCTRL_H
#define EASCOPE_ENERGYCTRL_H

void energyctrl_init(void);
void energyctrl_map(void);

#endif
