/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "record/id.h"
#include "record/key.h"
#include "state/link-quality.h"
#include "state/link-result.h"
#include "state/planner/planner-due.h"
#include "state/topology/path-end.h"

/* A record of either kind of link during a merge. */
typedef union Fields {
        AldLinkSocket socket;
        AldLinkRdma rdma;
} Fields;

/* The fields that both kinds have. */
typedef struct View {
        uint64_t *measured_usec, *ttl_usec;
        uint64_t *failed_usec, *failures;
        const char **failure;
        const char *const *flags;
        uint64_t upload, download;
} View;

#define VIEW(link)                                                                                     \
        {                                                                                              \
                .measured_usec = &(link)->measured_usec, .ttl_usec = &(link)->time_to_live_usec,       \
                .failed_usec = &(link)->failed_usec, .failures = &(link)->failures,                    \
                .failure = &(link)->failure, .flags = (link)->flags,                                   \
                .upload = (link)->upload_bits_per_second, .download = (link)->download_bits_per_second \
        }

static View view_of(AldKind kind, Fields *fields)
{
        if (kind == ALD_KIND_LINK_SOCKET)
                return (View) VIEW(&fields->socket);
        return (View) VIEW(&fields->rdma);
}

static void read_fields(const AldRecord *record, Fields *ret)
{
        if (record->kind == ALD_KIND_LINK_SOCKET)
                ret->socket = *ald_record_as(record, LINK_SOCKET, AldLinkSocket);
        else
                ret->rdma = *ald_record_as(record, LINK_RDMA, AldLinkRdma);
}

/* The record of a path that was never measured. */
static void take_path(AldLinkSocket *row, const AldLinkSocket *reported)
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
                take_path(&ret->socket, row);
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
        View now, latest; /* of these */
        uint64_t seed;
        const AldTtlBounds *bounds;
        bool fresh; /* the new result was not merged before */
        bool taken; /* the figures of the new result were taken */
} Merge;

static uint64_t seed_of(AldKind kind, const Fields *fields)
{
        bool socket = kind == ALD_KIND_LINK_SOCKET;
        const char *from = socket ? fields->socket.source : fields->rdma.source;
        const char *to = socket ? fields->socket.sink : fields->rdma.sink;
        g_autofree char *ports = socket ? NULL
                                        : g_strdup_printf("%s,%s", fields->rdma.source_port ?: "",
                                                  fields->rdma.sink_port ?: "");
        AldId source = { 0 }, sink = { 0 };

        if (!from || ald_id_parse(from, &source) < 0 || !to || ald_id_parse(to, &sink) < 0)
                return 0;
        return ald_path_seed(&source, &sink, ports ?: fields->socket.sink_address ?: "");
}

static double percent_apart(uint64_t a, uint64_t b)
{
        uint64_t greater = MAX(a, b);

        return greater == 0 ? 0 : 100 * (double) (greater - MIN(a, b)) / (double) greater;
}

static double known(double percent)
{
        return isnan(percent) ? 0 : percent;
}

static bool have_both(uint64_t a, uint64_t b)
{
        return a != ALD_ABSENT_UINT64 && b != ALD_ABSENT_UINT64;
}

static bool rate_agrees(uint64_t a, double a_interval, uint64_t b, double b_interval)
{
        return have_both(a, b) &&
               percent_apart(a, b) <= MAX(ALD_LINK_AGREE_PERCENT, known(a_interval) + known(b_interval));
}

#define RATES_AGREE(a, b)                                                                            \
        (rate_agrees((a)->upload_bits_per_second, (a)->upload_interval, (b)->upload_bits_per_second, \
                 (b)->upload_interval) &&                                                            \
                rate_agrees((a)->download_bits_per_second, (a)->download_interval,                   \
                        (b)->download_bits_per_second, (b)->download_interval))

static bool figures_agree(const Merge *merge)
{
        if (merge->kind == ALD_KIND_LINK_SOCKET)
                return RATES_AGREE(&merge->row.socket, &merge->reported.socket);
        return RATES_AGREE(&merge->row.rdma, &merge->reported.rdma);
}

/* A direction without a rate this time is as doubtful as one with a low rate. */
static bool is_lower(uint64_t before, uint64_t now)
{
        if (before == ALD_ABSENT_UINT64 || now == ALD_ABSENT_UINT64)
                return before != ALD_ABSENT_UINT64;
        return now < before && percent_apart(before, now) > ALD_LINK_LOWER_PERCENT;
}

static bool has_changed(const char *changed, AldLinkSocketChanged what)
{
        return g_strcmp0(changed, ald_link_socket_changed_to_string(what)) == 0;
}

static void set_changed(AldLinkSocket *row, AldLinkSocketChanged what)
{
        if (!row->changed)
                row->changed = ald_link_socket_changed_to_string(what);
}

