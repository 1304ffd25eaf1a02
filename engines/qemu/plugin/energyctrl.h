/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DVFS device. */
#ifndef EASCOPE_ENERGYCTRL_H
#define EASCOPE_ENERGYCTRL_H

struct cluster;

void energyctrl_init(void);
void energyctrl_map(void);
/* The fastest level that is granted from now on, between two turns. */
void energyctrl_grant(struct cluster *cluster, unsigned int level);

#endif
