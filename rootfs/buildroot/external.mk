# SPDX-License-Identifier: GPL-2.0-or-later
include $(sort $(wildcard $(BR2_EXTERNAL_EASCOPE_PATH)/package/*/*.mk))
