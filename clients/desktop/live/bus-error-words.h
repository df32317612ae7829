/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Why a call to a service failed, as the end of a sentence: "you are not authorized". Safe text, to be freed.
 * The unit is that of the service. */
char *ald_bus_error_words(const sd_bus_error *error, const char *unit);

/* Whether the service does not answer, does not run or cannot be reached, all of which may pass. */
bool ald_bus_error_is_absence(const sd_bus_error *error);
