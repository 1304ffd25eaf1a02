// SPDX-License-Identifier: GPL-2.0-or-later
/* Files out of the machine, and the collected state of the kernel (state.txt). */

#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct text state;

void collect_file(const char *path, const char *name)
{
	static char buffer[CHUNK];
	uint64_t offset = 0;
	ssize_t got;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("collect %s: %s", path, strerror(errno));
	while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
		transport()->write_file(name, offset, buffer, got);
		offset += got;
	}
	if (got < 0)
		fail("collect %s: %s", path, strerror(errno));
	if (offset == 0)
		transport()->write_file(name, 0, buffer, 0);
	close(fd);
}

void report_add(const char *path)
{
	struct text text = { 0 };
	int error = file_read(path, &text);

	if (error < 0)
		fail("report %s: %s", path, strerror(-error));
	text_str(&state, path);
	text_str(&state, ": ");
	text_str(&state, trim(text.data));
	text_str(&state, "\n");
	text_free(&text);
}

void report_send(void)
{
	size_t sent = 0;

	do {
		size_t length = state.length - sent;

		if (length > CHUNK)
			length = CHUNK;
		transport()->write_file(FILE_STATE, sent, state.data + sent, length);
		sent += length;
	} while (sent < state.length);
}
