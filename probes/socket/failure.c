/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "probes/socket/failure.h"

static const struct {
        const char *name;
        int code;
} kinds[_ALD_FAILURE_MAX] = {
        [ALD_FAILURE_UNREACHABLE] = { "unreachable", EHOSTUNREACH },
        [ALD_FAILURE_REFUSED] = { "refused", ECONNREFUSED },
        [ALD_FAILURE_TIMEOUT] = { "timeout", ETIMEDOUT },
        [ALD_FAILURE_TLS_FAILED] = { "tls-failed", EKEYREJECTED },
        [ALD_FAILURE_WRONG_PEER] = { "wrong-peer", ENXIO },
        [ALD_FAILURE_BUSY] = { "busy", EBUSY },
        [ALD_FAILURE_INHIBITED] = { "inhibited", EPERM },
        [ALD_FAILURE_PROTOCOL] = { "protocol", EPROTO },
        [ALD_FAILURE_ABORTED] = { "aborted", ECANCELED },
        [ALD_FAILURE_LIMIT] = { "limit", EDQUOT },
        [ALD_FAILURE_INTERNAL] = { "internal", EIO },
};

const char *ald_failure_to_string(AldFailureKind kind)
{
        return kinds[kind].name;
}

int ald_fail(AldFailure *failure, AldFailureKind kind, const char *format, ...)
{
        va_list arguments;

        if (!failure->message) {
                failure->kind = kind;
                va_start(arguments, format);
                failure->message = g_strdup_vprintf(format, arguments);
                va_end(arguments);
        }
        return -kinds[kind].code;
}
