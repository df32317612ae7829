/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clients/alidadectl/cluster/addresses.h"
#include "clients/alidadectl/cluster/exchange.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read as a request can be written and read again. */
static void read_request(const char *text)
{
        g_auto(AldRequest) request = {}, again = {};
        g_autofree char *reason = NULL, *written = NULL;

        if (ald_request_parse(text, &request, &reason) < 0) {
                if (!reason)
                        abort();
                return;
        }
        written = ald_request_format(&request);
        if (ald_request_parse(written, &again, &reason) < 0 || !g_str_equal(again.node, request.node) ||
                !g_strv_equal((const char *const *) again.addresses, (const char *const *) request.addresses))
                abort();
}

/* The same of a bundle, whose brokers are such as the configuration takes. */
static void read_bundle(const char *text, size_t n)
{
        g_auto(AldBundle) bundle = {}, again = {};
        g_autofree char *reason = NULL, *written = NULL;

        if (ald_bundle_parse(text, n, &bundle, &reason) < 0) {
                if (!reason || bundle.ca)
                        abort();
                return;
        }
        for (char **broker = bundle.brokers; *broker; broker++)
                if (ald_broker_refuse(*broker) || strpbrk(*broker, ";\n "))
                        abort();
        written = ald_bundle_format(&bundle);
        if (ald_bundle_parse(written, strlen(written), &again, &reason) < 0 ||
                !g_str_equal(again.ca, bundle.ca) || !g_str_equal(again.cluster, bundle.cluster))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);

        read_request(text);
        read_bundle((const char *) data, size);
        return 0;
}
