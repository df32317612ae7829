/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "services/cluster/payload.h"

static const char *const said_names[] = {
        [ALD_PRESENCE_SAYS_ONLINE] = "online",
        [ALD_PRESENCE_SAYS_OFFLINE] = "offline",
        [ALD_PRESENCE_SAYS_DUPLICATE] = "duplicate",
};

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

/* 128 bits as hexadecimal digits. */
static int read_id(json_t *json, const char *name, AldId *ret, char **ret_reason)
{
        const char *text = json_string_value(json_object_get(json, name));

        if (!text || ald_id_parse(text, ret) < 0)
                return refuse(-EBADMSG, ret_reason, name);
        return 0;
}

int ald_payload_read_record(
        const AldTopic *topic, const char *bytes, size_t n, AldUpdate *ret, char **ret_reason)
{
        AldUpdate update = { .node = topic->node, .kind = topic->kind, .key = topic->key };
        AldJsonFault fault;
        int r;

        if (n > ALD_PAYLOAD_RECORD_MAX) {
                if (ret_reason)
                        *ret_reason = g_strdup_printf("larger than %u bytes", ALD_PAYLOAD_RECORD_MAX);
                return -E2BIG;
        }
        r = ald_update_complete_from_text(bytes, n, &update, &fault);
        if (r < 0) {
                if (ret_reason)
                        *ret_reason = ald_json_fault_describe(&fault, r);
                return r;
        }
        if (update.record && !ald_key_names(topic->kind, topic->key, &topic->node, update.record)) {
                ald_record_unref(update.record);
                return refuse(-EINVAL, ret_reason, "Source or Sink");
        }
        *ret = update;
        return 0;
}

static int read_said(json_t *json, AldPresenceSaid *ret, char **ret_reason)
{
        const char *text = json_string_value(json_object_get(json, "state"));

        for (unsigned i = 0; i < G_N_ELEMENTS(said_names); i++)
                if (g_strcmp0(text, said_names[i]) == 0) {
                        *ret = i;
                        return 0;
                }
        return refuse(-EBADMSG, ret_reason, "state");
}

static int read_status(json_t *json, AldStatus *status, char **ret_reason)
{
        static const char *const names[] = { "epoch", "conn" };
        uint64_t *const values[] = { &status->epoch, &status->conn };
        int r;

        r = read_said(json, &status->said, ret_reason);
        if (r >= 0)
                r = read_numbers(json, names, values, G_N_ELEMENTS(names), ret_reason);
        if (r >= 0)
                r = read_id(json, "instance", &status->instance, ret_reason);
        if (r >= 0 && json_object_get(json, "boot"))
                r = read_id(json, "boot", &status->boot, ret_reason);
        if (r >= 0 && json_object_get(json, "announced"))
                r = read_number(json, "announced", &status->announced, ret_reason);
        if (r >= 0 && json_object_get(json, "other"))
                r = read_id(json, "other", &status->other, ret_reason);
        return r;
}

int ald_payload_read_status(const char *bytes, size_t n, AldStatus *ret, char **ret_reason)
{
        json_auto_t *json = NULL;
        AldStatus status = { 0 };
        int r;

        r = load(bytes, n, ALD_PAYLOAD_SMALL_MAX, &json, ret_reason);
        if (r >= 0)
                r = read_status(json, &status, ret_reason);
        if (r >= 0)
                *ret = status;
        return r;
}

int ald_payload_read_alive(const char *bytes, size_t n, AldAlive *ret, char **ret_reason)
{
        static const char *const names[] = { "usec", "epoch", "conn" };
        json_auto_t *json = NULL;
        AldAlive alive;
        uint64_t *const values[] = { &alive.usec, &alive.epoch, &alive.conn };
        int r;

        r = load(bytes, n, ALD_PAYLOAD_SMALL_MAX, &json, ret_reason);
        if (r >= 0)
                r = read_numbers(json, names, values, G_N_ELEMENTS(names), ret_reason);
        if (r >= 0)
                *ret = alive;
        return r;
}

int ald_payload_read_forget(const char *bytes, size_t n, AldForget *ret, char **ret_reason)
{
        static const char *const names[] = { "epoch", "seq", "usec" };
        json_auto_t *json = NULL;
        AldForget forget;
        uint64_t *const values[] = { &forget.stamp.epoch, &forget.stamp.seq, &forget.usec };
        int r;

        r = load(bytes, n, ALD_PAYLOAD_SMALL_MAX, &json, ret_reason);
        if (r >= 0)
                r = read_numbers(json, names, values, G_N_ELEMENTS(names), ret_reason);
        if (r >= 0 && forget.stamp.epoch == 0) /* nothing has that epoch */
                r = refuse(-ERANGE, ret_reason, "epoch");
        if (r >= 0)
                *ret = forget;
        return r;
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

static void set_id(json_t *object, const char *name, const AldId *id)
{
        char text[ALD_ID_STRING_SIZE];

        set(object, name, json_string_nocheck(ald_id_format(id, text)));
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

char *ald_payload_write_status(const AldStatus *status)
{
        static const AldId none = { 0 };
        json_t *object = json_object();

        set(object, "state", json_string_nocheck(said_names[status->said]));
        set_number(object, "epoch", status->epoch);
        set_number(object, "conn", status->conn);
        if (!ald_id_equal(&status->boot, &none))
                set_id(object, "boot", &status->boot);
        set_id(object, "instance", &status->instance);
        if (status->announced != 0)
                set_number(object, "announced", status->announced);
        if (!ald_id_equal(&status->other, &none))
                set_id(object, "other", &status->other);
        return write_object(object);
}

char *ald_payload_write_alive(const AldAlive *alive)
{
        json_t *object = json_object();

        set_number(object, "usec", alive->usec);
        set_number(object, "epoch", alive->epoch);
        set_number(object, "conn", alive->conn);
        return write_object(object);
}

char *ald_payload_write_forget(const AldForget *forget)
{
        json_t *object = json_object();

        set_number(object, "epoch", forget->stamp.epoch);
        set_number(object, "seq", forget->stamp.seq);
        set_number(object, "usec", forget->usec);
        return write_object(object);
}
