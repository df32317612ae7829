/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "record/id.h"
#include "record/record-key.h"
#include "state/link/link-quality.h"
#include "state/link/path-due.h"
#include "state/link/path-end.h"
#include "state/link/probe-bytes.h"
#include "state/results/link-result.h"

/* A record of either kind of link during a merge. */
typedef union Fields {
        AldLinkBase base;
        AldLinkSocket socket;
        AldLinkRdma rdma;
} Fields;

static void read_fields(const AldRecord *record, Fields *ret)
{
        if (record->kind == ALD_KIND_LINK_SOCKET)
                ret->socket = *ald_record_as(record, LINK_SOCKET, AldLinkSocket);
        else
                ret->rdma = *ald_record_as(record, LINK_RDMA, AldLinkRdma);
}

/* Copies the description of a path that was never measured. */
static void copy_path(AldLinkSocket *row, const AldLinkSocket *reported)
{
        row->source_interface = reported->source_interface;
        row->source_interface_type = reported->source_interface_type;
        row->source_interface_generation = reported->source_interface_generation;
        row->sink_interface = reported->sink_interface;
        row->sink_interface_type = reported->sink_interface_type;
        row->sink_interface_generation = reported->sink_interface_generation;
        row->negotiated_bits_per_second = reported->negotiated_bits_per_second;
}

static void init_fields(const AldRecord *reported, Fields *ret)
{
        if (reported->kind == ALD_KIND_LINK_SOCKET) {
                const AldLinkSocket *row = ald_record_as(reported, LINK_SOCKET, AldLinkSocket);

                ret->socket = (AldLinkSocket) ALD_LINK_SOCKET_INIT;
                ret->socket.source = row->source;
                ret->socket.sink = row->sink;
                ret->socket.sink_address = row->sink_address;
                copy_path(&ret->socket, row);
        } else {
                const AldLinkRdma *row = ald_record_as(reported, LINK_RDMA, AldLinkRdma);

                ret->rdma = (AldLinkRdma) ALD_LINK_RDMA_INIT;
                ret->rdma.source = row->source;
                ret->rdma.sink = row->sink;
                ret->rdma.source_port = row->source_port;
                ret->rdma.sink_port = row->sink_port;
        }
}

char *ald_link_result_key(const AldRecord *reported)
{
        g_autofree char *key = NULL;
        Fields fields;

        read_fields(reported, &fields);
        if (reported->kind == ALD_KIND_LINK_SOCKET && fields.socket.sink && fields.socket.sink_address)
                key = g_strdup_printf("%s,%s", fields.socket.sink, fields.socket.sink_address);
        if (reported->kind == ALD_KIND_LINK_RDMA && fields.rdma.source_port && fields.rdma.sink &&
                fields.rdma.sink_port)
                key = g_strdup_printf(
                        "%s,%s,%s", fields.rdma.source_port, fields.rdma.sink, fields.rdma.sink_port);
        return key && ald_key_parse(reported->kind, key, NULL) == 0 ? g_steal_pointer(&key) : NULL;
}

/* The state of a merge. */
typedef struct Merge {
        AldKind kind;
        Fields row; /* first the old, then the new fields */
        Fields reported;
        uint64_t seed;
        const AldTtlBounds *bounds;
        bool fresh; /* the new result was not merged before */
        bool taken; /* the figures of the new result were taken */
} Merge;

static uint64_t seed_of(AldKind kind, const Fields *fields)
{
        const AldLinkBase *link = &fields->base;
        g_autofree char *ports = kind == ALD_KIND_LINK_SOCKET
                                         ? NULL
                                         : g_strdup_printf("%s,%s", fields->rdma.source_port ?: "",
                                                   fields->rdma.sink_port ?: "");
        AldId source = { 0 }, sink = { 0 };

        if (!link->source || ald_id_parse(link->source, &source) < 0 || !link->sink ||
                ald_id_parse(link->sink, &sink) < 0)
                return 0;
        return ald_path_seed(&source, &sink, ports ?: fields->socket.sink_address ?: "");
}

