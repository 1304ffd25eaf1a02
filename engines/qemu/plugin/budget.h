/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The package's power budget. */
#ifndef EASCOPE_BUDGET_H
#define EASCOPE_BUDGET_H

void budget_init(void);

#endif
