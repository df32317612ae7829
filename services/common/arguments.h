/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "record/field.h"

/*
 * Reads an argument a{sv} of a method, whose fields the table describes, into a struct of that type. Missing
 * fields have their default, or are absent. Strings point into the message; lists are added to `owned`, an
 * array that frees with g_free(), which may be NULL for a type without lists. Fails with InvalidArgs and the
 * name of the key if the key is unknown or occurs twice, if its value has another type, is out of its limits
 * or not one of its words, or if the key is required and missing. Other errors are those of sd-bus.
 */
int ald_arguments_read(
        sd_bus_message *message, const AldStruct *type, GPtrArray *owned, void *ret, sd_bus_error *error);
