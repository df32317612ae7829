/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/alidadectl/choose.h"
#include "clients/alidadectl/links/fabric.h"
#include "clients/alidadectl/links/names.h"
#include "clients/alidadectl/print.h"
#include "clients/alidadectl/session.h"
#include "clients/alidadectl/value.h"

/* Of each node and kind there are some. */
#define ROWS_MAX 250000u

/* Over a connection of its own: that of the session ended with its loop. */
static int get_rows(const AldCtl *ctl, const char *node, AldFabricRows *rows)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autoptr(sd_bus) bus = NULL;
        int r;

        r = ald_bus_open(ctl, &bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = sd_bus_call_method(bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE, "GetFabric", &error,
                &reply, "s", node);
        if (r >= 0 && sd_bus_message_has_signature(reply, "aa{sv}aa{sv}") <= 0)
                r = -EBADMSG;
        if (r >= 0)
                r = ald_value_read_list(reply, ROWS_MAX, rows->ports);
        if (r >= 0)
                r = ald_value_read_list(reply, ROWS_MAX, rows->segments);
        if (r >= 0)
                return ALD_EXIT_OK;
        ald_bus_ensure_error(&error, r);
        return ald_bus_complain(&error, "Cannot read the fabric", ALD_STATE_UNIT);
}

static int print_as_json(const AldCtl *ctl, AldModel *model, const AldFabricRows *rows)
{
        json_t *object = json_object();
        int r;

        json_object_set_new(object, "Names", ald_names_to_json(model));
        json_object_set(object, "Ports", rows->ports);
        json_object_set(object, "Segments", rows->segments);
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static int print_as_text(const AldCtl *ctl, AldModel *model, const AldFabricRows *rows, const AldEntity *node)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        ald_fabric_append(out, model, rows, node, info.columns);
        return ald_print(ctl, &info,
                out->len > 0 ? out->str : "No RDMA port, Thunderbolt host or LLDP neighbour is known.\n");
}

int ald_verb_fabric(const AldCtl *ctl)
{
        g_auto(AldSession) session = ALD_SESSION_INIT;
        const AldEntity *node = NULL;
        AldFabricRows rows;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r == ALD_EXIT_OK && ctl->args[0])
                r = ald_choose_node(session.model, ctl->args[0], &node);
        if (r != ALD_EXIT_OK)
                return r;
        rows = (AldFabricRows){ json_array(), json_array() };
        r = get_rows(ctl, node ? node->id : "", &rows);
        if (r == ALD_EXIT_OK)
                r = ctl->json ? print_as_json(ctl, session.model, &rows)
                              : print_as_text(ctl, session.model, &rows, node);
        json_decref(rows.ports);
        json_decref(rows.segments);
        return r;
}
