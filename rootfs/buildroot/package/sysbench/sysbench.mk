# SPDX-License-Identifier: GPL-2.0-or-later
################################################################################
#
# sysbench
#
################################################################################

SYSBENCH_VERSION = 1.0.20
SYSBENCH_SITE = $(call github,akopytov,sysbench,$(SYSBENCH_VERSION))
SYSBENCH_LICENSE = GPL-2.0+
SYSBENCH_LICENSE_FILES = COPYING
SYSBENCH_AUTORECONF = YES
SYSBENCH_DEPENDENCIES = luajit
SYSBENCH_CONF_OPTS = --without-mysql --with-system-luajit
# In place of pkg-config's answers.
SYSBENCH_CONF_ENV = \
	LUAJIT_CFLAGS="-I$(STAGING_DIR)/usr/include/luajit-2.1" \
	LUAJIT_LIBS="-lluajit-5.1"
# Its Concurrency Kit asks the host for the architecture, and a program that it compiles, and runs,
# for the compiler.
SYSBENCH_MAKE_OPTS = CK_CONFIGURE_FLAGS=--platform=aarch64
define SYSBENCH_NAME_COMPILER
	$(SED) 's/^COMPILER=.*/COMPILER=gcc; true/' \
		$(@D)/third_party/concurrency_kit/ck/configure
endef
SYSBENCH_PRE_CONFIGURE_HOOKS += SYSBENCH_NAME_COMPILER

$(eval $(autotools-package))
