/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/*
 * Asks whether the sender of a method call may do `action`. uid 0, by the bus's own word, may without polkit.
 * Everybody else is asked about at polkit on the bus of our services, without blocking: this returns 0, the
 * handler returns 1 at once, and it is called again with the same message when the answer has come. A handler
 * asks about one action only.
 *
 *     r = ald_polkit_authorize(service, message, ACTION, handler, userdata, error);
 *     if (r <= 0)
 *             return r < 0 ? r : 1;
 *
 * Returns 1 where allowed; -EACCES with the error set where not, or where polkit is not there to ask.
 */
int ald_polkit_authorize(AldService *service, sd_bus_message *message, const char *action,
        sd_bus_message_handler_t handler, void *userdata, sd_bus_error *error);
