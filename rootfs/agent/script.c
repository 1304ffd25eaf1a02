// SPDX-License-Identifier: GPL-2.0-or-later
/* The script as lines and words. */

#include "agent.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *file = "/eascope/script";
static char *cursor;
static char *end;
static unsigned int number;

void script_open(struct text *text)
{
	cursor = text->data;
	end = text->data + text->length;
	number = 0;
}

void script_set_path(const char *path)
{
	file = path;
}

const char *script_path(void)
{
	return file;
}

char *script_line(void)
{
	char *line = cursor;
	char *newline;

	if (cursor == end)
		return NULL;
	fail_at(++number);
	newline = memchr(line, '\n', end - line);
	if (!newline)
		fail("the script is cut off: its last line has no newline");
	if (memchr(line, '\0', newline - line))
		fail("zero byte in the script");
	*newline = '\0';
	cursor = newline + 1;
	return line;
}

const char *script_bytes(size_t length)
{
	const char *bytes = cursor;

	if ((size_t)(end - cursor) < length + 1)
		fail("file: %zu bytes wanted, the script has %zu more", length,
		     (size_t)(end - cursor));
	if (bytes[length] != '\n')
		fail("file: no newline after %zu bytes", length);
	/* so that later lines carry the number that an editor shows */
	for (size_t i = 0; i <= length; i++)
		number += bytes[i] == '\n';
	cursor += length + 1;
	return bytes;
}

char *script_word(char **rest, const char *what)
{
	char *word = *rest;
	char *stop;

	while (*word == ' ')
		word++;
	if (!*word)
		fail("%s is missing", what);
	stop = strchr(word, ' ');
	if (stop)
		*stop++ = '\0';
	else
		stop = word + strlen(word);
	*rest = stop;
	return word;
}

char *script_rest(char **rest, const char *what)
{
	char *word = *rest;

	while (*word == ' ')
		word++;
	if (!*word)
		fail("%s is missing", what);
	*rest = word + strlen(word);
	return word;
}

void script_done(char *rest)
{
	while (*rest == ' ')
		rest++;
	if (*rest)
		fail("nothing may follow here: '%s'", rest);
}

uint64_t script_unsigned(const char *word, const char *what, uint64_t largest)
{
	unsigned long long value;
	char *stop;

	errno = 0;
	value = strtoull(word, &stop, 10);
	if (!isdigit((unsigned char)*word) || *stop || errno || value > largest)
		fail("%s = '%s': allowed: a whole number up to %llu", what, word,
		     (unsigned long long)largest);
	return value;
}