static void take_round_trips(AldLinkSocket *row, const AldLinkSocket *reported, uint64_t measured)
{
        row->rtt_min_nsec = reported->rtt_min_nsec;
        row->rtt_p50_nsec = reported->rtt_p50_nsec;
        row->rtt_p99_nsec = reported->rtt_p99_nsec;
        row->jitter_nsec = reported->jitter_nsec;
        if (reported->kernel_min_rtt_nsec != ALD_ABSENT_UINT64)
                row->kernel_min_rtt_nsec = reported->kernel_min_rtt_nsec;
        row->rtt_measured_usec = measured;
}

static bool is_measured(const View *view)
{
        return *view->measured_usec != ALD_ABSENT_UINT64;
}

static bool has_rate(const View *view)
{
        return view->upload != ALD_ABSENT_UINT64 || view->download != ALD_ABSENT_UINT64;
}

/* Other traffic may have lowered it, and the present figures were measured without. */
static bool is_to_be_ignored(const Merge *merge)
{
        const View *before = &merge->now, *now = &merge->latest;
        uint64_t ttl = *before->ttl_usec == ALD_ABSENT_UINT64 ? ald_planner_ttl(merge->kind)
                                                              : *before->ttl_usec;

        return is_measured(before) && has_rate(before) && ald_link_has_flag(now->flags, ALD_LINK_DISTURBED) &&
               !ald_link_has_flag(before->flags, ALD_LINK_DISTURBED) &&
               *now->measured_usec < *before->measured_usec + ALD_LINK_TTL_DISTURBED * ttl;
}

/* A single low figure may be an accident, but not a second one, nor one that was measured because something
 * had changed. */
static bool is_to_be_held(const Merge *merge)
{
        if (merge->kind != ALD_KIND_LINK_SOCKET || !is_measured(&merge->now) || merge->row.socket.changed ||
                ald_link_has_flag(merge->now.flags, ALD_LINK_DISTURBED))
                return false;
        return is_lower(merge->now.upload, merge->latest.upload) ||
               is_lower(merge->now.download, merge->latest.download);
}

static uint64_t next_interval(const Merge *merge)
{
        uint64_t least = ald_planner_ttl(merge->kind), before;
        bool changed = merge->kind == ALD_KIND_LINK_SOCKET && merge->row.socket.changed;

        if (!is_measured(&merge->now) || *merge->now.ttl_usec == ALD_ABSENT_UINT64 || !figures_agree(merge))
                return least;
        before = ald_link_ttl_interval(*merge->now.ttl_usec, merge->seed, *merge->now.measured_usec);
        return CLAMP(changed ? before : 2 * before, least, MAX(least, ALD_LINK_TTL_MAX_USEC));
}

/* Before anything else is merged, so that a repeated result is recognized by its time. */
static bool is_new_measurement(const Merge *merge)
{
        uint64_t measured = *merge->latest.measured_usec;

        return measured != *merge->now.measured_usec &&
               (merge->kind != ALD_KIND_LINK_SOCKET || measured != merge->row.socket.rtt_measured_usec);
}

static void take_measurement(Merge *merge)
{
        uint64_t measured = *merge->latest.measured_usec, interval;

        merge->fresh = is_new_measurement(merge);
        if (!merge->fresh || is_to_be_ignored(merge))
                return;
        merge->taken = !is_to_be_held(merge);
        if (!merge->taken) {
                take_round_trips(&merge->row.socket, &merge->reported.socket, measured);
                set_changed(&merge->row.socket, ALD_LINK_SOCKET_CHANGED_RATE);
                return;
        }
        interval = CLAMP(next_interval(merge), merge->bounds->least, merge->bounds->most);
        merge->row = merge->reported;
        *merge->now.ttl_usec = ald_link_ttl_shift(interval, merge->seed, measured);
        if (merge->kind == ALD_KIND_LINK_SOCKET) {
                merge->row.socket.rtt_measured_usec = measured;
                merge->row.socket.confirmed_usec = measured;
                merge->row.socket.changed = NULL;
        }
}

static bool rtt_agrees(uint64_t a, uint64_t b)
{
        uint64_t less = MIN(a, b), more = MAX(a, b);

        return !have_both(a, b) || more - less <= ALD_LINK_RTT_NSEC ||
               (double) more <= ALD_LINK_RTT_FACTOR * (double) less;
}

static bool spot_agrees(uint64_t before, uint64_t now, double spread)
{
        double most = MAX(ALD_LINK_SPOT_PERCENT, ALD_LINK_SPOT_SPREADS * known(spread));

        return !have_both(before, now) || percent_apart(before, now) <= most;
}

static bool spots_agree(const AldLinkSocket *row, const AldLinkSocket *reported)
{
        return spot_agrees(row->spot_upload_bits_per_second, reported->spot_upload_bits_per_second,
                       row->upload_spread) &&
               spot_agrees(row->spot_download_bits_per_second, reported->spot_download_bits_per_second,
                       row->download_spread);
}

static bool is_spot_check(const AldLinkSocket *row, const AldLinkSocket *reported)
{
        return have_both(row->spot_upload_bits_per_second, reported->spot_upload_bits_per_second) &&
               have_both(row->spot_download_bits_per_second, reported->spot_download_bits_per_second);
}

