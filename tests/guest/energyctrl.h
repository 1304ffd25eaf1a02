/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of gem5's EnergyCtrl, as the bare-metal tests use them, in C and assembler. A test
 * compares them with the plugin's and the kernel driver's.
 */
#ifndef EASCOPE_TEST_ENERGYCTRL_H
#define EASCOPE_TEST_ENERGYCTRL_H

#define DVFS_HANDLER_STATUS		0x00
#define DVFS_NUM_DOMAINS		0x04
#define DVFS_DOMAINID_AT_INDEX		0x08
#define DVFS_HANDLER_TRANS_LATENCY	0x0c
#define DOMAIN_ID			0x10
#define PERF_LEVEL			0x14
#define PERF_LEVEL_ACK			0x18
#define NUM_OF_PERF_LEVELS		0x1c
#define PERF_LEVEL_TO_READ		0x20
#define FREQ_AT_PERF_LEVEL		0x24
#define VOLT_AT_PERF_LEVEL		0x28
/* The plugin's own, on a package with a budget. */
#define PERF_LEVEL_GRANTED		0x2c

#endif
