# SPDX-License-Identifier: GPL-2.0-or-later
"""What is simulated: platforms, cores and activity, their files and the devices they become."""
