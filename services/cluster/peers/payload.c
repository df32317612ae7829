/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "record/json.h"
#include "services/cluster/peers/payload.h"

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
                if (ret_reason)
                        *ret_reason = g_strdup_printf("Source or Sink: %s", ald_record_describe(-EINVAL));
                return -EINVAL;
        }
        *ret = update;
        return 0;
}

/* Setting a member fails only if memory runs out, and half a message must not be sent. */
static void set_member(json_t *object, const char *name, json_t *value)
{
        if (json_object_set_new_nocheck(object, name, value) < 0)
                g_error("Out of memory");
}

static void set_integer(json_t *object, const char *name, uint64_t value)
{
        set_member(object, name, json_integer((json_int_t) value));
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

        set_integer(object, "epoch", update->stamp.epoch);
        set_integer(object, "seq", update->stamp.seq);
        set_integer(object, "updated", update->updated_usec);
        if (update->record)
                set_member(object, "fields", ald_record_to_json(update->record));
        else
                set_member(object, "deleted", json_true());
        return write_object(object);
}
