/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "services/common/service.h"
#include "services/link-probe/inhibit/inhibitors.h"

/* Implements the methods of org.alidade.LinkProbe1 for inhibitor locks. */

/* Reads the arguments of Inhibit(), and replies with a lock. */
int ald_inhibit_bus_inhibit(sd_bus_message *message, AldInhibitors *inhibitors, sd_bus_error *error);

/* Replies to ListInhibitors(). */
int ald_inhibit_bus_list(AldService *service, sd_bus_message *message, const AldInhibitors *inhibitors);

/* Reads the argument of ReleaseInhibitor() and replies, or has `handler` run again once polkit has
 * answered. */
int ald_inhibit_bus_release(AldService *service, sd_bus_message *message, AldInhibitors *inhibitors,
        sd_bus_message_handler_t handler, void *userdata, sd_bus_error *error);
