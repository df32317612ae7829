/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "clients/common/words.h"
#include "record/translate.h"

/* Only words that are not names, and that users of the desktop program see outside the names of fields. */
static const char *const words[] = {
        /* States of nodes and paths. */
        N_("online"),
        N_("live"),
        N_("stale"),
        N_("offline"),
        N_("duplicate"),
        N_("unknown"),
        N_("asleep"),
        /* Changes since a link was measured. */
        N_("rate"),
        N_("rtt"),
        N_("speed"),
        N_("route"),
        N_("errors"),
        /* Paths of a plan within a node, or that were never measured. */
        N_("inner"),
        N_("assumed"),
        /* Goals of a plan. */
        N_("latency"),
        N_("throughput"),
        N_("both"),
        /* Why the figures of a device are less reliable. */
        N_("busy"),
        N_("unstable"),
        N_("suspect"),
        N_("reduced"),
        /* Why the clocks of a device are held down. */
        N_("power"),
        N_("thermal"),
        N_("hardware"),
        N_("setting"),
        /* Connections between devices. */
        N_("switch"),
        N_("root-complex"),
        N_("numa-node"),
        N_("machine"),
        /* Phases of a probe. */
        N_("upload"),
        N_("download"),
        /* Kinds of machines. */
        N_("desktop"),
        N_("tower"),
        N_("laptop"),
        N_("convertible"),
        N_("server"),
        N_("tablet"),
        N_("handset"),
        N_("embedded"),
        N_("vm"),
        N_("container"),
        /* Severities. */
        N_("error"),
        N_("warning"),
        N_("notice"),
};

const char *ald_word(const char *word)
{
        for (size_t i = 0; word && i < G_N_ELEMENTS(words); i++)
                if (strcmp(word, words[i]) == 0)
                        return _(words[i]);
        return word;
}

char *ald_limiter_words(const char *limiter)
{
        static const struct {
                const char *limiter, *words;
        } known[] = {
                { "network", N_("limited by the network") },
                { "loss", N_("limited by loss") },
                { "receiver", N_("limited by the receiver") },
                { "sender", N_("limited by the sender") },
                { "application", N_("limited by the application") },
        };
        g_autofree char *safe = ald_text_safe_or_null(limiter);

        for (size_t i = 0; limiter && i < G_N_ELEMENTS(known); i++)
                if (strcmp(limiter, known[i].limiter) == 0)
                        return g_strdup(_(known[i].words));
        return safe && *safe ? g_strdup_printf(_("limited by the %s"), safe) : NULL;
}

char *ald_words_list(const char *const *list)
{
        g_autoptr(GPtrArray) translated = g_ptr_array_new();

        for (; list && *list; list++)
                g_ptr_array_add(translated, (gpointer) ald_word(*list));
        g_ptr_array_add(translated, NULL);
        return ald_format_list((const char *const *) translated->pdata);
}
