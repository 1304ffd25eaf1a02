/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MEMBER_H
#define MEMBER_H

#include <stdbool.h>

/* What "run" is asked for; -1 or NULL where nothing is. */
struct request {
	const char *name;
	long delay_us;		/* before the program starts */
	const char *cpus;	/* numbers with commas */
	long nice;
	bool has_nice;
	long latency_nice;
	bool has_latency_nice;
	long uclamp_min, uclamp_max;
	long uid;
	long limit_ms;		/* after which it is taken to hang */
	long status;		/* exit status that is expected */
	bool endless;		/* must not end before it is stopped */
	char **argv;
};

/* Prints a reason and ends with 2: the request itself is wrong. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
long number(const char *text, long least, long most, const char *what);
void sleep_us(long us);

/* In the child: takes on all that is asked for and becomes the program. */
void become(const struct request *request) __attribute__((noreturn));

int run(char **words);
int stop(const char *name);
int ready(char **words);
int alive(char **names);
int gather(const char *file, const char *prefix);

/* Of the calling process, under which others find it; false where there is no room for it. */
bool note_pid(const char *name);
void forget_pid(const char *name);
/* Of "run NAME"; 0 when that is not there. */
int pid_of(const char *name);

/* Where all logs are. */
const char *folder(void);
/* Keeps a part of /tmp for reports; false where there is none, with errno. */
bool make_reserve(void);
/* Keeps room in our log for a report and the last output before it. */
void keep_room(void);
/* A line that reaches our log even where that or /tmp is full. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What else is known about the end of pid: the OOM killer, a full /tmp; or an empty text. */
const char *circumstances(int pid);
/* The end of another program's log, into ours. */
void show_log(const char *name);
/* Whether another program's log ends with the line that says how it went wrong. */
bool has_failed(const char *name);
/* Of the other programs: the lines that say how they went wrong, into our log. */
void show_others(const char *name);

#endif
