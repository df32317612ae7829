/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

/* Names for the types of sd-bus, so that g_autoptr() works on them, and g_auto() on sd_bus_error. */
typedef sd_bus AldBus;
typedef sd_bus_message AldMessage;
typedef sd_bus_creds AldCreds;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldBus, sd_bus_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldMessage, sd_bus_message_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldCreds, sd_bus_creds_unref)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(sd_bus_error, sd_bus_error_free)
