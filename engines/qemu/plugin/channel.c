// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the guest tells the engine: `hint #HINT_MESSAGE` with a verb in x0 and arguments from x1 on.
 *
 * A hint that the CPU does not know is a NOP, at EL0 and EL1, so the same agent and kernel run
 * anywhere. Nothing is returned: the plugin interface writes neither registers nor memory.
 */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "local_time.h"
#include "machine.h"
#include "messages.h"
#include "qemu_plugin_api.h"
#include "report.h"
#include "share.h"
#include "slices.h"
#include "rotation.h"
#include "vcpu.h"
#include "virtual_time.h"
#include "waits.h"

/* Instead of a state: its exit begins, is over. */
#define IDLE_EXIT_BEGINS (UINT64_MAX - 1)
#define IDLE_EXIT_OVER UINT64_MAX
/* The last of an idle state's entry or exit is spun as the driver has it, by the clock. */
#define IDLE_SPIN_NS 2000ull
#define MAX_CHUNK (1u << 20)
#define MAX_NAME 64
#define MAX_REASON 512

/* Things to do when everything before them has happened: break rows, or end the run. */
#define MAX_EVENTS 8
static struct {
	vtime at;
	bool is_exit;
	uint64_t code;
} events[MAX_EVENTS];
static unsigned int n_events;

static GByteArray *buffer;
static char open_name[MAX_NAME];
static int open_fd = -1;

void channel_init_vcpu(struct vcpu *vcpu)
{
	GArray *registers = qemu_plugin_get_registers();
	const qemu_plugin_reg_descriptor *list = (const void *)registers->data;

	for (unsigned int i = 0; i < registers->len; i++) {
		unsigned int x, end = 0;

		if (sscanf(list[i].name, "x%u%n", &x, &end) == 1 && !list[i].name[end] &&
		    x < N_REGISTERS)
			vcpu->x[x] = list[i].handle;
	}
	g_array_free(registers, true);
	for (unsigned int x = 0; x < N_REGISTERS; x++)
		if (!vcpu->x[x])
			report_end("engine", "QEMU does not show register x%u", x);
	if (!buffer)
		buffer = g_byte_array_new();
}

uint64_t channel_register(const struct vcpu *vcpu, unsigned int x)
{
	uint64_t value;

	g_byte_array_set_size(buffer, 0);
	if (qemu_plugin_read_register(vcpu->x[x], buffer) != sizeof(value))
		report_end("engine", "cannot read register x%u", x);
	memcpy(&value, buffer->data, sizeof(value));
	return value;
}

/* A NUL-terminated string from guest memory, in pieces that do not cross a page. */
static bool read_string(uint64_t address, char *text, size_t room)
{
	size_t length = 0;

	while (length < room) {
		size_t piece = 64 - (address + length) % 64;

		if (piece > room - length)
			piece = room - length;
		if (!qemu_plugin_read_memory_vaddr(address + length, buffer, piece))
			return false;
		memcpy(text + length, buffer->data, piece);
		if (memchr(text + length, 0, piece))
			return true;
		length += piece;
	}
	text[room - 1] = 0;
	return true;
}

static void schedule(vtime at, bool is_exit, uint64_t code)
{
	unsigned int i = n_events++;

	if (n_events > MAX_EVENTS)
		report_end("fail", "the guest marks more often than every quantum");
	for (; i > 0 && events[i - 1].at > at; i--)
		events[i] = events[i - 1];
	events[i].at = at;
	events[i].is_exit = is_exit;
	events[i].code = code;
}

static vtime next_event(void)
{
	return n_events ? events[0].at : VT_NEVER;
}

static void run_due(vtime base)
{
	while (n_events && events[0].at <= base) {
		for (unsigned int c = 0; c < config.n_clusters; c++)
			counters_break(c, events[0].at);
		if (events[0].is_exit)
			report_end("exit", "%" PRIu64 " %" PRIu64, events[0].code,
				   vt_to_ns(events[0].at));
		n_events--;
		memmove(events, events + 1, n_events * sizeof(events[0]));
	}
}

void channel_init(void)
{
	static const struct rotation_events due = { next_event, run_due };

	rotation_add_events(&due);
}

static void mark(struct vcpu *vcpu, vtime at)
{
	uint64_t id = channel_register(vcpu, 1);

	report_mark(id, at, channel_register(vcpu, 2));
	if (id == MARK_START || id == MARK_STOP) {
		schedule(at, false, 0);
		slices_cut(vcpu);
	}
}

