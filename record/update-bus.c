/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/record-bus.h"
#include "record/update-bus.h"

#define CONTENTS "ssstttba{sv}"

int ald_update_bus_append(sd_bus_message *message, const AldUpdate *update)
{
        char node[ALD_ID_STRING_SIZE];
        int r;

        r = sd_bus_message_open_container(message, 'r', CONTENTS);
        if (r >= 0)
                r = sd_bus_message_append(message, "ssstttb", ald_id_format(&update->node, node),
                        ald_kinds[update->kind].name, update->key, update->stamp.epoch, update->stamp.seq,
                        update->updated_usec, !update->record);
        if (r >= 0)
                r = ald_record_bus_append(message, update->record, 0);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

void ald_update_row_clear(AldUpdateRow *row)
{
        g_clear_pointer(&row->update.record, ald_record_unref);
}

static int read_fields(sd_bus_message *message, AldUpdateRow *row, int kind, bool deleted)
{
        int r;

        row->refusal = MIN(kind, 0);
        if (kind < 0 || deleted)
                return sd_bus_message_skip(message, "a{sv}");
        row->update.kind = (AldKind) kind;
        r = ald_record_bus_read(message, row->update.kind, NULL, &row->update.record, &row->field);
        if (r >= 0 || (!row->field && r != -E2BIG)) /* any other error is one of the message */
                return r;
        row->refusal = r;
        return 0;
}

static int read_contents(sd_bus_message *message, AldUpdateRow *row)
{
        AldUpdate *update = &row->update;
        int r, deleted, kind;

        r = sd_bus_message_read(message, "ssstttb", &row->node, &row->kind, &update->key,
                &update->stamp.epoch, &update->stamp.seq, &update->updated_usec, &deleted);
        if (r < 0)
                return r;
        kind = ald_kind_from_name(row->kind);
        if (kind >= 0)
                update->kind = (AldKind) kind;
        r = read_fields(message, row, kind, deleted);
        if (r >= 0 && row->refusal == 0)
                row->refusal = ald_id_parse(row->node, &update->node);
        return r;
}

int ald_update_bus_read(sd_bus_message *message, AldUpdateRow *row)
{
        int r;

        ald_update_row_clear(row);
        *row = (AldUpdateRow){ .node = "", .kind = "" };
        r = sd_bus_message_enter_container(message, 'r', CONTENTS);
        if (r <= 0)
                return r;
        r = read_contents(message, row);
        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        return r < 0 ? r : 1;
}
