/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* Waits until no device is being measured any more: a lock stops the measurement at once, but a driver may
 * take longer to finish. Reports an error if it takes too long, or if the service does not answer. */
void ald_await_device(sd_bus *bus);
