/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/alidadectl/links/drawing.h"
#include "clients/alidadectl/print.h"
#include "clients/alidadectl/session.h"
#include "clients/alidadectl/value.h"

/* There may be more than the rows that a record holds. */
/* Over a connection of its own: that of the session ended with its loop. */
static int get_rows(const AldCtl *ctl, json_t *rows)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autoptr(sd_bus) bus = NULL;
        int r;

        r = ald_bus_open(ctl, &bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = sd_bus_call_method(
                bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE, "GetTopology", &error, &reply, "");
        if (r >= 0 && sd_bus_message_has_signature(reply, "aa{sv}") <= 0)
                r = -EBADMSG;
        if (r >= 0)
                r = ald_value_read_list(reply, ALD_TOPOLOGY_EDGES_MAX, rows);
        if (r >= 0)
                return ALD_EXIT_OK;
        ald_bus_ensure_error(&error, r);
        return ald_bus_complain(&error, "Cannot read the topology", ALD_STATE_UNIT);
}

static int print_as_json(const AldCtl *ctl, AldModel *model, json_t *rows)
{
        json_t *object = json_object();
        int r;

        json_object_set_new(object, "Edges", ald_topology_to_json(model, rows));
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static int print_as_text(const AldCtl *ctl, AldModel *model, json_t *rows)
{
        g_autoptr(AldTopology) topology = ald_topology_new(model, rows);
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        ald_topology_draw(out, topology, info.columns);
        return ald_print(ctl, &info, out->str);
}

int ald_verb_topology(const AldCtl *ctl)
{
        g_auto(AldSession) session = ALD_SESSION_INIT;
        json_t *rows;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r != ALD_EXIT_OK)
                return r;
        rows = json_array();
        r = get_rows(ctl, rows);
        if (r == ALD_EXIT_OK)
                r = ctl->json ? print_as_json(ctl, session.model, rows)
                              : print_as_text(ctl, session.model, rows);
        json_decref(rows);
        return r;
}
