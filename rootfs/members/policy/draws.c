// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws: the same on every machine, so no library's logarithm. */
#include "policy.h"

#define LEAST_BOOST_NS	530000.0
#define MOST_BOOST_NS	120000000.0
#define SHAPE		1.062042	/* of the bounded Pareto distribution with mean, least and most */

static uint64_t draws;

double uniform(void)	/* 0 < u < 1 */
{
	uint64_t z = draws += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return ((z ^ z >> 31) >> 12) / 4503599627370496.0 + 1e-17;
}

double logarithm(double x)	/* 0 < x <= 1 */
{
	double sum = 0, power, y;

	for (; x < 0.5; x *= 2)
		sum -= 0.69314718055994530942;
	y = power = (x - 1) / (x + 1);
	for (int odd = 1; odd < 40; odd += 2, power *= y * y)
		sum += 2 * power / odd;
	return sum;
}

static double exponential(double x)
{
	double sum = 1, term = 1;

	for (int n = 1; n < 40; n++)
		sum += term *= x / 16 / n;
	for (int n = 0; n < 4; n++)
		sum *= sum;
	return sum;
}

double boost_ns(void)
{
	double within = exponential(SHAPE * logarithm(LEAST_BOOST_NS / MOST_BOOST_NS));

	return LEAST_BOOST_NS * exponential(-logarithm(1 - uniform() * (1 - within)) / SHAPE);
}

void draw_from(uint64_t seed)
{
	draws = seed;
}
