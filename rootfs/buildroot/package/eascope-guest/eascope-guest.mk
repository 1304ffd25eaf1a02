# SPDX-License-Identifier: GPL-2.0-or-later
################################################################################
#
# eascope-guest: the agent, its programs and members, from rootfs/
#
################################################################################

EASCOPE_GUEST_VERSION = local
EASCOPE_GUEST_SITE = $(BR2_EXTERNAL_EASCOPE_PATH)/..
EASCOPE_GUEST_SITE_METHOD = local
EASCOPE_GUEST_LICENSE = GPL-2.0+
EASCOPE_GUEST_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS = \
	--exclude /buildroot --exclude /overlay --exclude __pycache__

# As rootfs/image.py has them: a test compares the two.
EASCOPE_GUEST_FLAGS = -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror
EASCOPE_GUEST_LINK_FLAGS = -static -s -Wl,--build-id=none

# $(1): a folder, $(2): the program, $(3): its files.
EASCOPE_GUEST_COMPILE = cd $(@D)/$(1) && $(TARGET_CC) $(EASCOPE_GUEST_FLAGS) \
	$(EASCOPE_GUEST_LINK_FLAGS) -I../include -o ../made/$(2) $(3)

EASCOPE_GUEST_PROGRAMS = $(basename $(notdir $(wildcard $(EASCOPE_GUEST_SITE)/programs/*.c)))

define EASCOPE_GUEST_BUILD_CMDS
	mkdir -p $(@D)/made
	$(call EASCOPE_GUEST_COMPILE,agent,init,$$(LC_ALL=C ls *.c))
	$(foreach name,$(EASCOPE_GUEST_PROGRAMS),\
		$(call EASCOPE_GUEST_COMPILE,programs,$(name),$(name).c)$(sep))
endef

# The folders that the agent mounts on.
define EASCOPE_GUEST_INSTALL_TARGET_CMDS
	mkdir -p $(addprefix $(TARGET_DIR)/,dev proc sys tmp eascope)
	$(INSTALL) -D -m 0755 $(@D)/made/init $(TARGET_DIR)/init
	$(foreach name,$(EASCOPE_GUEST_PROGRAMS),\
		$(INSTALL) -D -m 0755 $(@D)/made/$(name) $(TARGET_DIR)/bin/$(name)$(sep))
endef

ifeq ($(BR2_PACKAGE_EASCOPE_GUEST_MEMBERS),y)
define EASCOPE_GUEST_BUILD_MEMBERS
	$(call EASCOPE_GUEST_COMPILE,members,member,$$(LC_ALL=C ls *.c | grep -vx schbench.c))
	$(call EASCOPE_GUEST_COMPILE,members,schbench,schbench.c)
	$(call EASCOPE_GUEST_COMPILE,members,policy,$$(LC_ALL=C ls policy/*.c))
endef
EASCOPE_GUEST_POST_BUILD_HOOKS += EASCOPE_GUEST_BUILD_MEMBERS

define EASCOPE_GUEST_INSTALL_MEMBERS
	$(INSTALL) -D -m 0755 $(@D)/made/member $(TARGET_DIR)/bin/member
	$(INSTALL) -D -m 0755 $(@D)/made/schbench $(TARGET_DIR)/bin/schbench
	$(INSTALL) -D -m 0755 $(@D)/made/policy $(TARGET_DIR)/bin/policy
endef
EASCOPE_GUEST_POST_INSTALL_TARGET_HOOKS += EASCOPE_GUEST_INSTALL_MEMBERS
endif

$(eval $(generic-package))