static double percent_apart(uint64_t a, uint64_t b)
{
        uint64_t greater = MAX(a, b);

        return greater == 0 ? 0 : 100 * (double) (greater - MIN(a, b)) / (double) greater;
}

static double zero_if_absent(double percent)
{
        return isnan(percent) ? 0 : percent;
}

static bool have_both(uint64_t a, uint64_t b)
{
        return a != ALD_ABSENT_UINT64 && b != ALD_ABSENT_UINT64;
}

static bool rate_agrees(const AldLinkDirection *a, const AldLinkDirection *b)
{
        return have_both(a->bits_per_second, b->bits_per_second) &&
               percent_apart(a->bits_per_second, b->bits_per_second) <=
                       MAX(ALD_LINK_AGREE_PERCENT, zero_if_absent(a->interval) + zero_if_absent(b->interval));
}

static bool figures_agree(const Merge *merge)
{
        const AldLinkBase *now = &merge->row.base, *latest = &merge->reported.base;

        return rate_agrees(&now->upload, &latest->upload) && rate_agrees(&now->download, &latest->download);
}

/* A direction without a rate this time is as doubtful as one with a low rate. */
static bool is_lower(uint64_t before, uint64_t now)
{
        if (before == ALD_ABSENT_UINT64 || now == ALD_ABSENT_UINT64)
                return before != ALD_ABSENT_UINT64;
        return now < before && percent_apart(before, now) > ALD_LINK_LOWER_PERCENT;
}

static bool any_is_lower(const Merge *merge)
{
        const AldLinkBase *now = &merge->row.base, *latest = &merge->reported.base;

        return is_lower(now->upload.bits_per_second, latest->upload.bits_per_second) ||
               is_lower(now->download.bits_per_second, latest->download.bits_per_second);
}

static bool has_changed(const char *changed, AldLinkSocketChanged what)
{
        return g_strcmp0(changed, ald_link_socket_changed_to_string(what)) == 0;
}

/* The first cause remains, since causes come before their effects. */
static void set_changed(AldLinkSocket *row, AldLinkSocketChanged what, uint64_t when)
{
        row->contradicted_usec = ALD_ABSENT_UINT64;
        if (!row->changed)
                row->changed = ald_link_socket_changed_to_string(what);
        else if (row->changed_usec != ALD_ABSENT_UINT64)
                return;
        row->changed_usec = when; /* absent in records of earlier versions */
}

static void adopt_round_trips(AldLinkSocket *row, const AldLinkSocket *reported, uint64_t measured)
{
        row->rtt_min_nsec = reported->rtt_min_nsec;
        row->rtt_p50_nsec = reported->rtt_p50_nsec;
        row->rtt_p99_nsec = reported->rtt_p99_nsec;
        row->jitter_nsec = reported->jitter_nsec;
        if (reported->kernel_min_rtt_nsec != ALD_ABSENT_UINT64)
                row->kernel_min_rtt_nsec = reported->kernel_min_rtt_nsec;
        row->rtt_measured_usec = measured;
}

static bool is_measured(const AldLinkBase *link)
{
        return link->measured_usec != ALD_ABSENT_UINT64;
}

/* Other traffic may have lowered the new figures, while the present ones were measured without it. */
static bool is_to_be_ignored(const Merge *merge)
{
        const AldLinkBase *before = &merge->row.base, *now = &merge->reported.base;
        uint64_t ttl = before->time_to_live_usec == ALD_ABSENT_UINT64 ? ald_kind_ttl(merge->kind)
                                                                      : before->time_to_live_usec;

        return is_measured(before) && ald_link_has_rate(before->directions) &&
               ald_link_has_flag(now->flags, ALD_LINK_DISTURBED) &&
               !ald_link_has_flag(before->flags, ALD_LINK_DISTURBED) &&
               now->measured_usec < before->measured_usec + ALD_LINK_TTL_DISTURBED * ttl;
}

