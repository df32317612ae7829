/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "common/error-names.h"

/*
 * The codes of our own errors, to which errors.c maps their D-Bus names. Functions return them, negative,
 * where an errno would be ambiguous. sd_bus_message_get_errno() returns them for the errors of our other
 * services. They are greater than all errnos of Linux. The last ones have no D-Bus error of their own.
 */
typedef enum AldErrorCode {
        ALD_E_NO_SUCH_NODE = 0x10000,
        ALD_E_NO_SUCH_KIND,
        ALD_E_AMBIGUOUS_NAME,
        ALD_E_NOT_STORED,
        ALD_E_NOT_SUBSCRIBED,
        ALD_E_NOT_JOINED,
        ALD_E_NODE_ONLINE,
        ALD_E_NOT_MIRRORED,
        ALD_E_NO_SUCH_INHIBITOR,
        ALD_E_INHIBITED,
        ALD_E_NO_SUCH_DEVICE,
        ALD_E_BUSY,
        ALD_E_CANCELED,
        ALD_E_STATE_UNAVAILABLE,
        ALD_E_NOT_KEPT,
        ALD_E_NO_SUCH_SILENCE,
        ALD_E_UNREADABLE_MODEL,
        ALD_E_NO_SUCH_ADDRESS,
        ALD_E_OWN_NODE,        /* where another node is needed */
        ALD_E_USER_LIMIT,      /* on what one user may have at a time */
        ALD_E_COMMON_LIMIT,    /* on what all users together may have */
        ALD_E_PROCESSORS_BUSY, /* with the work of others */
} AldErrorCode;

/* Describes a negative code or errno, for log messages. */
const char *ald_error_describe(int r);

int ald_errors_register(void);

/* Converts an error of sd_bus_message_read() to the error of a method: InvalidArgs for strings with
 * noncharacters, which dbus-daemon passes on and sd-bus refuses. */
int ald_error_unreadable(int r, sd_bus_error *error);
