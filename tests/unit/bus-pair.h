/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include <glib.h>

/* A service's connection and a client's, joined without a bus between them, both ready. */
typedef struct BusPair {
        sd_bus *service;
        sd_bus *client;
} BusPair;

BusPair *bus_pair_new(void);
void bus_pair_free(BusPair *pair);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BusPair, bus_pair_free)

/* Until neither has anything to do. */
void bus_pair_pump(BusPair *pair);

/* A signal to be written, and then, sealed, to be read from its start. */
sd_bus_message *bus_pair_message_new(BusPair *pair);
void bus_pair_seal(sd_bus_message *message);
