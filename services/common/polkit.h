/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/*
 * Checks whether the sender of a method call is authorized for `action`. Root, as identified by the bus,
 * always is. For other users it asks polkit on the bus of our services, without blocking: this returns 0, the
 * handler returns 1 at once, and it is called again with the same message when polkit has replied. A handler
 * must ask about one action only.
 *
 *     r = ald_polkit_authorize(service, message, ACTION, handler, userdata, error);
 *     if (r <= 0)
 *             return r < 0 ? r : 1;
 *
 * Returns 1 if authorized; -EACCES with the error set if not, or if polkit cannot be asked.
 */
int ald_polkit_authorize(AldService *service, sd_bus_message *message, const char *action,
        sd_bus_message_handler_t handler, void *userdata, sd_bus_error *error);
