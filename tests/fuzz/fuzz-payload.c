/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/mqtt/topic.h"
#include "services/cluster/peers/payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is written as it was meant: reading it again gives the same. */
static void check_record(const AldTopic *topic, const char *bytes, size_t n)
{
        g_autoptr(AldRecord) record = NULL;
        g_autoptr(AldRecord) record_again = NULL;
        g_autofree char *written = NULL, *reason = NULL;
        AldUpdate update, again;

        if (ald_payload_read_record(topic, bytes, n, &update, &reason) < 0) {
                g_assert_true(reason && g_utf8_validate(reason, -1, NULL));
                return;
        }
        record = update.record;
        written = ald_payload_write_record(&update);
        g_assert_cmpint(ald_payload_read_record(topic, written, strlen(written), &again, NULL), ==, 0);
        record_again = again.record;
        g_assert_true(!record == !record_again);
        if (record)
                g_assert_cmpint(ald_record_compare(record, record_again), ==, 0);
        g_assert_cmpuint(update.stamp.epoch, ==, again.stamp.epoch);
        g_assert_cmpuint(update.stamp.seq, ==, again.stamp.seq);
}

static void check_message(AldKind kind, const char *bytes, size_t n)
{
        g_autofree char *written = NULL, *twice = NULL, *reason = NULL;
        g_autoptr(AldRecord) message = NULL;
        g_autoptr(AldRecord) again = NULL;

        if (ald_message_parse(kind, bytes, n, ALD_PAYLOAD_SMALL_MAX, &message, &reason) < 0) {
                g_assert_true(reason && g_utf8_validate(reason, -1, NULL));
                return;
        }
        written = ald_message_format(kind, ald_record_fields(message));
        g_assert_cmpint(
                ald_message_parse(kind, written, strlen(written), ALD_PAYLOAD_SMALL_MAX, &again, NULL), ==,
                0);
        twice = ald_message_format(kind, ald_record_fields(again));
        g_assert_cmpstr(written, ==, twice);
}

static void check_payload(const AldTopic *topic, const char *bytes, size_t n)
{
        switch (topic->type) {
        case ALD_TOPIC_RECORD:
                check_record(topic, bytes, n);
                break;
        case ALD_TOPIC_STATUS:
                check_message(ALD_KIND_NODE_STATUS, bytes, n);
                break;
        case ALD_TOPIC_ALIVE:
                check_message(ALD_KIND_NODE_ALIVE, bytes, n);
                break;
        case ALD_TOPIC_FORGET:
                check_message(ALD_KIND_NODE_FORGET, bytes, n);
                break;
        case ALD_TOPIC_CRL:
                break;
        }
}

/* The topic, a line feed, the payload. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const uint8_t *end = memchr(data, '\n', size);
        g_autofree char *text = NULL, *again = NULL, *bytes = NULL;
        AldTopic topic;
        size_t n;

        if (!end)
                return 0;
        text = g_strndup((const char *) data, (size_t) (end - data));
        if (ald_topic_parse(text, "home", &topic) < 0)
                return 0;
        again = ald_topic_format(&topic, "home");
        g_assert_cmpstr(text, ==, again);
        /* Of exactly its size, so that a sanitizer sees what reads beyond. */
        n = size - (size_t) (end + 1 - data);
        bytes = g_memdup2(end + 1, n);
        check_payload(&topic, bytes, n);
        return 0;
}
