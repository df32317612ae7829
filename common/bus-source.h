/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

/* A bus that takes nothing of what we send for so long is left: it hangs, or a client has stopped reading and
 * it holds as much of ours for it as it may. The two look alike from here. */
#define ALD_BUS_STUCK_USEC (UINT64_C(10) * 1000 * 1000)

/* Called once, when the connection has ended, or with -EBUSY when the bus is stuck; the source is gone then.
 */
typedef void (*AldBusClosed)(sd_bus *bus, int error, gpointer userdata);

/* Carries a bus connection in the thread's default main context. Destroy and unref the source before the
 * connection.
 */
GSource *ald_bus_source_new(sd_bus *bus, AldBusClosed closed, gpointer userdata);
