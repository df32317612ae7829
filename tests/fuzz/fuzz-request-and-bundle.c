/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/enrolment/request-and-bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW_USEC UINT64_C(1800000000000000)

/* What stands in a request has been judged, or refused with a reason. */
static void check_request(int r, const AldRequest *request, const char *reason)
{
        if (r < 0) {
                if (!reason)
                        abort();
                return;
        }
        if (request->broker && (!request->addresses || !request->addresses[0]))
                abort();
        for (char **address = request->addresses; address && *address; address++)
                if (ald_host_refuse(*address))
                        abort();
}

static void read_request(const char *text)
{
        g_auto(AldRequest) request = {}, stated = {};
        g_autofree char *reason = NULL, *stated_reason = NULL;
        int r = ald_request_parse(text, NOW_USEC, &request, &reason);

        check_request(r, &request, reason);
        /* What only the key of a node can have signed, as a rogue one would. */
        r = ald_request_read_statement(text, NOW_USEC, &stated, &stated_reason);
        check_request(r, &stated, stated_reason);
}

/* What was read as a bundle can be written and read again, and its brokers are such as the configuration
 * takes. */
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
