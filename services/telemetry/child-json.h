/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* Reading members of what a helper answered; one that is missing or of another type is absent. */

/* Freed by the caller; NULL where it is empty or longer than a name may be, too. */
char *ald_child_json_string(const json_t *object, const char *key);

/* Leaves the value where there is none. */
bool ald_child_json_integer(const json_t *object, const char *key, json_int_t *ret);

/* Negative ones and those that no record could hold are absent. */
uint64_t ald_child_json_uint64(const json_t *object, const char *key);

int ald_child_json_boolean(const json_t *object, const char *key);
