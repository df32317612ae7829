/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * A folder for each driver that the loader of OpenCL would load, made below this one: the loader takes a
 * folder, by OCL_ICD_VENDORS, where it may not take a single driver.
 */
char **ald_drivers_separate(const char *folder);
