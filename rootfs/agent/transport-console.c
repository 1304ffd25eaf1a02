// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transport for people and tests: what would leave the machine is said on stdout, one line each.
 * With EASCOPE_OUT set (never in a guest), files are written to that folder as well.
 */

#include "agent.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void console_read_script(struct text *script)
{
	int error = file_read(script_path(), script);

	if (error < 0)
		fail("%s: %s", script_path(), strerror(-error));
}

static void console_mark(unsigned int id, uint64_t now)
{
	printf("MARK %d %" PRIu64 "\n", (int)id, now);
}

static void console_write_file(const char *name, uint64_t offset, const void *data, size_t length)
{
	const char *folder = getenv("EASCOPE_OUT");
	char path[512];
	int fd;

	printf("WRITE_FILE %s %" PRIu64 " %zu\n", name, offset, length);
	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || pwrite(fd, data, length, offset) != (ssize_t)length)
		fail("%s: not written", path);
	close(fd);
}

static void console_fail(const char *reason)
{
	printf("FAIL %s\n", reason);
}

static void console_exit(int code)
{
	printf("EXIT %d\n", code);
}

const struct transport transport_console = {
	.name = "console",
	.compatible = "eascope,transport-console",
	.read_script = console_read_script,
	.mark = console_mark,
	.write_file = console_write_file,
	.fail = console_fail,
	.exit = console_exit,
};
