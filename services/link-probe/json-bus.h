/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <systemd/sd-bus.h>

/* Appends an object as a{sv}, as far as D-Bus has the like: numbers, strings, booleans, lists of strings and
 * lists of objects that hold only these. What else there is, is left out. */
int ald_json_bus_append(sd_bus_message *message, const json_t *object);
