/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "services/cluster/payload.h"

size_t ald_payload_max(AldTopicType type)
{
        switch (type) {
        case ALD_TOPIC_RECORD:
                return ALD_PAYLOAD_RECORD_MAX;
        case ALD_TOPIC_CRL:
                return ALD_PAYLOAD_CRL_MAX;
        default:
                return ALD_PAYLOAD_SMALL_MAX;
        }
}

static int refuse(int error, char **ret_reason, const char *field)
{
        if (ret_reason)
                *ret_reason = g_strdup_printf("%s: %s", field, ald_record_describe(error));
        return error;
}

static int load(const char *bytes, size_t n, size_t max, json_t **ret, char **ret_reason)
{
        json_t *json;
        int r;

        r = ald_json_load(bytes, n, max, &json, ret_reason);
        if (r < 0)
                return r;
        if (!json_is_object(json)) {
                json_decref(json);
                if (ret_reason)
                        *ret_reason = g_strdup("not an object");
                return -EBADMSG;
        }
        *ret = json;
        return 0;
}

/* A number that must be there. */
static int read_number(json_t *json, const char *name, uint64_t *ret, char **ret_reason)
{
        json_t *value = json_object_get(json, name);

        if (!json_is_integer(value))
                return refuse(-EBADMSG, ret_reason, name);
        if (json_integer_value(value) < 0 || json_integer_value(value) > ALD_INTEGER_MAX)
                return refuse(-ERANGE, ret_reason, name);
        *ret = (uint64_t) json_integer_value(value);
        return 0;
}

static int read_numbers(
        json_t *json, const char *const names[], uint64_t *const values[], size_t n, char **ret_reason)
{
        for (size_t i = 0; i < n; i++) {
                int r = read_number(json, names[i], values[i], ret_reason);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_fields(const AldTopic *topic, json_t *json, AldRecord **ret, char **ret_reason)
{
        g_autoptr(AldRecord) record = NULL;
        const char *field = NULL;
        int r;

        r = ald_record_from_json(topic->kind, json_object_get(json, "fields"), &record, &field);
        if (r < 0)
                return refuse(r, ret_reason, field ? field : "fields");
        if (!ald_key_names(topic->kind, topic->key, &topic->node, record))
                return refuse(-EINVAL, ret_reason, "Source or Sink");
        *ret = g_steal_pointer(&record);
        return 0;
}

int ald_payload_read_record(
        const AldTopic *topic, const char *bytes, size_t n, AldUpdate *ret, char **ret_reason)
{
        static const char *const names[] = { "epoch", "seq", "updated" };
        json_auto_t *json = NULL;
        AldUpdate update = { .node = topic->node, .kind = topic->kind, .key = topic->key };
        uint64_t *const values[] = { &update.stamp.epoch, &update.stamp.seq, &update.updated_usec };
        json_t *deleted;
        int r;

        r = load(bytes, n, ALD_PAYLOAD_RECORD_MAX, &json, ret_reason);
        if (r < 0)
                return r;
        r = read_numbers(json, names, values, G_N_ELEMENTS(names), ret_reason);
        if (r < 0)
                return r;
        deleted = json_object_get(json, "deleted");
        if (deleted && !json_is_boolean(deleted))
                return refuse(-EBADMSG, ret_reason, "deleted");
        if (!json_is_true(deleted)) {
                r = read_fields(topic, json, &update.record, ret_reason);
                if (r < 0)
                        return r;
        }
        *ret = update;
        return 0;
}

/* The only way to fail is to be out of memory, and half a message must not be sent. */
static void set(json_t *object, const char *name, json_t *value)
{
        if (json_object_set_new_nocheck(object, name, value) < 0)
                g_error("Out of memory");
}

static void set_number(json_t *object, const char *name, uint64_t value)
{
        set(object, name, json_integer((json_int_t) value));
}

static char *write_object(json_t *object)
{
        char *dump = json_dumps(object, JSON_COMPACT), *text = g_strdup(dump);

        if (!dump)
                g_error("Out of memory");
        free(dump);
        json_decref(object);
        return text;
}

char *ald_payload_write_record(const AldUpdate *update)
{
        json_t *object = json_object();

        set_number(object, "epoch", update->stamp.epoch);
        set_number(object, "seq", update->stamp.seq);
        set_number(object, "updated", update->updated_usec);
        if (update->record)
                set(object, "fields", ald_record_to_json(update->record));
        else
                set(object, "deleted", json_true());
        return write_object(object);
}
