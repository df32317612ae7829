/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/node-seen.h"

/* Every record is sent again at least every 30 s. */
#define RESEND_USEC 30e6
#define SILENT_USEC 45e6
#define GONE_USEC 300e6

static const AldPresence *presence_of(const AldEntity *node)
{
        return ald_entity_as(node, PRESENCE, AldPresence);
}

double ald_node_now(const AldEntity *node, double now_usec)
{
        const AldPresence *presence = presence_of(node);
        double offset = presence ? ald_figure_signed(presence->clock_offset_usec) : (double) NAN;

        return isnan(offset) ? now_usec : now_usec + offset;
}

char *ald_format_record_age(double updated_usec, double now_usec)
{
        if (now_usec - updated_usec < RESEND_USEC)
                return g_strdup("live");
        return ald_format_age(updated_usec, now_usec);
}

/* How a state is judged, by AldPresenceState. */
static const struct {
        AldTone tone;
        bool gone;
} judgements[ALD_PRESENCE_STATE_N] = {
        [ALD_PRESENCE_STATE_ONLINE] = { ALD_TONE_GOOD, false },
        [ALD_PRESENCE_STATE_STALE] = { ALD_TONE_WARNING, false },
        [ALD_PRESENCE_STATE_OFFLINE] = { ALD_TONE_ERROR, true },
        [ALD_PRESENCE_STATE_DUPLICATE] = { ALD_TONE_ERROR, true },
        [ALD_PRESENCE_STATE_UNKNOWN] = { ALD_TONE_WARNING, true },
};

/* ALD_PRESENCE_STATE_N for a state that this version does not know. */
static AldPresenceState state_of(const AldPresence *presence)
{
        AldPresenceState state = 0;

        while (state < ALD_PRESENCE_STATE_N &&
                (!presence || g_strcmp0(presence->state, ald_presence_state_to_string(state)) != 0))
                state++;
        return state;
}

const char *ald_node_gone(AldModel *model, const AldEntity *node)
{
        AldPresenceState state = state_of(presence_of(node));

        if (state == ALD_PRESENCE_STATE_N || !judgements[state].gone ||
                g_strcmp0(node->id, ald_model_node_id(model)) == 0)
                return NULL;
        return ald_presence_state_to_string(state);
}

/* Since when the presence is unknown: the age of the records does not matter then. */
static char *format_unknown(const AldPresence *presence, double now_usec)
{
        const char *state = ald_presence_state_to_string(ALD_PRESENCE_STATE_UNKNOWN);
        g_autofree char *ago = ald_format_age(ald_figure(presence->since_usec), now_usec);

        return presence->since_usec == ALD_ABSENT_UINT64 ? g_strdup(state)
                                                         : g_strdup_printf("%s, %s", state, ago);
}

static AldTone tone_of_age(double age)
{
        if (isnan(age))
                return ALD_TONE_PLAIN;
        return age > GONE_USEC ? ALD_TONE_ERROR : age > SILENT_USEC ? ALD_TONE_WARNING : ALD_TONE_GOOD;
}

char *ald_format_seen(const AldEntity *node, double now_usec, AldTone *ret_tone)
{
        double updated = ald_figure(ald_entity_updated(node)), now = ald_node_now(node, now_usec);
        const AldPresence *presence = presence_of(node);
        AldPresenceState state = state_of(presence);
        bool online = state == ALD_PRESENCE_STATE_ONLINE;
        double age = now - updated;
        g_autofree char *ago = NULL;

        *ret_tone = state == ALD_PRESENCE_STATE_N || (online && age > SILENT_USEC) ? tone_of_age(age)
                                                                                   : judgements[state].tone;
        if (state == ALD_PRESENCE_STATE_UNKNOWN)
                return format_unknown(presence, now_usec);
        if (state == ALD_PRESENCE_STATE_N)
                return ald_format_record_age(updated, now);
        if (isnan(age) || (online && age < RESEND_USEC))
                return g_strdup(ald_presence_state_to_string(state));
        ago = ald_format_age(updated, now);
        return g_strdup_printf("%s, %s", ald_presence_state_to_string(state), ago);
}