static bool is_less(uint64_t before, uint64_t now)
{
        return before != ALD_ABSENT_UINT64 && (now == ALD_ABSENT_UINT64 || now < before);
}

static bool agrees_with_held(const AldLinkDirection *row, const AldLinkDirection *reported)
{
        uint64_t held = row->held_bits_per_second, now = reported->bits_per_second;

        return held == now || (have_both(held, now) && percent_apart(held, now) <= ALD_LINK_LOWER_PERCENT);
}

/* Returns whether the last measurement, which was not used, had about the same rates. */
static bool was_held(const AldLinkSocket *row, const AldLinkSocket *reported)
{
        return (row->upload.held_bits_per_second != ALD_ABSENT_UINT64 ||
                       row->download.held_bits_per_second != ALD_ABSENT_UINT64) &&
               agrees_with_held(&row->upload, &reported->upload) &&
               agrees_with_held(&row->download, &reported->download);
}

/* A busy machine makes rates lower and unsteady. Even after a change, such a figure says less than the
 * earlier one, which stays and is marked as changed; the next measurement may be better. An old figure is
 * replaced once a second doubtful one agrees with the first. */
static bool is_too_doubtful(const Merge *merge)
{
        const AldLinkSocket *row = &merge->row.socket, *reported = &merge->reported.socket;
        uint64_t ttl = row->time_to_live_usec;

        if (merge->kind != ALD_KIND_LINK_SOCKET || !is_measured(&row->base) ||
                !ald_link_has_rate(row->directions) ||
                has_changed(row->changed, ALD_LINK_SOCKET_CHANGED_SPEED) || ald_link_is_doubtful(row) ||
                !ald_link_is_doubtful(reported))
                return false;
        ttl = ttl == ALD_ABSENT_UINT64 ? ald_kind_ttl(merge->kind) : ttl;
        return (is_less(row->upload.bits_per_second, reported->upload.bits_per_second) ||
                       is_less(row->download.bits_per_second, reported->download.bits_per_second)) &&
               (reported->measured_usec < row->measured_usec +
                                                  ALD_LINK_TTL_DISTURBED * MAX(ttl, ALD_LINK_TTL_MAX_USEC) ||
                       !was_held(row, reported));
}

/* A single low figure may be an accident, but not a second one, nor one that was measured because something
 * had changed. */
static bool is_to_be_held(const Merge *merge)
{
        const AldLinkSocket *row = &merge->row.socket;

        return merge->kind == ALD_KIND_LINK_SOCKET && is_measured(&row->base) && !row->changed &&
               !ald_link_has_flag(row->flags, ALD_LINK_DISTURBED) && any_is_lower(merge);
}

static uint64_t next_interval(const Merge *merge)
{
        const AldLinkBase *now = &merge->row.base;
        bool is_socket = merge->kind == ALD_KIND_LINK_SOCKET;
        uint64_t least = ald_kind_ttl(merge->kind), before;

        if (!is_measured(now) || now->time_to_live_usec == ALD_ABSENT_UINT64 || !figures_agree(merge))
                return least;
        before = ald_link_ttl_interval(now->time_to_live_usec, merge->seed, now->measured_usec);
        return ald_link_ttl_next(before, least, is_socket && merge->row.socket.changed,
                is_socket && ald_link_is_doubtful(&merge->reported.socket));
}

/* Recognizes a repeated result by its time, so it has to be called before anything else is merged. */
static bool is_new_measurement(const Merge *merge)
{
        uint64_t measured = merge->reported.base.measured_usec;

        return measured != merge->row.base.measured_usec &&
               (merge->kind != ALD_KIND_LINK_SOCKET || (measured != merge->row.socket.rtt_measured_usec &&
                                                               measured != merge->row.socket.attempted_usec));
}

