// SPDX-License-Identifier: GPL-2.0-or-later
/* Work, and what is printed of it. */
#include "policy.h"

#include <stdio.h>
#include <stdlib.h>

/* 10 us of tc2-like's big CPUs at 400 MHz on the fast engine, whose rate is two instructions a cycle. */
#define CHUNK		3965

void chunk(void)
{
	for (int left = CHUNK; left; left--)
		__asm__ volatile("" : "+r"(left));
}

void add(struct samples *samples, double value)
{
	int at = samples->count++;

	if (at < MOST_SAMPLES)
		samples->value[at] = value;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double sum_of(const struct samples *samples)
{
	double sum = 0;

	for (int number = 0; number < samples->count; number++)
		sum += samples->value[number];
	return sum;
}

void print_us(const char *name, struct samples *samples)
{
	int count = samples->count;

	if (!count)
		return;
	qsort(samples->value, count, sizeof(double), compare);
	printf("%s_mean_us %.1f\n", name, sum_of(samples) / count / 1000);
	printf("%s_min_us %.1f\n", name, samples->value[0] / 1000);
	printf("%s_p50_us %.1f\n", name, samples->value[(count - 1) / 2] / 1000);
	printf("%s_max_us %.1f\n", name, samples->value[count - 1] / 1000);
}
