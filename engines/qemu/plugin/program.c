// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs with figures of their own: which of them runs on a vCPU.
 *
 * A program is known by the content of its code's pages, wherever it is mapped. An address space in
 * which such a page is executed is that program's from then on: all of its threads, in libraries,
 * too. Before, while the dynamic linker runs, and in a child before its first page of the program,
 * it is nobody's.
 *
 * Linux sets the number of an address space (ASID) in TTBR1_EL1 and then its table in TTBR0_EL1,
 * whenever a CPU goes on with another one. A number is not used again before all 65 535 are used up.
 * So a table that a later program reuses has another number, and both together name one address
 * space. When the numbers are used up, all but those that run get new ones, and are found again.
 */
#include "program.h"

#include <string.h>

#include "machine.h"
#include "qemu_plugin_api.h"
#include "vcpu.h"

#define PAGE_BYTES 4096u
#define N_ASIDS (1u << 16)
#define ASID_SHIFT 48
#define TABLE_MASK 0x0000fffffffffffeull

static struct {
	uint64_t table;
	unsigned int program;
} spaces[N_ASIDS];

/* As engines/qemu/program_pages.py has it. */
static uint64_t digest(const uint8_t *page)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (unsigned int i = 0; i < PAGE_BYTES; i += sizeof(hash)) {
		uint64_t word;

		memcpy(&word, page + i, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3ull;
		hash ^= hash >> 32;
	}
	return hash;
}

/* The program whose code is in the page of `address`, which is being translated. */
unsigned int program_of_page(uint64_t address)
{
	static GByteArray *page;
	uint64_t wanted;

	if (!page)
		page = g_byte_array_new();
	if (!qemu_plugin_read_memory_vaddr(address & ~(uint64_t)(PAGE_BYTES - 1), page, PAGE_BYTES))
		return PROGRAM_NONE;
	wanted = digest(page->data);
	for (unsigned int i = 0; i < config.n_program_pages; i++)
		if (config.program_pages[i].digest == wanted)
			return config.program_pages[i].program;
	return PROGRAM_NONE;
}

/* The address space that the vCPU is in executes a page of the program. */
void program_found(struct vcpu *vcpu, unsigned int program)
{
	spaces[vcpu->asid].table = vcpu->table;
	spaces[vcpu->asid].program = program;
	*vcpu->program = program;
}

/* The number of the address space that comes next. */
void program_set_asid(struct vcpu *vcpu, uint64_t ttbr1)
{
	vcpu->asid = ttbr1 >> ASID_SHIFT;
}

/* The vCPU goes on in another address space. */
void program_switch(struct vcpu *vcpu, uint64_t ttbr0)
{
	vcpu->table = ttbr0 & TABLE_MASK;
	*vcpu->program = spaces[vcpu->asid].table == vcpu->table ? spaces[vcpu->asid].program :
								     PROGRAM_NONE;
}