bool ald_link_awaits_measurement(const AldLinkSocket *row, uint64_t now)
{
        if (!row->changed)
                return false;
        if (row->changed_usec == ALD_ABSENT_UINT64 || row->attempted_usec == ALD_ABSENT_UINT64)
                return true;
        /* The clock was set back. */
        if (row->changed_usec > now)
                return false;
        return row->attempted_usec <= row->changed_usec ||
               now < row->changed_usec + ALD_LINK_CHANGE_URGENT_USEC;
}

/* A measurement costs what it transferred even if its figures are not used. */
static void record_attempt(AldLinkSocket *row, const AldLinkSocket *reported)
{
        uint64_t bytes = ald_link_awaits_measurement(row, reported->measured_usec)
                                 ? ald_probe_bytes(reported, ALD_ABSENT_UINT64, 0)
                                 : 0;

        bytes += ald_change_bytes_at(row, reported->measured_usec);
        row->attempted_usec = reported->measured_usec;
        row->change_bytes = bytes > 0 ? bytes : ALD_ABSENT_UINT64;
}

static void record_spots(AldLinkSocket *row, const AldLinkSocket *reported, uint64_t when)
{
        if (reported->upload.spot_bits_per_second == ALD_ABSENT_UINT64 &&
                reported->download.spot_bits_per_second == ALD_ABSENT_UINT64)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(row->directions); i++)
                row->directions[i].last_spot_bits_per_second = reported->directions[i].spot_bits_per_second;
        row->last_spot_usec = when;
}

bool ald_link_rate_has_changed(uint64_t before, uint64_t now)
{
        return have_both(before, now) && percent_apart(before, now) > ALD_LINK_LOWER_PERCENT;
}

static bool is_reliable(const AldLinkSocket *row)
{
        return !ald_link_is_doubtful(row) && !ald_link_has_flag(row->flags, ALD_LINK_DISTURBED);
}

/* An unsteady figure alone does not show a change, but two checks do. The rates before the last change stay
 * for a while, though the new ones are measured again meanwhile. */
static void note_change_of_rates(AldLinkSocket *row, const AldLinkSocket *before)
{
        bool changed = is_reliable(before) && (before->changed || is_reliable(row)) &&
                       (ald_link_rate_has_changed(
                                before->upload.bits_per_second, row->upload.bits_per_second) ||
                               ald_link_rate_has_changed(
                                       before->download.bits_per_second, row->download.bits_per_second));

        if (changed)
                row->rate_changed_usec = before->changed_usec != ALD_ABSENT_UINT64 ? before->changed_usec
                                                                                   : row->measured_usec;
        else if (before->rate_changed_usec != ALD_ABSENT_UINT64 &&
                 row->measured_usec < before->rate_changed_usec + ALD_LINK_CHANGE_SHOWN_USEC)
                row->rate_changed_usec = before->rate_changed_usec;
        else
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(row->directions); i++) {
                const AldLinkDirection *old = &before->directions[i];

                row->directions[i].before_bits_per_second = changed ? old->bits_per_second
                                                                    : old->before_bits_per_second;
        }
}

/* Sets what the record keeps beside the figures of the new result. */
static void finish_socket(AldLinkSocket *row, const AldLinkSocket *before)
{
        row->rtt_measured_usec = row->measured_usec;
        row->confirmed_usec = ald_link_is_doubtful(row) ? ALD_ABSENT_UINT64 : row->measured_usec;
        row->changed = NULL;
        row->attempted_usec = before->attempted_usec;
        row->change_bytes = before->change_bytes;
        for (size_t i = 0; i < G_N_ELEMENTS(row->directions); i++)
                row->directions[i].last_spot_bits_per_second =
                        before->directions[i].last_spot_bits_per_second;
        row->last_spot_usec = before->last_spot_usec;
        note_change_of_rates(row, before);
}

