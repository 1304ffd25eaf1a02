/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether EAS places tasks. */
#ifndef EAS_H
#define EAS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For how many wake-ups EAS was asked, on all CPUs; -1 if the kernel does not say. */
static inline long feec_called(void)
{
	FILE *stats = fopen("/sys/kernel/debug/sched/eascope/stats", "r");
	char line[1024], *rest;
	long sum = -1;

	if (!stats)
		return -1;
	while (fgets(line, sizeof(line), stats)) {
		if (strncmp(line, "feec_called ", 12))
			continue;
		sum = 0;
		for (char *word = strtok_r(line + 12, " \n", &rest); word;
		     word = strtok_r(NULL, " \n", &rest))
			sum += atol(word);
	}
	fclose(stats);
	return sum;
}

#endif
