/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

/* Called once, when the connection has ended; the source is gone then. */
typedef void (*AldBusClosed)(sd_bus *bus, int error, gpointer userdata);

/* Carries a bus connection in the default main context. Destroy and unref the source before the connection.
 */
GSource *ald_bus_source_new(sd_bus *bus, AldBusClosed closed, gpointer userdata);
