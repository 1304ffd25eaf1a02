/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines to the Python side, and the end of QEMU. */
#ifndef EASCOPE_REPORT_H
#define EASCOPE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "virtual_time.h"

void report_open(int fd);
void report_close(void);
void report_mark(uint64_t id, vtime at, uint64_t mono_ns);
void report_dvfs(unsigned int cluster, uint64_t requests, uint64_t transitions);
/* Whether it is time, on the host, to say again how far the run is. */
bool report_wants_progress(void);
void report_progress(vtime at, uint64_t instructions);
/* What is closed, and said, before the line that says how the run ended. */
void report_before_end(void (*last_words)(void));
/* End QEMU; `kind` is exit, fail or engine. */
void report_end(const char *kind, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
void report_powered_off(void) __attribute__((noreturn));

#endif
