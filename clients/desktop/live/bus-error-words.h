/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Returns why a call to a service failed, as the end of a sentence: "you are not authorized". The unit is the
 * one of the service. Returns safe text, to be freed. */
char *ald_bus_error_words(const sd_bus_error *error, const char *unit);

/* Returns whether the service does not answer, is not running or cannot be reached, all of which may be
 * temporary. */
bool ald_bus_error_is_absence(const sd_bus_error *error);
