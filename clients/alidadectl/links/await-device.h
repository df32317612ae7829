/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* Waits until no measurement of a device runs any more: a lock ends it at once, but what a driver has under
 * way takes its time. Complains where that is too long, or the service does not tell. */
void ald_await_device(sd_bus *bus);
