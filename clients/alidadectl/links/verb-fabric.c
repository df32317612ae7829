/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/alidadectl/links/fabric.h"
#include "clients/alidadectl/links/names.h"
#include "clients/alidadectl/state/choose.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/print.h"
#include "clients/command-line/session.h"
#include "record/record-bus.h"
#include "state-client/value.h"

/* Of each node and kind there are some. */
#define ROWS_MAX 250000u
#define ROWS_BYTES_MAX ((size_t) ROWS_MAX * sizeof(AldPortRow))

static int complain_of_reply(const sd_bus_error *error, int r)
{
        g_auto(sd_bus_error) copy = SD_BUS_ERROR_NULL;

        (void) sd_bus_error_copy(&copy, error);
        ald_bus_ensure_error(&copy, r);
        return ald_bus_complain(&copy, "Cannot read the fabric", ALD_STATE_UNIT);
}

/* Over a connection of its own: that of the session ended with its loop. */
static int get_fabric(const AldCtl *ctl, const char *node, sd_bus_message **ret_reply)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        int r;

        r = ald_bus_open(ctl, &bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = sd_bus_call_method(bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE, "GetFabric", &error,
                ret_reply, "s", node);
        if (r >= 0 && sd_bus_message_has_signature(*ret_reply, "aa{sv}aa{sv}") <= 0)
                r = -EBADMSG;
        return r < 0 ? complain_of_reply(&error, r) : ALD_EXIT_OK;
}

/* As the service sent it. */
static int print_as_json(const AldCtl *ctl, AldModel *model, sd_bus_message *reply)
{
        json_t *object = json_object(), *ports = json_array(), *segments = json_array();
        int r;

        json_object_set_new(object, "Names", ald_names_to_json(model));
        json_object_set_new(object, "Ports", ports);
        json_object_set_new(object, "Segments", segments);
        r = ald_value_read_list(reply, ROWS_MAX, ports);
        if (r >= 0)
                r = ald_value_read_list(reply, ROWS_MAX, segments);
        r = r < 0 ? complain_of_reply(NULL, r) : ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

static int print_as_text(const AldCtl *ctl, AldModel *model, sd_bus_message *reply, const AldEntity *node)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        AldFabricReply rows;
        int r;

        r = ald_record_bus_read_rows(reply, &ald_port_row_struct, ROWS_BYTES_MAX, owned, &rows.ports);
        if (r >= 0)
                r = ald_record_bus_read_rows(
                        reply, &ald_segment_row_struct, ROWS_BYTES_MAX, owned, &rows.segments);
        if (r < 0)
                return complain_of_reply(NULL, r);
        ald_fabric_append(out, model, &rows, node, info.columns);
        return ald_print(ctl, &info,
                out->len > 0 ? out->str : "No RDMA port, Thunderbolt host or LLDP neighbour is known.\n");
}

int ald_verb_fabric(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(AldMessage) reply = NULL;
        const AldEntity *node = NULL;
        int r;

        r = ald_session_load(&session, ctl, false);
        if (r == ALD_EXIT_OK && ctl->args[0])
                r = ald_choose_node(session.model, ctl->args[0], &node);
        if (r == ALD_EXIT_OK)
                r = get_fabric(ctl, node ? node->id : "", &reply);
        if (r != ALD_EXIT_OK)
                return r;
        return ctl->json ? print_as_json(ctl, session.model, reply)
                         : print_as_text(ctl, session.model, reply, node);
}
