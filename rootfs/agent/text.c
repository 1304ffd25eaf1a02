// SPDX-License-Identifier: GPL-2.0-or-later
/* Growing strings and whole files. */

#include "agent.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void text_add(struct text *text, const void *data, size_t length)
{
	if (text->length + length + 1 > text->room) {
		size_t room = 2 * (text->length + length + 1);
		char *grown = realloc(text->data, room);

		if (!grown)
			fail("out of memory (%zu bytes)", room);
		text->data = grown;
		text->room = room;
	}
	if (length > 0)
		memcpy(text->data + text->length, data, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void text_str(struct text *text, const char *string)
{
	text_add(text, string, strlen(string));
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){ 0 };
}

int file_read(const char *path, struct text *text)
{
	static char buffer[CHUNK];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	text_add(text, "", 0);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		text_add(text, buffer, got);
	if (got < 0)
		got = -errno;
	close(fd);
	return got;
}

int file_write(const char *path, const char *data, size_t length)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t put;
	int error = 0;

	if (fd < 0)
		return -errno;
	put = write(fd, data, length);
	if (put < 0)
		error = -errno;
	else if ((size_t)put != length)
		error = -EIO;
	if (close(fd) < 0 && !error)
		error = -errno;
	return error;
}

char *trim(char *string)
{
	size_t length;

	while (isspace((unsigned char)*string))
		string++;
	length = strlen(string);
	while (length > 0 && isspace((unsigned char)string[length - 1]))
		string[--length] = '\0';
	return string;
}