static void adopt_figures(Merge *merge)
{
        uint64_t measured = merge->reported.base.measured_usec;
        uint64_t interval = CLAMP(next_interval(merge), merge->bounds->least, merge->bounds->most);
        const Fields before = merge->row;

        merge->row = merge->reported;
        merge->row.base.time_to_live_usec = ald_link_ttl_shift(interval, merge->seed, measured);
        if (merge->kind == ALD_KIND_LINK_SOCKET)
                finish_socket(&merge->row.socket, &before.socket);
        merge->taken = true;
}

static bool is_steady(const AldLinkSocket *row)
{
        return row->upload.interval <= ALD_LINK_AGREE_PERCENT &&
               row->download.interval <= ALD_LINK_AGREE_PERCENT &&
               !ald_link_percent_is_unsteady(row->upload.spread, row->download.spread);
}

/* A token bucket that passes a burst before it limits the rate resembles a busy machine: if the same steady
 * rates are measured twice, they are those of the link. */
static void clear_explained_suspicion(Merge *merge)
{
        AldLinkSocket *reported = &merge->reported.socket;

        if (ald_link_has_flag(reported->flags, ALD_LINK_SUSPECT) && !reported->flags[1] &&
                is_measured(&merge->row.base) && is_steady(&merge->row.socket) && is_steady(reported) &&
                figures_agree(merge))
                reported->flags = NULL;
}

static void hold_rates(AldLinkSocket *row, const AldLinkSocket *reported)
{
        bool doubtful = ald_link_is_doubtful(reported);

        for (size_t i = 0; i < G_N_ELEMENTS(row->directions); i++)
                row->directions[i].held_bits_per_second = doubtful ? reported->directions[i].bits_per_second
                                                                   : ALD_ABSENT_UINT64;
}

static void merge_measurement(Merge *merge)
{
        AldLinkSocket *row = merge->kind == ALD_KIND_LINK_SOCKET ? &merge->row.socket : NULL;
        const AldLinkSocket *reported = &merge->reported.socket;

        merge->fresh = is_new_measurement(merge);
        if (!merge->fresh)
                return;
        if (row) {
                record_attempt(row, reported);
                record_spots(row, reported, reported->measured_usec);
                clear_explained_suspicion(merge);
        }
        if (is_to_be_ignored(merge))
                return;
        if (is_too_doubtful(merge) || is_to_be_held(merge)) {
                hold_rates(row, reported);
                adopt_round_trips(row, reported, reported->measured_usec);
                if (any_is_lower(merge))
                        set_changed(row, ALD_LINK_SOCKET_CHANGED_RATE, reported->measured_usec);
                return;
        }
        adopt_figures(merge);
}

static bool rtt_agrees(uint64_t a, uint64_t b)
{
        uint64_t less = MIN(a, b), more = MAX(a, b);

        return !have_both(a, b) || more - less <= ALD_LINK_RTT_NSEC ||
               (double) more <= ALD_LINK_RTT_FACTOR * (double) less;
}

/* If the burst of the full measurement has no rate, as on a busy machine, the check is compared with the
 * measured rate instead. */
static bool spot_agrees(const AldLinkDirection *row, const AldLinkDirection *reported)
{
        uint64_t before = row->spot_bits_per_second, now = reported->spot_bits_per_second;
        double most = CLAMP(ALD_LINK_SPOT_SPREADS * zero_if_absent(row->spread), ALD_LINK_SPOT_PERCENT,
                ALD_LINK_SPOT_PERCENT_MOST);

        if (before == ALD_ABSENT_UINT64) {
                before = row->bits_per_second;
                most = ALD_LINK_SPOT_PERCENT_MOST;
        }
        return !have_both(before, now) || percent_apart(before, now) <= most;
}

