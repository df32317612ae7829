/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Creates a folder below this one for each driver that the OpenCL loader would load, since OCL_ICD_VENDORS
 * accepts a folder with every loader, but not always a single driver.
 */
char **ald_drivers_separate(const char *folder);
