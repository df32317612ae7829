/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/store/saved.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const AldStoreLimits limits = {
        .max_shown_nodes = 10,
        .max_shown_bytes = 1024 * 1024,
        .max_nodes = 10,
        .max_links_per_node = 1000,
        .max_bytes = 64 * 1024 * 1024,
};

static GLogWriterOutput silent(GLogLevelFlags flags, const GLogField *fields, gsize n, gpointer userdata)
{
        return G_LOG_WRITER_HANDLED;
}

/* What was taken is written as it was meant: reading it again restores as many records. */
static void check_restored(const AldSaved *saved, const AldId *local)
{
        g_autoptr(AldStore) store = ald_store_new(local, saved->epoch + 1, &limits);
        g_autoptr(AldSaved) again = NULL;
        g_autofree char *text = NULL;
        size_t n = 0;

        ald_saved_restore(saved, store, 1);
        for (AldEntry *entry = ald_node_after(ald_store_local_node(store), NULL); entry;
                entry = ald_node_after(ald_store_local_node(store), entry))
                n++;
        text = ald_saved_format(store);
        g_assert_cmpint(ald_saved_parse(text, strlen(text), local, &again, NULL), ==, 0);
        g_assert_cmpuint(again->n_updates, ==, n);
        g_assert_cmpuint(again->epoch, ==, saved->epoch + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const AldId local = { .bytes = { 0, 0, 0, 1 } };
        g_autoptr(AldSaved) saved = NULL;
        g_autofree char *reason = NULL;
        static bool once;

        if (!once)
                g_log_set_writer_func(silent, NULL, NULL);
        once = true;
        if (ald_saved_parse((const char *) data, size, &local, &saved, &reason) < 0)
                g_assert_nonnull(reason);
        else if (saved->epoch < (uint64_t) ALD_INTEGER_MAX)
                check_restored(saved, &local);
        return 0;
}