static bool has_comparable_spot(const AldLinkDirection *row, const AldLinkDirection *reported)
{
        return have_both(row->spot_bits_per_second, reported->spot_bits_per_second) ||
               have_both(row->bits_per_second, reported->spot_bits_per_second);
}

static bool is_spot_check(const AldLinkSocket *row, const AldLinkSocket *reported)
{
        return has_comparable_spot(&row->upload, &reported->upload) &&
               has_comparable_spot(&row->download, &reported->download);
}

/* The rate of Wi-Fi at either end changes all the time. */
bool ald_link_speed_changed(const AldLinkSocket *row, uint64_t bits_per_second)
{
        const char *type = ald_path_type(row->source_interface_type, row->sink_interface_type);

        return have_both(row->negotiated_bits_per_second, bits_per_second) &&
               g_strcmp0(type, ald_interface_type_to_string(ALD_INTERFACE_TYPE_WIFI)) != 0 &&
               percent_apart(row->negotiated_bits_per_second, bits_per_second) > ALD_LINK_SPOT_PERCENT;
}

/* The outcome of comparing a check with the record. */
typedef enum CheckOpinion {
        OPINION_NONE,    /* nothing differs, as far as the check has looked */
        OPINION_AGREES,  /* both directions are as they were */
        OPINION_DIFFERS, /* perhaps by accident: the load of a machine makes single checks differ */
        OPINION_CERTAIN, /* a port or its counters show the change */
} CheckOpinion;

static CheckOpinion compare_check(
        const AldLinkSocket *row, const AldLinkSocket *reported, AldLinkSocketChanged *ret)
{
        if (ald_link_speed_changed(row, reported->negotiated_bits_per_second)) {
                *ret = ALD_LINK_SOCKET_CHANGED_SPEED;
                return OPINION_CERTAIN;
        }
        if (has_changed(reported->changed, ALD_LINK_SOCKET_CHANGED_ERRORS)) {
                *ret = ALD_LINK_SOCKET_CHANGED_ERRORS;
                return OPINION_CERTAIN;
        }
        *ret = spot_agrees(&row->upload, &reported->upload) &&
                               spot_agrees(&row->download, &reported->download)
                       ? ALD_LINK_SOCKET_CHANGED_RTT
                       : ALD_LINK_SOCKET_CHANGED_RATE;
        if (*ret == ALD_LINK_SOCKET_CHANGED_RATE || !rtt_agrees(row->rtt_p50_nsec, reported->rtt_p50_nsec))
                return OPINION_DIFFERS;
        return is_spot_check(row, reported) ? OPINION_AGREES : OPINION_NONE;
}

/* Rates and round trips may recover by themselves. */
static bool may_be_cleared(const AldLinkSocket *row)
{
        return has_changed(row->changed, ALD_LINK_SOCKET_CHANGED_RATE) ||
               has_changed(row->changed, ALD_LINK_SOCKET_CHANGED_RTT);
}

static void confirm_figures(AldLinkSocket *row, uint64_t when)
{
        row->contradicted_usec = ALD_ABSENT_UINT64;
        if (!ald_link_is_doubtful(row))
                row->confirmed_usec = when;
}

/* Returns whether a recent check contradicts the record. A contradiction that no later check could decide
 * says nothing about a new one. */
static bool is_contradicted(const AldLinkSocket *row, uint64_t when)
{
        return row->contradicted_usec != ALD_ABSENT_UINT64 && row->contradicted_usec <= when &&
               when - row->contradicted_usec <= 2 * ALD_LINK_CHECK_USEC;
}

/* Returns whether the check that contradicts the record had no rates, so that round trips that agree suffice.
 * */
static bool is_contradicted_by_round_trips(const AldLinkSocket *row)
{
        return row->last_spot_usec == ALD_ABSENT_UINT64 || row->contradicted_usec == ALD_ABSENT_UINT64 ||
               row->last_spot_usec < row->contradicted_usec;
}

