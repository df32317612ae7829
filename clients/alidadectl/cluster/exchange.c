/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "clients/alidadectl/cluster/addresses.h"
#include "clients/alidadectl/cluster/exchange.h"
#include "clients/alidadectl/cluster/home.h"

#define BEGIN "-----BEGIN CERTIFICATE REQUEST-----"
#define OLD_BEGIN "-----BEGIN NEW CERTIFICATE REQUEST-----" /* as some tools write it */
#define ADDRESS_FIELD "Broker-Address:"
#define VERSION 1

char *ald_request_format(const AldRequest *request)
{
        GString *text = g_string_new(NULL);

        for (char **address = request->addresses; address && *address; address++)
                g_string_append_printf(text, ADDRESS_FIELD " %s\n", *address);
        g_string_append(text, request->node);
        if (request->broker)
                g_string_append(text, request->broker);
        return g_string_free(text, FALSE);
}

static const char *next_request(const char *text)
{
        const char *plain = strstr(text, BEGIN), *old = strstr(text, OLD_BEGIN);

        return plain && old ? MIN(plain, old) : plain ? plain : old;
}

static int read_addresses(const char *head, char ***ret, char **ret_reason)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) lines = g_strsplit(head, "\n", -1);

        for (char **line = lines; *line; line++) {
                char *host = g_str_has_prefix(*line, ADDRESS_FIELD) ? *line + strlen(ADDRESS_FIELD) : NULL;

                if (!host)
                        continue;
                if (list->len >= ALD_ADDRESSES_MAX || ald_host_refuse(g_strstrip(host))) {
                        *ret_reason = g_strdup("a broker's address in it is none, or there are too many");
                        return -EBADMSG;
                }
                g_ptr_array_add(list, g_strdup(host));
        }
        g_ptr_array_add(list, NULL);
        *ret = (char **) g_ptr_array_steal(list, NULL);
        return 0;
}

int ald_request_parse(const char *text, AldRequest *ret, char **ret_reason)
{
        const char *first = next_request(text), *second = first ? next_request(first + 1) : NULL;
        g_autofree char *head = NULL;
        int r;

        if (!first) {
                *ret_reason = g_strdup("there is no certificate request in it");
                return -EBADMSG;
        }
        head = g_strndup(text, (gsize) (first - text));
        r = read_addresses(head, &ret->addresses, ret_reason);
        if (r < 0)
                return r;
        if (second && (!ret->addresses[0] || next_request(second + 1))) {
                *ret_reason = g_strdup(
                        "a second request in it comes without an address, or there is a third");
                return -EBADMSG;
        }
        ret->node = second ? g_strndup(first, (gsize) (second - first)) : g_strdup(first);
        ret->broker = g_strdup(second);
        return 0;
}

void ald_request_clear(AldRequest *request)
{
        g_clear_pointer(&request->node, g_free);
        g_clear_pointer(&request->broker, g_free);
        g_clear_pointer(&request->addresses, g_strfreev);
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

        if (version == VERSION) {
                ret->cluster = copy_text(object, "Cluster");
                ret->ca = copy_text(object, "Ca");
                ret->crl = copy_text(object, "Crl");
                ret->node = copy_text(object, "Node");
                ret->broker = copy_text(object, "Broker");
                ret->brokers = copy_brokers(json_object_get(object, "Brokers"));
        }
        json_decref(object);
        if (version == VERSION && ret->cluster && ret->ca && ret->crl && ret->node && ret->brokers &&
                ald_home_is_name(ret->cluster))
                return 0;
        *ret_reason = g_strdup(version > VERSION
                                       ? "it is of a newer version of Alidade"
                                       : "it is not what alidadectl cluster sign made, or not all of it");
        ald_bundle_clear(ret);
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
