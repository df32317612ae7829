/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/exporter/handshake-limit.h"

typedef struct AldHandshakeBudget {
        gint64 at;
        double left; /* connections that are allowed at once */
} AldHandshakeBudget;

typedef struct AldHandshakeSource {
        uint64_t prefix;
        AldHandshakeBudget budget;
        bool answered;
} AldHandshakeSource;

struct AldHandshakeLimit {
        AldHandshakeSource sources[ALD_HANDSHAKES_ADDRESSES];
        unsigned n;
        AldHandshakeBudget strangers;
        uint64_t refused;
};

AldHandshakeLimit *ald_handshake_limit_new(void)
{
        AldHandshakeLimit *limit = g_new0(AldHandshakeLimit, 1);

        limit->strangers.left = ALD_HANDSHAKES_OF_STRANGERS_AT_ONCE;
        return limit;
}

void ald_handshake_limit_free(AldHandshakeLimit *limit)
{
        g_free(limit);
}

/* Returns whether to replace `a` rather than `b`. Sources that were answered are replaced last, so that no
 * number of other addresses makes them strangers. */
static bool goes_before(const AldHandshakeSource *a, const AldHandshakeSource *b)
{
        return a->answered != b->answered ? b->answered : a->budget.at < b->budget.at;
}

/* Finds the source with this prefix, or creates it in the place of the source that was seen longest ago. */
static AldHandshakeSource *find_source(AldHandshakeLimit *limit, uint64_t prefix, gint64 now)
{
        AldHandshakeSource *oldest = &limit->sources[0];

        for (unsigned i = 0; i < limit->n; i++) {
                AldHandshakeSource *source = &limit->sources[i];

                if (source->prefix == prefix)
                        return source;
                if (goes_before(source, oldest))
                        oldest = source;
        }
        if (limit->n < ALD_HANDSHAKES_ADDRESSES)
                oldest = &limit->sources[limit->n++];
        *oldest = (AldHandshakeSource){ .prefix = prefix, .budget = { now, ALD_HANDSHAKES_AT_ONCE } };
        return oldest;
}

static void refill(AldHandshakeBudget *budget, gint64 now, unsigned per_second, unsigned at_once)
{
        budget->left += (double) (now - budget->at) / G_USEC_PER_SEC * per_second;
        budget->left = MIN(budget->left, at_once);
        budget->at = now;
}

bool ald_handshake_limit_allows(AldHandshakeLimit *limit, uint64_t prefix, gint64 now)
{
        AldHandshakeSource *source = find_source(limit, prefix, now);

        refill(&source->budget, now, ALD_HANDSHAKES_PER_SECOND, ALD_HANDSHAKES_AT_ONCE);
        refill(&limit->strangers, now, ALD_HANDSHAKES_OF_STRANGERS_PER_SECOND,
                ALD_HANDSHAKES_OF_STRANGERS_AT_ONCE);
        if (source->budget.left < 1 || (!source->answered && limit->strangers.left < 1)) {
                limit->refused++;
                return false;
        }
        source->budget.left--;
        if (!source->answered)
                limit->strangers.left--;
        return true;
}

void ald_handshake_limit_set_answered(AldHandshakeLimit *limit, uint64_t prefix)
{
        for (unsigned i = 0; i < limit->n; i++)
                if (limit->sources[i].prefix == prefix)
                        limit->sources[i].answered = true;
}

uint64_t ald_handshake_limit_refused(const AldHandshakeLimit *limit)
{
        return limit->refused;
}
