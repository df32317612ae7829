/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/cluster-files.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/enrolment/request-and-bundle.h"
#include "clients/common/safe-text.h"
#include "pki/request.h"
#include "pki/types.h"

#define BEGIN "-----BEGIN CERTIFICATE REQUEST-----"
#define OLD_BEGIN "-----BEGIN NEW CERTIFICATE REQUEST-----" /* some tools write this form */
#define VERSION 1
#define NAME_CHARACTERS_MAX 64 /* limit of the name of a machine */

#define DAY_USEC (UINT64_C(86400) * G_USEC_PER_SEC)

static const char *const purposes[] = { [ALD_REQUEST_JOIN] = "join", [ALD_REQUEST_RENEW] = "renew" };

/* Formats what the key of the node signs. `broker` is the request of the broker, or NULL. */
static char *format_statement(const AldRequest *request, uint64_t now, const char *broker)
{
        json_t *object = json_pack("{sisssI}", "AlidadeRequest", VERSION, "Purpose",
                purposes[request->purpose], "TimeUSec", (json_int_t) now);
        json_t *addresses = json_array();
        char *made, *text;

        for (char **address = request->addresses; broker && address && *address; address++)
                json_array_append_new(addresses, json_string(*address));
        if (broker) {
                json_object_set_new(object, "BrokerRequest", json_string(broker));
                json_object_set(object, "BrokerAddresses", addresses);
        }
        json_decref(addresses);
        if (request->name)
                json_object_set_new(object, "Name", json_string(request->name));
        made = json_dumps(object, JSON_COMPACT);
        json_decref(object);
        text = g_strdup(made);
        free(made);
        return text;
}

int ald_request_make(const AldRequest *request, uint64_t now, char **ret_text, char **ret_reason)
{
        g_autofree char *broker = NULL, *statement = NULL;
        int r;

        if (request->broker) {
                r = ald_pki_request_make(request->broker, request->id, NULL, &broker, ret_reason);
                if (r < 0)
                        return r;
        }
        statement = format_statement(request, now, broker);
        return ald_pki_request_make(request->node, request->id, statement, ret_text, ret_reason);
}

static int refuse_request(char **ret_reason, const char *reason)
{
        *ret_reason = g_strdup(reason);
        return -EBADMSG;
}

static int read_purpose(const json_t *statement, AldRequestPurpose *ret, char **ret_reason)
{
        const char *purpose = json_string_value(json_object_get(statement, "Purpose"));

        for (size_t i = 0; i < G_N_ELEMENTS(purposes); i++)
                if (g_strcmp0(purpose, purposes[i]) == 0) {
                        *ret = (AldRequestPurpose) i;
                        return 0;
                }
        return refuse_request(ret_reason, "it does not specify whether to join or to renew");
}

static int read_time(const json_t *statement, uint64_t now, uint64_t *ret, char **ret_reason)
{
        json_int_t time = json_integer_value(json_object_get(statement, "TimeUSec"));
        g_autofree char *then = NULL, *here = NULL;
        uint64_t made = time > 0 ? (uint64_t) time : 0;

        if (made > 0 && made + ALD_REQUEST_DAYS * DAY_USEC >= now && made <= now + DAY_USEC) {
                *ret = made;
                return 0;
        }
        then = ald_report_day(made);
        here = ald_report_day(now);
        *ret_reason = g_strdup_printf("it was made on %s, the clock here shows %s, and a request is valid "
                                      "for %u days: make a new one, or check the clocks",
                then, here, ALD_REQUEST_DAYS);
        return -EKEYEXPIRED;
}

static int read_addresses(const json_t *list, char ***ret, char **ret_reason)
{
        g_autoptr(GPtrArray) addresses = g_ptr_array_new_with_free_func(g_free);

        if (json_array_size(list) == 0 || json_array_size(list) > ALD_ADDRESSES_MAX)
                return refuse_request(ret_reason, "it has no addresses for the broker, or too many");
        for (size_t i = 0; i < json_array_size(list); i++) {
                const char *host = json_string_value(json_array_get(list, i)), *wrong;

                if (!host)
                        return refuse_request(
                                ret_reason, "it has an address for the broker that is not a text");
                if ((wrong = ald_host_refuse(host))) {
                        *ret_reason = g_strdup_printf("the address \"%s\" of its broker is %s", host, wrong);
                        return -EBADMSG;
                }
                g_ptr_array_add(addresses, ald_pki_host_without_dot(host));
        }
        g_ptr_array_add(addresses, NULL);
        *ret = (char **) g_ptr_array_steal(addresses, NULL);
        return 0;
}

/* Reads the request of the broker. Its own signature proves that the sender also has that key. */
static int read_broker(const json_t *statement, AldRequest *request, char **ret_reason)
{
        const json_t *broker = json_object_get(statement, "BrokerRequest");
        const char *pem = json_string_value(broker);
        g_autofree char *ignored = NULL;
        char id[ALD_PKI_ID_SIZE];
        int r;

        if (!broker)
                return 0;
        if (!pem)
                return refuse_request(ret_reason, "its request for the broker is not text");
        r = ald_pki_request_parse(pem, strlen(pem), id, &request->broker, &ignored, ret_reason);
        if (r < 0)
                return r;
        if (strcmp(id, request->id) != 0)
                return refuse_request(ret_reason, "its node and its broker have different ids");
        return read_addresses(json_object_get(statement, "BrokerAddresses"), &request->addresses, ret_reason);
}

