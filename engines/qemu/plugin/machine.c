// SPDX-License-Identifier: GPL-2.0-or-later
/* The machine that the options describe; options.c fills it in. */
#include "machine.h"

struct config config = {
	.report_fd = 2,
	.serve_fd = -1,
};

struct cluster clusters[MAX_CLUSTERS];
