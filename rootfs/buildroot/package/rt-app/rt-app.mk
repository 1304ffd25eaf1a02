# SPDX-License-Identifier: GPL-2.0-or-later
################################################################################
#
# rt-app
#
################################################################################

RT_APP_VERSION = 1.0
RT_APP_SITE = $(call github,scheduler-tools,rt-app,v$(RT_APP_VERSION))
RT_APP_LICENSE = GPL-2.0+
RT_APP_LICENSE_FILES = COPYING.in
RT_APP_AUTORECONF = YES
RT_APP_DEPENDENCIES = json-c numactl
# It has them from json-c, which has not had them since 0.16.
RT_APP_CONF_ENV = CPPFLAGS="$(TARGET_CPPFLAGS) -DTRUE=1 -DFALSE=0"

$(eval $(autotools-package))
