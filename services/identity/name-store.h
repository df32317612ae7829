/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The friendly name that somebody gave to this machine, kept in one file of the state directory. */

#define ALD_NAME_MAX 64u /* characters */

/* Why a name cannot be used, or NULL where it can. */
const char *ald_name_refuse(const char *name);

/* The kept name, or NULL. A damaged file is reported, set aside as friendly-name.damaged and ignored. */
char *ald_name_store_load(const char *directory);

/* Keeps a name, or with "" forgets it, as a whole or not at all. Returns negative errno where it could not,
 * or where a file is there that can be neither read nor set aside: that is not overwritten. */
int ald_name_store_save(const char *directory, const char *name);
