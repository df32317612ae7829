/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/peers/record-gap.h"

#define WAIT_USEC (UINT64_C(30) * G_USEC_PER_SEC)
#define DOUBLINGS_MAX 7u /* up to about an hour */
/* Limit of counted topics of a node; the check is off once it is reached. */
#define TOPICS_MAX 8192u

void ald_record_gap_clear(AldRecordGap *gap)
{
        g_clear_pointer(&gap->topics, g_hash_table_unref);
        *gap = (AldRecordGap){};
}

/* Keeps only the hash of a topic. After a collision a record seems to be missing, which costs a request an
 * hour. */
void ald_record_gap_take(AldRecordGap *gap, const char *topic, bool is_cleared)
{
        gpointer hash = GUINT_TO_POINTER(g_str_hash(topic));

        if (is_cleared && gap->topics)
                g_hash_table_remove(gap->topics, hash);
        if (is_cleared)
                return;
        if (!gap->topics)
                gap->topics = g_hash_table_new(NULL, NULL);
        if (g_hash_table_size(gap->topics) < TOPICS_MAX)
                g_hash_table_add(gap->topics, hash);
}

bool ald_record_gap_state(AldRecordGap *gap, uint64_t stated, uint64_t now)
{
        guint arrived = gap->topics ? g_hash_table_size(gap->topics) : 0;
        bool is_same = gap->since != 0 && gap->stated == stated && gap->arrived == arrived;

        gap->stated = stated;
        gap->arrived = arrived;
        if (stated <= arrived || arrived >= TOPICS_MAX) {
                gap->since = 0;
                gap->n_asked = 0;
                return false;
        }
        if (!is_same)
                gap->since = now;
        if (now - gap->since < WAIT_USEC << MIN(gap->n_asked, DOUBLINGS_MAX))
                return false;
        gap->since = now;
        gap->n_asked++;
        return true;
}