/* Judges a check. Returns false if its repetition has to decide. */
static bool judge_check(AldLinkSocket *row, const AldLinkSocket *reported)
{
        uint64_t when = reported->rtt_measured_usec;
        AldLinkSocketChanged what;
        CheckOpinion opinion = compare_check(row, reported, &what);
        bool contradicts = row->changed ? opinion == OPINION_AGREES && may_be_cleared(row)
                                        : opinion == OPINION_DIFFERS;

        if (opinion == OPINION_CERTAIN) {
                set_changed(row, what, when);
        } else if (contradicts && !is_contradicted(row, when)) {
                row->contradicted_usec = when;
                return row->changed || what != ALD_LINK_SOCKET_CHANGED_RTT;
        } else if (contradicts && row->changed) {
                row->changed = NULL;
                row->changed_usec = ALD_ABSENT_UINT64;
                confirm_figures(row, when);
        } else if (contradicts) {
                set_changed(row, what, when);
        } else if (!row->changed && opinion == OPINION_AGREES) {
                confirm_figures(row, when);
        } else if (row->changed ? opinion == OPINION_DIFFERS : is_contradicted_by_round_trips(row)) {
                row->contradicted_usec = ALD_ABSENT_UINT64;
        }
        return true;
}

/* If the burst of the full measurement has no rate, later ones are compared with the first that agrees. */
static void adopt_spot(AldLinkDirection *row, const AldLinkDirection *reported)
{
        if (row->spot_bits_per_second == ALD_ABSENT_UINT64 &&
                have_both(reported->spot_bits_per_second, row->bits_per_second))
                row->spot_bits_per_second = reported->spot_bits_per_second;
}

static void merge_check(Merge *merge)
{
        AldLinkSocket *row = &merge->row.socket;
        const AldLinkSocket *reported = &merge->reported.socket;
        bool decided = true;

        if (merge->kind != ALD_KIND_LINK_SOCKET || reported->rtt_measured_usec == ALD_ABSENT_UINT64 ||
                reported->rtt_measured_usec == row->rtt_measured_usec)
                return;
        merge->fresh = true;
        if (row->measured_usec == ALD_ABSENT_UINT64) {
                copy_path(row, reported);
        } else {
                decided = judge_check(row, reported);
                for (size_t i = 0; i < G_N_ELEMENTS(row->directions); i++)
                        if (!row->changed && row->contradicted_usec == ALD_ABSENT_UINT64)
                                adopt_spot(&row->directions[i], &reported->directions[i]);
                row->time_to_live_usec = ald_link_ttl_bound(row->time_to_live_usec, ald_kind_ttl(merge->kind),
                        merge->seed, row->measured_usec, merge->bounds);
        }
        record_spots(row, reported, reported->rtt_measured_usec);
        /* Otherwise the repetition would be compared with round trips that may be an accident. */
        if (decided)
                adopt_round_trips(row, reported, reported->rtt_measured_usec);
        else
                row->rtt_measured_usec = reported->rtt_measured_usec;
}

/* A repeated report is not another failure. */
static uint64_t count_failures(const AldAttempts *before, uint64_t failed_usec)
{
        return before->failed_usec == failed_usec ? MAX(ald_attempts_failures(before), 1)
                                                  : ald_attempts_failures(before) + 1;
}

/* Returns the reason that is kept after a success whose figures were not used: it states why a direction has
 * no rate, as long as it has none. */
static const char *kept_failure(const AldLinkBase *link)
{
        bool whole = have_both(link->upload.bits_per_second, link->download.bits_per_second);

        return !whole && link->failure && g_str_has_prefix(link->failure, ALD_LINK_PARTIAL) ? link->failure
                                                                                            : NULL;
}