/* Reads the name, which is for display only: unsafe characters are replaced, and a long name is cut. */
static char *read_name(const json_t *statement)
{
        g_autofree char *safe = ald_text_safe_or_null(json_string_value(json_object_get(statement, "Name")));

        if (!safe || *g_strstrip(safe) == '\0')
                return NULL;
        return g_utf8_substring(safe, 0, MIN(g_utf8_strlen(safe, -1), NAME_CHARACTERS_MAX));
}

int ald_request_read_statement(const char *text, uint64_t now, AldRequest *request, char **ret_reason)
{
        json_t *statement = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        json_int_t version = json_integer_value(json_object_get(statement, "AlidadeRequest"));
        int r;

        if (version != VERSION)
                r = refuse_request(ret_reason, version > VERSION ? "it was made by a newer version of Alidade"
                                                                 : "its contents are damaged");
        else
                r = read_purpose(statement, &request->purpose, ret_reason);
        if (r >= 0)
                r = read_time(statement, now, &request->made, ret_reason);
        if (r >= 0)
                r = read_broker(statement, request, ret_reason);
        if (r >= 0)
                request->name = read_name(statement);
        json_decref(statement);
        return r;
}

static const char *next_request(const char *text)
{
        const char *plain = strstr(text, BEGIN), *old = strstr(text, OLD_BEGIN);

        return plain && old ? MIN(plain, old) : plain ? plain : old;
}

int ald_request_parse(const char *text, uint64_t now, AldRequest *ret, char **ret_reason)
{
        const char *first = next_request(text);
        g_autofree char *statement = NULL;
        g_auto(AldRequest) request = { .purpose = ALD_REQUEST_UNSTATED };
        int r;

        if (!first)
                return refuse_request(ret_reason, "it contains no certificate request");
        if (next_request(first + 1))
                return refuse_request(ret_reason,
                        "it contains several certificate requests, as older versions of "
                        "Alidade made them; make a new one with this version");
        r = ald_pki_request_parse(first, strlen(first), request.id, &request.node, &statement, ret_reason);
        if (r >= 0 && statement)
                r = ald_request_read_statement(statement, now, &request, ret_reason);
        if (r < 0)
                return r;
        if (!request.addresses)
                request.addresses = g_new0(char *, 1);
        *ret = request;
        request = (AldRequest){};
        return 0;
}

void ald_request_clear(AldRequest *request)
{
        g_clear_pointer(&request->node, EVP_PKEY_free);
        g_clear_pointer(&request->broker, EVP_PKEY_free);
        g_clear_pointer(&request->addresses, g_strfreev);
        g_clear_pointer(&request->name, g_free);
}

char *ald_bundle_format(const AldBundle *bundle)
{
        json_t *brokers = json_array(),
               *object = json_pack("{sisssssssssO}", "AlidadeBundle", VERSION, "Cluster", bundle->cluster,
                       "Ca", bundle->ca, "Crl", bundle->crl, "Node", bundle->node, "Brokers", brokers);
        char *made, *text;

        for (char **broker = bundle->brokers; *broker; broker++)
                json_array_append_new(brokers, json_string(*broker));
        json_decref(brokers);
        if (bundle->broker)
                json_object_set_new(object, "Broker", json_string(bundle->broker));
        made = json_dumps(object, JSON_INDENT(1));
        json_decref(object);
        text = g_strconcat(made, "\n", NULL);
        free(made);
        return text;
}

static char *copy_text(const json_t *object, const char *name)
{
        return g_strdup(json_string_value(json_object_get(object, name)));
}

static char **copy_brokers(const json_t *list)
{
        g_autoptr(GPtrArray) brokers = g_ptr_array_new_with_free_func(g_free);

        if (!json_is_array(list) || json_array_size(list) > ALD_BROKERS_MAX)
                return NULL;
        for (size_t i = 0; i < json_array_size(list); i++) {
                const char *broker = json_string_value(json_array_get(list, i));

                if (!broker || ald_broker_refuse(broker))
                        return NULL;
                g_ptr_array_add(brokers, g_strdup(broker));
        }
        g_ptr_array_add(brokers, NULL);
        return (char **) g_ptr_array_steal(brokers, NULL);
}

int ald_bundle_parse(const char *text, size_t n, AldBundle *ret, char **ret_reason)
{
        json_t *object = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
        json_int_t version = json_integer_value(json_object_get(object, "AlidadeBundle"));
        g_auto(AldBundle) bundle = {};

        if (version == VERSION)
                bundle = (AldBundle){
                        .cluster = copy_text(object, "Cluster"),
                        .ca = copy_text(object, "Ca"),
                        .crl = copy_text(object, "Crl"),
                        .node = copy_text(object, "Node"),
                        .broker = copy_text(object, "Broker"),
                        .brokers = copy_brokers(json_object_get(object, "Brokers")),
                };
        json_decref(object);
        if (bundle.cluster && bundle.ca && bundle.crl && bundle.node && bundle.brokers &&
                ald_cluster_name_is_valid(bundle.cluster)) {
                *ret = bundle;
                bundle = (AldBundle){};
                return 0;
        }
        *ret_reason = g_strdup(version > VERSION
                                       ? "it was made by a newer version of Alidade"
                                       : "it was not made by alidadectl cluster sign, or is incomplete");
        return -EBADMSG;
}

void ald_bundle_clear(AldBundle *bundle)
{
        g_clear_pointer(&bundle->cluster, g_free);
        g_clear_pointer(&bundle->brokers, g_strfreev);
        g_clear_pointer(&bundle->ca, g_free);
        g_clear_pointer(&bundle->crl, g_free);
        g_clear_pointer(&bundle->node, g_free);
        g_clear_pointer(&bundle->broker, g_free);
}
