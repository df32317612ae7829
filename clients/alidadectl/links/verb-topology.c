/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/alidadectl/links/topology-drawing.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/print.h"
#include "clients/command-line/session.h"
#include "record/record-bus.h"
#include "state-client/value.h"

/* What a reply can hold. */
#define EDGES_MAX 250000u
#define EDGES_BYTES_MAX ((size_t) EDGES_MAX * sizeof(AldEdgeRow))

static int print_reply_error(const sd_bus_error *error, int r)
{
        g_auto(sd_bus_error) copy = SD_BUS_ERROR_NULL;

        (void) sd_bus_error_copy(&copy, error);
        ald_bus_ensure_error(&copy, r);
        return ald_bus_print_error(&copy, "Cannot read the topology", ALD_STATE_UNIT);
}

/* Over a connection of its own: that of the session ended with its loop. */
static int get_edges(const AldCtl *ctl, sd_bus_message **ret_reply)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = ald_bus_open(ctl, &bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = sd_bus_call_method(
                bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE, "GetTopology", &error, &reply, "");
        if (r >= 0 && sd_bus_message_has_signature(*&reply, "aa{sv}") <= 0)
                r = -EBADMSG;
        if (r < 0)
                return print_reply_error(&error, r);
        *ret_reply = g_steal_pointer(&reply);
        return ALD_EXIT_OK;
}

/* As the service sent them, with the names of their nodes. */
static void add_names(json_t *rows, AldModel *model)
{
        static const char *const names[][2] = { { "Source", "SourceName" }, { "Sink", "SinkName" },
                { "Prober", "ProberName" } };
        size_t i;
        json_t *row;

        json_array_foreach(rows, i, row)
                for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
                        const char *id = json_string_value(json_object_get(row, names[k][0]));
                        const char *name = ald_entity_name(ald_model_get(model, id));

                        if (name)
                                json_object_set_new(row, names[k][1], json_string(name));
                }
}

static int print_as_json(const AldCtl *ctl, AldModel *model, sd_bus_message *reply)
{
        json_t *object = json_object(), *rows = json_array();
        int r;

        json_object_set_new(object, "Edges", rows);
        r = ald_value_read_list(reply, EDGES_MAX, rows);
        add_names(rows, model);
        r = r < 0 ? print_reply_error(NULL, r) : ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static int print_as_text(const AldCtl *ctl, AldModel *model, sd_bus_message *reply)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(AldTopology) topology = NULL;
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        AldRows rows;
        int r;

        r = ald_record_bus_read_rows(reply, &ald_edge_row_struct, EDGES_BYTES_MAX, owned, &rows);
        if (r < 0)
                return print_reply_error(NULL, r);
        topology = ald_topology_new(model, &rows);
        ald_topology_draw(out, topology, info.columns);
        return ald_print(ctl, &info, out->str);
}

int ald_verb_topology(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r == ALD_EXIT_OK)
                r = get_edges(ctl, &reply);
        if (r != ALD_EXIT_OK)
                return r;
        return ctl->json ? print_as_json(ctl, session.model, reply)
                         : print_as_text(ctl, session.model, reply);
}
