/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/format.h"
#include "clients/alidadectl/seen.h"
#include "clients/alidadectl/text.h"

/* Every record is sent again at least every 30 s. */
#define RESEND_USEC 30e6
#define SILENT_USEC 45e6
#define GONE_USEC 300e6

double ald_node_now(const AldEntity *node, double now_usec)
{
        double offset = ald_field_number(ald_entity_record(node, ALD_KIND_OF_PRESENCE), "ClockOffsetUSec");

        return isnan(offset) ? now_usec : now_usec + offset;
}

char *ald_format_record_age(double updated_usec, double now_usec)
{
        if (now_usec - updated_usec < RESEND_USEC)
                return g_strdup("live");
        return ald_format_age(updated_usec, now_usec);
}

/* The state in words that are known here, or NULL. */
static const char *presence_of(const AldEntity *node, const char **ret_style)
{
        static const struct {
                const char *state, *style;
        } states[] = {
                { "online", ALD_STYLE_GOOD },
                { "stale", ALD_STYLE_WARNING },
                { "offline", ALD_STYLE_ERROR },
                { "duplicate", ALD_STYLE_ERROR },
                { "unknown", ALD_STYLE_WARNING },
        };
        const char *state = ald_field_text(ald_entity_record(node, ALD_KIND_OF_PRESENCE), "State");

        for (size_t i = 0; i < G_N_ELEMENTS(states); i++)
                if (g_strcmp0(state, states[i].state) == 0) {
                        *ret_style = states[i].style;
                        return states[i].state;
                }
        return NULL;
}

const char *ald_node_gone(AldModel *model, const AldEntity *node)
{
        static const char *const gone[] = { "offline", "duplicate", "unknown" };
        const char *style, *state = node ? presence_of(node, &style) : NULL;

        if (!state || g_strcmp0(node->id, ald_model_node_id(model)) == 0)
                return NULL;
        for (size_t i = 0; i < G_N_ELEMENTS(gone); i++)
                if (strcmp(state, gone[i]) == 0)
                        return gone[i];
        return NULL;
}

/* Since when the presence is unknown: the age of the records does not matter then. */
static char *format_unknown(const AldEntity *node, const char *style, double now_usec)
{
        double since = ald_field_number(ald_entity_record(node, ALD_KIND_OF_PRESENCE), "SinceUSec");
        g_autofree char *ago = ald_format_age(since, now_usec);

        if (isnan(since))
                return g_strconcat(style, "unknown", ALD_STYLE_NORMAL, NULL);
        return g_strconcat(style, "unknown, ", ago, ALD_STYLE_NORMAL, NULL);
}

static const char *style_of_age(double age)
{
        return age > GONE_USEC ? ALD_STYLE_ERROR : age > SILENT_USEC ? ALD_STYLE_WARNING : ALD_STYLE_GOOD;
}

char *ald_format_seen(const AldEntity *node, double now_usec)
{
        double updated = ald_entity_updated(node), now = ald_node_now(node, now_usec), age = now - updated;
        g_autofree char *text = NULL;
        const char *style, *state = presence_of(node, &style);
        bool online = g_strcmp0(state, "online") == 0;

        if (g_strcmp0(state, "unknown") == 0)
                return format_unknown(node, style, now_usec);
        if (!state && isnan(age))
                return ald_format_age(updated, now);
        if (!state)
                text = ald_format_record_age(updated, now);
        else if (isnan(age) || (online && age < RESEND_USEC))
                text = g_strdup(state);
        else {
                g_autofree char *ago = ald_format_age(updated, now);

                text = g_strdup_printf("%s, %s", state, ago);
        }
        if (!state || (online && age > SILENT_USEC))
                style = style_of_age(age);
        return g_strconcat(style, text, ALD_STYLE_NORMAL, NULL);
}
