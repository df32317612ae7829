/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

/* After polling for this long without progress in writing, the connection is given up: either the bus hangs,
 * or a client has stopped reading and its queue of our messages is full, which cannot be told apart from
 * here. */
#define ALD_BUS_STUCK_USEC (10 * G_USEC_PER_SEC)

/* Called once, when the connection has ended or cannot go on: with -EBUSY if the bus is stuck, else with the
 * error of sd_bus_process(), or -ECONNRESET. The connection may still be open then. The source is destroyed
 * afterwards. */
typedef void (*AldBusClosed)(sd_bus *bus, int error, gpointer userdata);

/* Describes that `error` as SD_BUS_ERROR_DISCONNECTED. The caller frees *ret_error. */
void ald_bus_closed_error(int error, sd_bus_error *ret_error);

/* Carries a bus connection in the thread's default main context. Destroy and unref the source before the
 * connection.
 */
GSource *ald_bus_source_new(sd_bus *bus, AldBusClosed closed, gpointer userdata);

/* Allows for a connection over ssh, which reads nothing while ssh asks its user something. Until the
 * connection is ready, only the limit of sd-bus applies: 90 s. */
void ald_bus_source_allow_questions(GSource *source);

/* Limits how often single messages wake their reader: once everything available has been read, nothing more
 * is read for `msec` milliseconds. Call it only from a callback of the bus; elsewhere it has no effect. */
void ald_bus_source_delay(GSource *source, unsigned msec);

/* Connects to the bus at this address. Returns a negative errno of sd-bus. */
int ald_bus_open_address(const char *address, sd_bus **ret);
