/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

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

char *ald_payload_write_record(const AldUpdate *update)
{
        GString *text = g_string_new(NULL);

        ald_update_append_text(text, update, false);
        return g_string_free(text, FALSE);
}
