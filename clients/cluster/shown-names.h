/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <systemd/sd-bus.h>

/* Returns {id: name} of the nodes that the state service shows; empty if it does not answer, since ids
 * suffice. Free with json_decref(). */
json_t *ald_shown_names_read(sd_bus *bus);

/* Returns the name of this machine as its identity service shows it, else its host name. Free with
 * g_free(). */
char *ald_shown_own_name(void);
