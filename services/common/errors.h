/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* Our own D-Bus errors. errors.c maps each to an errno. */
#define ALD_ERROR_NO_SUCH_NODE "org.alidade.Error.NoSuchNode"
#define ALD_ERROR_NO_SUCH_KIND "org.alidade.Error.NoSuchKind"
#define ALD_ERROR_AMBIGUOUS_NAME "org.alidade.Error.AmbiguousName"
#define ALD_ERROR_NOT_STORED "org.alidade.Error.NotStored"
#define ALD_ERROR_NOT_SUBSCRIBED "org.alidade.Error.NotSubscribed"
#define ALD_ERROR_NOT_JOINED "org.alidade.Error.NotJoined"
#define ALD_ERROR_NODE_ONLINE "org.alidade.Error.NodeOnline"
#define ALD_ERROR_NOT_MIRRORED "org.alidade.Error.NotMirrored"
#define ALD_ERROR_NO_SUCH_INHIBITOR "org.alidade.Error.NoSuchInhibitor"
#define ALD_ERROR_INHIBITED "org.alidade.Error.Inhibited"
#define ALD_ERROR_NO_SUCH_DEVICE "org.alidade.Error.NoSuchDevice"
#define ALD_ERROR_BUSY "org.alidade.Error.Busy"

int ald_errors_register(void);

/* Converts an error of sd_bus_message_read() to that of a method: InvalidArgs for strings with noncharacters,
 * which dbus-daemon passes on and sd-bus refuses. */
int ald_error_unreadable(int r, sd_bus_error *error);
