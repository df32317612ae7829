/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/alidadectl/bus.h"
#include "clients/alidadectl/decode.h"
#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/value.h"

#define INTERFACE_PREFIX "org.alidade."
#define CURSOR_MAX 4096

static int check_signature(sd_bus_message *m, const char *signature)
{
        return sd_bus_message_has_signature(m, signature) > 0 ? 0 : -EBADMSG;
}

/* The kind of records that an interface shows, or NULL. */
static const char *kind_of(const char *interface)
{
        const char *kind;

        if (!g_str_has_prefix(interface, INTERFACE_PREFIX))
                return NULL;
        kind = interface + strlen(INTERFACE_PREFIX);
        return g_str_has_prefix(kind, "Node1.") || g_str_has_prefix(kind, "Link1.") ? kind : NULL;
}

/* The id of the node or link that an object stands for, or NULL. */
static char *id_of(const char *path)
{
        static const char node_prefix[] = ALD_STATE_PATH "/node/";
        g_autofree char *type = NULL, *source = NULL, *key = NULL;

        if (g_str_has_prefix(path, node_prefix))
                return g_strdup(path + strlen(node_prefix));
        if (sd_bus_path_decode_many(path, ALD_STATE_PATH "/link/%/%/%", &type, &source, &key) > 0)
                return g_strconcat(source, "/", key, NULL);
        return NULL;
}

int ald_decode_totals(sd_bus_message *m, AldModel *model)
{
        json_t *fields = json_object();
        int r = check_signature(m, "a{sv}");

        if (r >= 0)
                r = ald_value_read_dict(m, fields, NULL);
        if (r >= 0) {
                ald_model_set_node_id(model, ald_field_text(fields, "NodeId"));
                json_object_del(fields, "NodeId");
                ald_model_update_totals(model, fields, NULL);
        }
        json_decref(fields);
        return r;
}

/* Reads {sa{sv}}: an interface and its properties. */
static int read_interface(sd_bus_message *m, const char *id, AldModel *model)
{
        const char *interface, *kind;
        json_t *fields;
        int r;

        r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &interface);
        if (r < 0)
                return r;
        kind = id ? kind_of(interface) : NULL;
        if (!kind)
                return sd_bus_message_skip(m, "a{sv}");
        fields = json_object();
        r = ald_value_read_dict(m, fields, NULL);
        if (r >= 0)
                (void) ald_model_put(model, id, kind, fields);
        json_decref(fields);
        return r;
}

/* Reads oa{sa{sv}}: an object and its interfaces. */
static int read_object(sd_bus_message *m, AldModel *model)
{
        g_autofree char *id = NULL;
        const char *path;
        int r;

        r = sd_bus_message_read_basic(m, SD_BUS_TYPE_OBJECT_PATH, &path);
        if (r < 0)
                return r;
        id = id_of(path);
        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "{sa{sv}}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, "sa{sv}")) > 0) {
                r = read_interface(m, id, model);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

int ald_decode_managed_objects(sd_bus_message *m, AldModel *model)
{
        int r = check_signature(m, "a{oa{sa{sv}}}");

        if (r >= 0)
                r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "{oa{sa{sv}}}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, "oa{sa{sv}}")) > 0) {
                r = read_object(m, model);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Reads one ssstttba{sv}. */
static int read_record(sd_bus_message *m, AldModel *model)
{
        const char *node, *kind, *key;
        uint64_t updated;
        json_t *fields = NULL;
        int deleted, r;

        r = sd_bus_message_read(m, "ssstttb", &node, &kind, &key, NULL, NULL, &updated, &deleted);
        if (r < 0)
                return r;
        fields = json_object();
        r = ald_value_read_dict(m, fields, NULL);
        if (r >= 0 && !deleted) {
                g_autofree char *id = key[0] ? g_strconcat(node, "/", key, NULL) : g_strdup(node);

                if (updated > 0 && updated <= INT64_MAX)
                        json_object_set_new(fields, "UpdatedUSec", json_integer((json_int_t) updated));
                (void) ald_model_put(model, id, kind, fields);
        }
        json_decref(fields);
        return r;
}

int ald_decode_records(sd_bus_message *m, AldModel *model, char **ret_cursor)
{
        const char *cursor;
        int r = check_signature(m, "a(ssstttba{sv})s");

        if (r >= 0)
                r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "(ssstttba{sv})");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, SD_BUS_TYPE_STRUCT, "ssstttba{sv}")) > 0) {
                r = read_record(m, model);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r >= 0)
                r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &cursor);
        if (r < 0)
                return r;
        if (strlen(cursor) > CURSOR_MAX)
                return -EBADMSG;
        *ret_cursor = g_strdup(cursor);
        return 0;
}

int ald_decode_findings(sd_bus_message *m, AldModel *model)
{
        json_t *findings = json_array();
        int r = check_signature(m, "aa{sv}");

        if (r >= 0)
                r = ald_value_read_rows(m, findings);
        if (r >= 0)
                ald_model_set_findings(model, findings);
        json_decref(findings);
        return r;
}

int ald_decode_interfaces_added(sd_bus_message *m, AldModel *model)
{
        int r = check_signature(m, "oa{sa{sv}}");

        return r < 0 ? r : read_object(m, model);
}

int ald_decode_interfaces_removed(sd_bus_message *m, AldModel *model)
{
        g_autofree char *id = NULL;
        const char *path, *interface;
        int r = check_signature(m, "oas");

        if (r >= 0)
                r = sd_bus_message_read_basic(m, SD_BUS_TYPE_OBJECT_PATH, &path);
        if (r < 0)
                return r;
        id = id_of(path);
        r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "s");
        while (r >= 0 && (r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &interface)) > 0) {
                const char *kind = kind_of(interface);

                if (id && kind)
                        ald_model_remove(model, id, kind);
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int apply_properties(
        sd_bus_message *m, const char *interface, AldModel *model, json_t *fields, json_t *absent)
{
        const char *path = sd_bus_message_get_path(m), *kind = kind_of(interface);
        g_autofree char *id = id_of(path);
        int r = ald_value_read_dict(m, fields, absent);

        if (r < 0)
                return r;
        if (id && kind)
                (void) ald_model_update(model, id, kind, fields, absent);
        else if (strcmp(path, ALD_STATE_PATH) == 0 && strcmp(interface, ALD_STATE_INTERFACE) == 0)
                ald_model_update_totals(model, fields, absent);
        return 0;
}

int ald_decode_properties_changed(sd_bus_message *m, AldModel *model)
{
        json_t *fields = json_object(), *absent = json_array();
        const char *interface, *name;
        int r = check_signature(m, "sa{sv}as"), stale = 0;

        if (r >= 0)
                r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &interface);
        if (r >= 0)
                r = apply_properties(m, interface, model, fields, absent);
        if (r >= 0)
                r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "s");
        while (r >= 0 && (r = sd_bus_message_read_basic(m, SD_BUS_TYPE_STRING, &name)) > 0)
                stale = 1;
        json_decref(fields);
        json_decref(absent);
        return r < 0 ? r : stale;
}
