/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The friendly name of this machine, stored in a file in the state directory. */

#define ALD_NAME_MAX 64u /* characters */

/* Returns why a name is invalid, or NULL if it is valid. */
const char *ald_name_refuse(const char *name);

/* Returns the stored name, or NULL. A damaged file is reported, renamed to friendly-name.damaged and ignored.
 */
char *ald_name_store_load(const char *directory);

/* Stores a name atomically, or removes it if it is "". Returns a negative errno on failure, also if there is
 * a file that can be neither read nor renamed; it is not overwritten. */
int ald_name_store_save(const char *directory, const char *name);
