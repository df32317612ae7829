/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "probes/common/failure.h"
#include "record/message.h"

/* Each kind has its own code. */
static const struct {
        const char *name;
        int code;
} kinds[_ALD_FAILURE_MAX] = {
        [ALD_FAILURE_UNREACHABLE] = { "unreachable", EHOSTUNREACH },
        [ALD_FAILURE_REFUSED] = { "refused", ECONNREFUSED },
        [ALD_FAILURE_TIMEOUT] = { "timeout", ETIMEDOUT },
        [ALD_FAILURE_TLS_FAILED] = { "tls-failed", EKEYREJECTED },
        [ALD_FAILURE_WRONG_PEER] = { "wrong-peer", EREMCHG },
        [ALD_FAILURE_BUSY] = { "busy", EBUSY },
        [ALD_FAILURE_INHIBITED] = { "inhibited", EPERM },
        [ALD_FAILURE_PROTOCOL] = { "protocol", EPROTO },
        [ALD_FAILURE_ABORTED] = { "aborted", ECANCELED },
        [ALD_FAILURE_LIMIT] = { "limit", EDQUOT },
        [ALD_FAILURE_INTERNAL] = { "internal", EIO },
        [ALD_FAILURE_NO_LIBRARY] = { "no-library", ELIBACC },
        [ALD_FAILURE_NO_PLATFORM] = { "no-platform", ENOPKG },
        [ALD_FAILURE_NO_DEVICE] = { "no-device", ENODEV },
        [ALD_FAILURE_NO_SUCH_DEVICE] = { "no-such-device", ENXIO },
        [ALD_FAILURE_CRASHED] = { "crashed", EPIPE },
        [ALD_FAILURE_BUILD_FAILED] = { "build-failed", ENOEXEC },
        [ALD_FAILURE_WRONG_RESULT] = { "wrong-result", EBADMSG },
        [ALD_FAILURE_OUT_OF_MEMORY] = { "out-of-memory", ENOMEM },
        [ALD_FAILURE_DEVICE_LOST] = { "device-lost", ENOLINK },
        [ALD_FAILURE_NO_DEVICE_MEMORY] = { "no-device-memory", EOPNOTSUPP },
        [ALD_FAILURE_PORT_DOWN] = { "port-down", ENETDOWN },
        [ALD_FAILURE_NO_GID] = { "no-gid", EADDRNOTAVAIL },
        [ALD_FAILURE_NO_PERMISSION] = { "no-permission", EACCES },
        [ALD_FAILURE_NO_PROVIDER] = { "no-provider", EUNATCH },
        [ALD_FAILURE_MEMLOCK] = { "memlock", ENOBUFS },
        [ALD_FAILURE_ROUND_TRIPS_ONLY] = { "round-trips-only", EAGAIN },
};

const char *ald_failure_to_string(AldFailureKind kind)
{
        return kinds[kind].name;
}

int ald_failure_from_string(const char *text)
{
        for (int kind = 0; kind < _ALD_FAILURE_MAX; kind++)
                if (g_str_equal(text, kinds[kind].name))
                        return kind;
        return -1;
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

const char *ald_failure_name(const AldFailure *failure)
{
        return failure->message ? ald_failure_to_string(failure->kind) : NULL;
}

char *ald_failure_to_json(const AldFailure *failure)
{
        const AldProbeFailure message = { .error = ald_failure_to_string(failure->kind),
                .message = failure->message };

        return ald_message_format(ALD_KIND_PROBE_FAILURE, &message);
}

void ald_failure_clear(AldFailure *failure)
{
        g_free(failure->message);
        *failure = (AldFailure){};
}