static void merge_outcome(Merge *merge, const AldAttempts *before)
{
        AldLinkBase *now = &merge->row.base;
        const AldLinkBase *latest = &merge->reported.base;
        bool success = latest->failed_usec == ALD_ABSENT_UINT64;

        if (success && !merge->fresh)
                return;
        /* A success may contain the reason why a direction has no rate. */
        now->failure = success && !merge->taken ? kept_failure(now) : latest->failure;
        now->failed_usec = latest->failed_usec;
        now->failures = success ? ALD_ABSENT_UINT64 : count_failures(before, latest->failed_usec);
}

bool ald_link_result_is_new(const AldRecord *before, const AldRecord *reported)
{
        const AldLinkSocket *row, *other;

        if (!before || reported->kind != ALD_KIND_LINK_SOCKET)
                return true;
        row = ald_record_as(before, LINK_SOCKET, AldLinkSocket);
        other = ald_record_as(reported, LINK_SOCKET, AldLinkSocket);
        if (other->measured_usec != ALD_ABSENT_UINT64)
                return other->measured_usec != row->measured_usec;
        return other->rtt_measured_usec != row->rtt_measured_usec;
}

static bool names_differ(const char *a, const char *b)
{
        return a && b && !g_str_equal(a, b);
}

static bool was_rerouted(const AldRecord *before, const AldRecord *reported)
{
        const AldLinkSocket *row, *other;

        if (reported->kind != ALD_KIND_LINK_SOCKET)
                return false;
        row = ald_record_as(before, LINK_SOCKET, AldLinkSocket);
        other = ald_record_as(reported, LINK_SOCKET, AldLinkSocket);
        return other->failed_usec == ALD_ABSENT_UINT64 && ald_link_result_is_new(before, reported) &&
               (names_differ(row->source_interface, other->source_interface) ||
                       names_differ(row->sink_interface, other->sink_interface));
}

/* The times remain, so that changes of the route cause no more traffic than other changes. */
static void drop_figures(const AldRecord *reported, AldLinkSocket *row)
{
        const AldLinkSocket *told = ald_record_as(reported, LINK_SOCKET, AldLinkSocket);
        Fields fresh;

        init_fields(reported, &fresh);
        fresh.socket.measured_usec = row->measured_usec;
        fresh.socket.time_to_live_usec = row->time_to_live_usec;
        fresh.socket.rtt_measured_usec = row->rtt_measured_usec;
        fresh.socket.failure = row->failure;
        fresh.socket.failed_usec = row->failed_usec;
        fresh.socket.failures = row->failures;
        fresh.socket.attempted_usec = row->attempted_usec;
        fresh.socket.change_bytes = row->change_bytes;
        if (row->measured_usec != ALD_ABSENT_UINT64)
                set_changed(&fresh.socket, ALD_LINK_SOCKET_CHANGED_ROUTE,
                        told->measured_usec != ALD_ABSENT_UINT64 ? told->measured_usec
                                                                 : told->rtt_measured_usec);
        *row = fresh.socket;
}

AldRecord *ald_link_result_merge(AldRecord *before, AldRecord *reported, const AldTtlBounds *bounds)
{
        Merge merge = { .kind = reported->kind, .bounds = bounds };
        AldAttempts attempts;
        AldRecord *record = NULL;
        int r;

        if (before)
                read_fields(before, &merge.row);
        else
                init_fields(reported, &merge.row);
        if (before && was_rerouted(before, reported))
                drop_figures(reported, &merge.row.socket);
        read_fields(reported, &merge.reported);
        merge.seed = seed_of(reported->kind, &merge.reported);
        attempts = (AldAttempts){ merge.row.base.measured_usec, merge.row.base.failed_usec,
                merge.row.base.failures, false };
        if (is_measured(&merge.reported.base))
                merge_measurement(&merge);
        else
                merge_check(&merge);
        merge_outcome(&merge, &attempts);
        r = ald_record_new(reported->kind, &merge.row, &record);
        g_assert(r >= 0); /* A few strings of bounded length always fit. */
        record->updated_usec = reported->updated_usec;
        return record;
}
