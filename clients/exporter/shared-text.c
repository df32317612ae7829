/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/exporter/shared-text.h"

/* A text in one format, as long as a connection holds it. The samples belong to the set and are not
 * copied. */
typedef struct HeldText {
        AldSharedText *shared; /* NULL once it was freed */
        uint64_t number;
        AldMetricSet *set;
        GString *heads;
        gsize bytes;
        GList link;
} HeldText;

struct AldSharedText {
        AldMetricSet *set;
        uint64_t number;
        struct MHD_Response *responses[ALD_METRIC_FORMAT_N];
        GQueue held;            /* HeldText, the oldest one first */
        gsize bytes, bytes_max; /* including the present text */
};

AldSharedText *ald_shared_text_new(gsize bytes_max)
{
        AldSharedText *shared = g_new0(AldSharedText, 1);

        shared->bytes_max = bytes_max;
        return shared;
}

static void drop_responses(AldSharedText *shared)
{
        for (size_t i = 0; i < ALD_METRIC_FORMAT_N; i++)
                g_clear_pointer(&shared->responses[i], MHD_destroy_response);
        g_clear_pointer(&shared->set, ald_metric_set_unref);
}

void ald_shared_text_free(AldSharedText *shared)
{
        if (!shared)
                return;
        drop_responses(shared);
        for (GList *at = shared->held.head; at; at = at->next)
                ((HeldText *) at->data)->shared = NULL;
        g_free(shared);
}

void ald_shared_text_set(AldSharedText *shared, AldMetricSet *set)
{
        drop_responses(shared);
        shared->set = set;
        shared->number++;
}

static void held_free(void *data)
{
        HeldText *held = data;

        if (held->shared) {
                held->shared->bytes -= held->bytes;
                g_queue_unlink(&held->shared->held, &held->link);
        }
        ald_metric_set_unref(held->set);
        g_string_free(held->heads, TRUE);
        g_free(held);
}

static struct MHD_Response *create_response(HeldText *held, AldMetricFormat format)
{
        g_autoptr(GArray) pieces = ald_metric_set_pieces(held->set, format, held->heads);
        g_autofree struct MHD_IoVec *parts = g_new(struct MHD_IoVec, pieces->len);

        for (guint i = 0; i < pieces->len; i++) {
                const AldMetricPiece *piece = &g_array_index(pieces, AldMetricPiece, i);

                parts[i] = (struct MHD_IoVec){ piece->text, piece->length };
                held->bytes += piece->length;
        }
        return MHD_create_response_from_iovec(parts, pieces->len, held_free, held);
}

static struct MHD_Response *write_response(AldSharedText *shared, AldMetricFormat format)
{
        HeldText *held = g_new0(HeldText, 1);
        struct MHD_Response *response;

        held->shared = shared;
        held->number = shared->number;
        held->set = ald_metric_set_ref(shared->set);
        held->heads = g_string_new(NULL);
        held->link.data = held;
        response = create_response(held, format);
        g_queue_push_tail_link(&shared->held, &held->link);
        shared->bytes += held->bytes;
        (void) MHD_add_response_header(response, "Content-Type", ald_metric_format_type(format));
        (void) MHD_add_response_header(response, "Vary", "Accept");
        (void) MHD_add_response_header(response, "Connection", "close");
        return response;
}

struct MHD_Response *ald_shared_text_get(AldSharedText *shared, AldMetricFormat format, uint64_t *ret_number)
{
        if (!shared->set)
                return NULL;
        if (!shared->responses[format])
                shared->responses[format] = write_response(shared, format);
        *ret_number = shared->number;
        return shared->responses[format];
}

uint64_t ald_shared_text_excess(AldSharedText *shared)
{
        const HeldText *oldest = g_queue_peek_head(&shared->held);

        return shared->bytes > shared->bytes_max && oldest->number != shared->number ? oldest->number : 0;
}