static void idle_state(struct vcpu *vcpu, vtime at)
{
	uint64_t cpu = channel_register(vcpu, 1), state = channel_register(vcpu, 2);
	uint64_t takes_ns = channel_register(vcpu, 3);

	if (cpu != vcpu->index)
		report_end("fail", "the idle driver on cpu%u names cpu%" PRIu64, vcpu->index,
			   cpu);
	vcpu->idle_ahead_ns = takes_ns > IDLE_SPIN_NS ? takes_ns - IDLE_SPIN_NS : 0;
	if (state == IDLE_EXIT_OVER) {
		vcpu->announced_idle = IDLE_NONE;
		counters_set_active(vcpu, at);
	} else if (state == IDLE_EXIT_BEGINS) {
		counters_set_exit(vcpu, at);
	} else if (state < config.n_idle_states) {
		vcpu->announced_idle = state;
		if (takes_ns)
			counters_set_entry(vcpu, at);
	} else {
		report_end("fail", "the idle driver enters state %" PRIu64 ": allowed: below %u",
			   state, config.n_idle_states);
	}
}

/* A plain name: it becomes a file of the run's folder. */
static bool is_file_name(const char *name)
{
	static const char *const ours[] = { ENGINE_FILES };

	if (!name[0] || name[0] == '.' || strlen(name) >= MAX_NAME ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") !=
		    strlen(name))
		return false;
	for (unsigned int i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(name, ours[i]))
			return false;
	return true;
}

static void write_file(struct vcpu *vcpu)
{
	uint64_t offset = channel_register(vcpu, 2);
	uint64_t data = channel_register(vcpu, 3);
	uint64_t length = channel_register(vcpu, 4);
	char name[MAX_NAME];

	if (!read_string(channel_register(vcpu, 1), name, sizeof(name)) || !is_file_name(name))
		report_end("fail", "the guest sends a file whose name is not allowed");
	if (length > MAX_CHUNK)
		report_end("fail", "the guest sends %" PRIu64 " bytes of %s at once: allowed: up to %u",
			   length, name, MAX_CHUNK);
	if (open_fd < 0 || strcmp(name, open_name)) {
		if (open_fd >= 0)
			close(open_fd);
		open_fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (open_fd < 0)
			report_end("engine", "cannot write %s: %s", name, strerror(errno));
		strcpy(open_name, name);
	}
	if (length == 0)
		return;
	if (!qemu_plugin_read_memory_vaddr(data, buffer, length))
		report_end("fail", "the guest sends %s from memory that it does not map", name);
	for (uint64_t done = 0; done < length;) {
		ssize_t n = pwrite(open_fd, buffer->data + done, length - done, offset + done);

		if (n <= 0)
			report_end("engine", "cannot write %s: %s", name, strerror(errno));
		done += n;
	}
}

static void __attribute__((noreturn)) fail(struct vcpu *vcpu)
{
	char reason[MAX_REASON];

	if (!read_string(channel_register(vcpu, 1), reason, sizeof(reason)))
		strcpy(reason, "(no reason: its text is not in memory)");
	for (char *c = reason; *c; c++)
		if (*c == '\n')
			*c = ' ';
	report_end("fail", "%s", reason);
}

void channel_message(struct vcpu *vcpu, work tail, uintptr_t host_pc)
{
	vtime at = time_local_before(vcpu, tail);
	uint64_t verb = channel_register(vcpu, 0);

	vcpu->tied = at;
	switch (verb) {
	case VERB_MARK:
		mark(vcpu, at);
		return;
	case VERB_IDLE_STATE:
		idle_state(vcpu, at);
		return;
	case VERB_WRITE_FILE:
		write_file(vcpu);
		return;
	case VERB_READ_SCRIPT:
		share_script(vcpu, channel_register(vcpu, 1), channel_register(vcpu, 2),
			     channel_register(vcpu, 3), channel_register(vcpu, 4));
		return;
	case VERB_FAIL:
		fail(vcpu);
	case VERB_EXIT:
		/* The counters end here, once all other CPUs have come as far. */
		schedule(at, true, channel_register(vcpu, 1));
		waits_stop_for_ever(vcpu, host_pc);
	}
	report_end("fail", "the guest sends the unknown message %" PRIu64, verb);
}
