// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A second plugin next to the engine's: a bit for each of the kernel's instructions that QEMU
 * translates. It translates what is about to run. Runs that a boot forks share the file.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "qemu_plugin_api.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static uint64_t base, n_bytes;
static uint8_t *seen;

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	uint64_t first = (qemu_plugin_tb_vaddr(block) - base) / 4;
	uint64_t end = first + qemu_plugin_tb_n_insns(block);

	(void)id;
	for (uint64_t i = first; i < end && i < 8 * n_bytes; i++)
		seen[i / 8] |= 1 << i % 8;
}

/* Arguments: base=ADDRESS, bytes=LENGTH, out=FILE. */
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	int file;

	(void)info;
	if (argc != 3)
		return -1;
	base = strtoull(argv[0] + strlen("base="), NULL, 0);
	n_bytes = strtoull(argv[1] + strlen("bytes="), NULL, 0);
	file = open(argv[2] + strlen("out="), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (file < 0 || ftruncate(file, n_bytes))
		return -1;
	seen = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (seen == MAP_FAILED)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
