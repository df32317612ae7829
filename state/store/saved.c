/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "state/store/saved.h"

#define VERSION 1

char *ald_saved_format(AldStore *store)
{
        AldNode *node = ald_store_local_node(store);
        GString *text = g_string_new(NULL);
        const char *separator = "\n";

        g_string_printf(
                text, "{\"version\":%d,\"epoch\":%" PRIu64 ",\"records\":[", VERSION, ald_store_epoch(store));
        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry)) {
                const AldUpdate update = ald_entry_update(entry);

                if (!ald_kinds[entry->kind].persistent)
                        continue;
                g_string_append(text, separator);
                ald_update_append_text(text, &update, true);
                separator = ",\n";
        }
        g_string_append(text, "\n]}\n");
        return g_string_free(text, FALSE);
}

static int parse_update(json_t *json, AldUpdate *update, char **ret_key, char **ret_reason)
{
        char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
        AldJsonFault fault;
        int r;

        if (!text)
                g_error("Out of memory");
        r = ald_update_from_text(text, strlen(text), false, update, ret_key, &fault);
        free(text);
        if (r < 0)
                *ret_reason = ald_json_fault_describe(&fault, r);
        return r;
}

static int parse_record(json_t *json, const AldId *local, AldSaved *saved, char **ret_error)
{
        AldUpdate *update = &saved->updates[saved->n_updates];
        const char *kind = json_string_value(json_object_get(json, "kind"));
        g_autofree char *reason = NULL;

        /* A newer version has written it. */
        if (kind && ald_kind_from_name(kind) < 0) {
                saved->n_unknown++;
                return 0;
        }
        if (parse_update(json, update, &saved->keys[saved->n_updates], &reason) < 0) {
                *ret_error = g_strdup_printf("record %zu: %s", saved->n_updates, reason);
                return -EBADMSG;
        }
        saved->n_updates++;
        if (!ald_id_equal(&update->node, local) || !ald_kinds[update->kind].persistent) {
                *ret_error = g_strdup_printf(
                        "record %zu: not of a kind that is saved, or of another node", saved->n_updates - 1);
                return -EBADMSG;
        }
        return 0;
}

static int parse_root(json_t *root, const AldId *local, AldSaved *saved, char **ret_error)
{
        json_t *records, *record;
        json_int_t version, epoch;
        size_t i;

        if (json_unpack(root, "{s:I, s:I, s:o}", "version", &version, "epoch", &epoch, "records", &records) <
                        0 ||
                !json_is_array(records) || epoch < 0 || epoch > ALD_INTEGER_MAX) {
                *ret_error = g_strdup("version, epoch or records is missing or wrong");
                return -EBADMSG;
        }
        if (version != VERSION) {
                *ret_error = g_strdup_printf("unknown version %" JSON_INTEGER_FORMAT, version);
                return -EBADMSG;
        }
        saved->epoch = (uint64_t) epoch;
        saved->updates = g_new0(AldUpdate, json_array_size(records));
        saved->keys = g_new0(char *, json_array_size(records));
        json_array_foreach(records, i, record) {
                int r = parse_record(record, local, saved, ret_error);
                if (r < 0)
                        return r;
        }
        return 0;
}

int ald_saved_parse(const char *text, size_t n, const AldId *local, AldSaved **ret, char **ret_error)
{
        g_autoptr(AldSaved) saved = g_new0(AldSaved, 1);
        json_t *root;
        int r;

        r = ald_json_load(text, n, ALD_SAVED_MAX, &root, ret_error);
        if (r < 0)
                return -EBADMSG;
        r = parse_root(root, local, saved, ret_error);
        json_decref(root);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&saved);
        return 0;
}

void ald_saved_free(AldSaved *saved)
{
        if (!saved)
                return;
        for (size_t i = 0; i < saved->n_updates; i++) {
                g_clear_pointer(&saved->updates[i].record, ald_record_unref);
                g_free(saved->keys[i]);
        }
        g_free(saved->updates);
        g_free(saved->keys);
        g_free(saved);
}

void ald_saved_restore(const AldSaved *saved, AldStore *store, uint64_t now)
{
        if (saved->n_unknown > 0)
                g_warning("Dropping %zu saved records of kinds that only a newer version knows",
                        saved->n_unknown);
        for (size_t i = 0; i < saved->n_updates; i++) {
                const AldUpdate *update = &saved->updates[i];
                int r = ald_store_put_local(
                        store, update->kind, update->key, update->record, update->updated_usec, now);

                if (r < 0)
                        g_warning("Dropping a saved %s record: %s", ald_kinds[update->kind].name,
                                g_strerror(-r));
        }
}
