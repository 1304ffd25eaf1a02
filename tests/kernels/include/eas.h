/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether EAS places tasks. */
#ifndef EAS_H
#define EAS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A counter of the kernel's, over all CPUs; -1 if the kernel does not say. */
static inline long counted(const char *name)
{
	size_t length = strlen(name);
	FILE *stats = fopen("/sys/kernel/debug/sched/eascope/stats", "r");
	char line[1024], *rest;
	long sum = -1;

	if (!stats)
		return -1;
	while (fgets(line, sizeof(line), stats)) {
		if (strncmp(line, name, length) || line[length] != ' ')
			continue;
		sum = 0;
		for (char *word = strtok_r(line + length, " \n", &rest); word;
		     word = strtok_r(NULL, " \n", &rest))
			sum += atol(word);
	}
	fclose(stats);
	return sum;
}

/* For how many wake-ups EAS was asked. */
static inline long feec_called(void)
{
	return counted("feec_called");
}

#endif
