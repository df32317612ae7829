/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

/* Reads fields whose type and presence are not guaranteed. All functions accept NULL. */

/* Returns the number, or NaN if it is not a number. */
double ald_field_number(const json_t *fields, const char *name);

/* Returns the text, or NULL. */
const char *ald_field_text(const json_t *fields, const char *name);
