// SPDX-License-Identifier: GPL-2.0-or-later
/* Which transport: the device tree says it. Another engine adds a file and a line here. */

#include "agent.h"

#include <string.h>
#include <unistd.h>

#define COMPATIBLE "/proc/device-tree/eascope/compatible"

static const struct transport *const transports[] = {
	&transport_hint,
	&transport_m5ops,
	&transport_console,
};

static const struct transport *chosen = &transport_console;

const struct transport *transport(void)
{
	return chosen;
}

void transport_choose(void)
{
	struct text wanted = { 0 };

	/* Under another init (tests), the machine's transport is not ours to use. */
	if (getpid() != 1)
		return;
	if (file_read(COMPATIBLE, &wanted) < 0)
		return;		/* a machine that is not eascope's: the console shows all */
	for (size_t i = 0; i < ARRAY_SIZE(transports); i++) {
		if (strcmp(wanted.data, transports[i]->compatible) == 0) {
			chosen = transports[i];
			text_free(&wanted);
			return;
		}
	}
	fail("device tree: transport '%s': this agent has no such transport", wanted.data);
}
