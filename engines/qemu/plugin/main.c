// SPDX-License-Identifier: GPL-2.0-or-later
/* Loading: the parts of the engine, in the order in which they start and end. */
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "channel.h"
#include "clock.h"
#include "counters.h"
#include "energyctrl.h"
#include "instrument.h"
#include "local_time.h"
#include "machine.h"
#include "options.h"
#include "qemu_internals.h"
#include "qemu_plugin_api.h"
#include "report.h"
#include "vcpu.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int i)
{
	struct vcpu *vcpu = &vcpus[i];

	(void)id;
	if (i >= config.n_cpus)
		report_end("engine", "QEMU has more CPUs than the platform");
	if (i == 0) {
		clock_install();
		energyctrl_init();
		budget_init();
		energyctrl_map();
		channel_init();
		counters_init();
	}
	vcpu->cpu = qemu_get_cpu(i);
	instrument_add_vcpu(i);
	clock_add_vcpu(vcpu);
	channel_init_vcpu(vcpu);
}

/* What a run closes and says before it ends. */
static void last_words(void)
{
	counters_close();
	for (unsigned int c = 0; c < config.n_clusters; c++)
		report_dvfs(c, clusters[c].requests, clusters[c].transitions);
	report_progress(time_base(), time_instructions_in_all());
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	/* A run that ends as it should ends in report_end(). */
	report_powered_off();
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	if (!options_parse(argc, argv))
		return -1;
	report_open(config.report_fd);
	report_before_end(last_words);
	if (strcmp(info->target_name, "aarch64") || !info->system_emulation ||
	    info->system.smp_vcpus != (int)config.n_cpus ||
	    !config.n_idle_states) {
		fprintf(stderr, "eascope: QEMU is not the machine that the options describe\n");
		return -1;
	}
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	instrument_init(id);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
