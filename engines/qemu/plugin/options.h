/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options after the plugin's name on QEMU's command line. */
#ifndef EASCOPE_OPTIONS_H
#define EASCOPE_OPTIONS_H

#include <stdbool.h>

bool options_parse(int argc, char **argv);

#endif
