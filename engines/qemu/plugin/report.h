/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines to the Python side, and the end of QEMU. */
#ifndef EASCOPE_REPORT_H
#define EASCOPE_REPORT_H

#include <stdint.h>

#include "virtual_time.h"

void report_open(int fd);
void report_close(void);
void report_mark(uint64_t id, vtime at, uint64_t mono_ns);
void report_progress(vtime at);
/* Flush and close everything and end QEMU; `kind` is exit, fail or engine. */
void report_end(const char *kind, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#endif