/* The rate of Wi-Fi at either end changes all the time. */
bool ald_link_speed_changed(const AldLinkSocket *row, uint64_t bits_per_second)
{
        const char *type = ald_path_type(row->source_interface_type, row->sink_interface_type);

        return have_both(row->negotiated_bits_per_second, bits_per_second) &&
               g_strcmp0(type, ald_interface_type_to_string(ALD_INTERFACE_TYPE_WIFI)) != 0 &&
               percent_apart(row->negotiated_bits_per_second, bits_per_second) > ALD_LINK_SPOT_PERCENT;
}

/* Causes come before their effects. */
static void compare(AldLinkSocket *row, const AldLinkSocket *reported)
{
        if (ald_link_speed_changed(row, reported->negotiated_bits_per_second))
                set_changed(row, ALD_LINK_SOCKET_CHANGED_SPEED);
        if (has_changed(reported->changed, ALD_LINK_SOCKET_CHANGED_ERRORS))
                set_changed(row, ALD_LINK_SOCKET_CHANGED_ERRORS);
        if (!spots_agree(row, reported))
                set_changed(row, ALD_LINK_SOCKET_CHANGED_RATE);
        if (!rtt_agrees(row->rtt_p50_nsec, reported->rtt_p50_nsec))
                set_changed(row, ALD_LINK_SOCKET_CHANGED_RTT);
        if (!row->changed && is_spot_check(row, reported))
                row->confirmed_usec = reported->rtt_measured_usec;
}

static void take_check(Merge *merge)
{
        AldLinkSocket *row = &merge->row.socket;
        const AldLinkSocket *reported = &merge->reported.socket;

        if (merge->kind != ALD_KIND_LINK_SOCKET || reported->rtt_measured_usec == ALD_ABSENT_UINT64 ||
                reported->rtt_measured_usec == row->rtt_measured_usec)
                return;
        merge->fresh = true;
        if (row->measured_usec == ALD_ABSENT_UINT64) {
                take_path(row, reported);
        } else {
                compare(row, reported);
                row->time_to_live_usec = ald_link_ttl_bound(row->time_to_live_usec,
                        ald_planner_ttl(merge->kind), merge->seed, row->measured_usec, merge->bounds);
        }
        take_round_trips(row, reported, reported->rtt_measured_usec);
}

static AldAttempts attempts_of(const View *view)
{
        return (AldAttempts){ *view->measured_usec, *view->failed_usec, *view->failures };
}

/* A repeated report is not another failure. */
static uint64_t count_failures(const AldAttempts *before, uint64_t failed_usec)
{
        return before->failed_usec == failed_usec ? MAX(ald_attempts_failures(before), 1)
                                                  : ald_attempts_failures(before) + 1;
}

/* The reason that is kept after a success whose figures were not used: why a direction has no rate, as long
 * as it has none. */
static const char *kept_failure(const View *view)
{
        bool whole = have_both(view->upload, view->download);

        return !whole && *view->failure && g_str_has_prefix(*view->failure, ALD_LINK_PARTIAL) ? *view->failure
                                                                                              : NULL;
}

static void take_outcome(Merge *merge, const AldAttempts *before)
{
        uint64_t failed = *merge->latest.failed_usec;
        bool success = failed == ALD_ABSENT_UINT64;

        if (success && !merge->fresh)
                return;
        /* A success may contain the reason why a direction has no rate. */
        *merge->now.failure = success && !merge->taken ? kept_failure(&merge->now) : *merge->latest.failure;
        *merge->now.failed_usec = failed;
        *merge->now.failures = success ? ALD_ABSENT_UINT64 : count_failures(before, failed);
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

static bool differs(const char *a, const char *b)
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
               (differs(row->source_interface, other->source_interface) ||
                       differs(row->sink_interface, other->sink_interface));
}

/* The times remain, so that changes of the route cause no more traffic than any other ones. */
static void drop_figures(const AldRecord *reported, AldLinkSocket *row)
{
        Fields fresh;

        init_fields(reported, &fresh);
        fresh.socket.measured_usec = row->measured_usec;
        fresh.socket.time_to_live_usec = row->time_to_live_usec;
        fresh.socket.rtt_measured_usec = row->rtt_measured_usec;
        fresh.socket.failure = row->failure;
        fresh.socket.failed_usec = row->failed_usec;
        fresh.socket.failures = row->failures;
        if (row->measured_usec != ALD_ABSENT_UINT64)
                fresh.socket.changed = ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_ROUTE);
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
        merge.now = view_of(reported->kind, &merge.row);
        merge.latest = view_of(reported->kind, &merge.reported);
        merge.seed = seed_of(reported->kind, &merge.reported);
        attempts = attempts_of(&merge.now);
        if (is_measured(&merge.latest))
                take_measurement(&merge);
        else
                take_check(&merge);
        take_outcome(&merge, &attempts);
        r = ald_record_new(reported->kind, &merge.row, &record);
        g_assert(r >= 0); /* A few strings of bounded length always fit. */
        record->updated_usec = reported->updated_usec;
        return record;
}
