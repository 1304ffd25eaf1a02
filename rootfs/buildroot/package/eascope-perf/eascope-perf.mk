# SPDX-License-Identifier: GPL-2.0-or-later
################################################################################
#
# eascope-perf: perf without a kernel
#
################################################################################

EASCOPE_PERF_VERSION = 6.12.8
EASCOPE_PERF_SOURCE = linux-$(EASCOPE_PERF_VERSION).tar.xz
EASCOPE_PERF_SITE = $(BR2_KERNEL_MIRROR)/linux/kernel/v6.x
EASCOPE_PERF_LICENSE = GPL-2.0
EASCOPE_PERF_LICENSE_FILES = COPYING
EASCOPE_PERF_DEPENDENCIES = host-bison host-flex
# What perf does not read.
EASCOPE_PERF_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS = $(addprefix --exclude=/,\
	block crypto Documentation drivers fs kernel mm net samples security sound)

# Benchmarks need neither symbols nor scripts. Where the host has shellcheck, perf's build would check
# all scripts of its tests, and fail with them.
EASCOPE_PERF_MAKE_FLAGS = \
	ARCH=arm64 CROSS_COMPILE="$(TARGET_CROSS)" WERROR=0 JOBS=1 NO_SHELLCHECK=1 \
	EXTRA_CFLAGS="$(TARGET_CFLAGS)" \
	PKG_CONFIG_LIBDIR="$(STAGING_DIR)/usr/lib/pkgconfig" \
	$(foreach part,AUXTRACE DEMANGLE JEVENTS LIBAUDIT LIBBABELTRACE LIBBPF LIBCAP LIBCRYPTO \
		LIBDEBUGINFOD LIBDW_DWARF_UNWIND LIBELF LIBNUMA LIBPERL LIBPFM4 LIBPYTHON \
		LIBTRACEEVENT LIBUNWIND LIBZSTD LZMA SDT SLANG ZLIB,NO_$(part)=1)

define EASCOPE_PERF_BUILD_CMDS
	$(TARGET_MAKE_ENV) $(MAKE1) $(EASCOPE_PERF_MAKE_FLAGS) -C $(@D)/tools/perf perf
endef

define EASCOPE_PERF_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/tools/perf/perf $(TARGET_DIR)/usr/bin/perf
endef

$(eval $(generic-package))
