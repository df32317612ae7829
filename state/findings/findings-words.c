/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "record/figure-text.h"
#include "record/id.h"
#include "record/listed-name.h"
#include "record/record.h"
#include "record/translate.h"
#include "state/findings/findings-words.h"
#include "state/link/link-quality.h"
#include "state/topology/rdma-problem.h"

/*
 * Sentences are templates. {Name} in them is replaced by what the table of placeholders makes of the row, or
 * else by the field of that name in its unit. Of the templates of an Id, the first one is used that applies
 * and whose placeholders all have a value.
 */

#define NAMED_MAX 8u          /* more nodes than this are counted instead of named */
#define NAMED_OF_GROUP_MAX 3u /* likewise if nodes are grouped by what they run */
#define GROUPS_MAX 8u         /* more groups than this are counted */
#define ELLIPSIS "…"

static size_t length_of(const char *const *strings)
{
        return strings ? g_strv_length((char **) strings) : 0;
}

static char *nth_name(const AldFindingRow *row, size_t n)
{
        return n < length_of(row->names) ? g_strdup(row->names[n]) : NULL;
}

static char *first_name(const AldFindingRow *row)
{
        return nth_name(row, 0);
}

static char *second_name(const AldFindingRow *row)
{
        return nth_name(row, 1);
}

static char *count_nodes(size_t n)
{
        return g_strdup_printf(ngettext("%lu node", "%lu nodes", n), (unsigned long) n);
}

/* Lists names as "a", "a and b", "a, b and c" or "\"a, b\" and c", but more than `max` as "14 nodes". */
static char *list_names(GPtrArray *names, guint max)
{
        g_autofree char *list = NULL;

        if (names->len > max)
                return count_nodes(names->len);
        for (guint i = 0; i < names->len; i++) {
                g_autofree char *before = g_steal_pointer(&list), *name = ald_listed_name(names->pdata[i]);

                if (!before)
                        list = g_steal_pointer(&name);
                else if (i < names->len - 1)
                        /* Translators: the beginning of a list of names, and the next of them, but not the
                         * last. */
                        list = g_strdup_printf(_("%s, %s"), before, name);
                else
                        /* Translators: all names of a list but the last, and the last. */
                        list = g_strdup_printf(_("%s and %s"), before, name);
        }
        return g_steal_pointer(&list);
}

static char *all_names(const AldFindingRow *row)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        size_t n = length_of(row->names);

        if (n > NAMED_MAX)
                return count_nodes(n);
        for (size_t i = 0; i < n; i++)
                g_ptr_array_add(names, (gpointer) row->names[i]);
        return n > 0 ? list_names(names, NAMED_MAX) : NULL;
}

static char *node_id(const AldFindingRow *row)
{
        return length_of(row->nodes) > 0 ? g_strdup(row->nodes[0]) : NULL;
}

static char *short_id(const AldFindingRow *row)
{
        return length_of(row->nodes) > 0 ? g_strndup(row->nodes[0], ALD_SHORT_ID_DIGITS) : NULL;
}

/* Lists ids as "00000002, 00000004"; a long list ends in "… and 3 more". */
static char *short_ids(const AldFindingRow *row)
{
        g_autoptr(GString) list = g_string_new(NULL);
        size_t n = length_of(row->nodes);

        if (n == 0)
                return NULL;
        for (size_t i = 0; i < MIN(n, NAMED_MAX); i++)
                g_string_append_printf(list, "%s%.*s", i > 0 ? ", " : "", ALD_SHORT_ID_DIGITS, row->nodes[i]);
        if (n > NAMED_MAX)
                return g_strdup_printf(ngettext("%s and %lu more", "%s and %lu more", n - NAMED_MAX),
                        list->str, (unsigned long) (n - NAMED_MAX));
        return g_string_free(g_steal_pointer(&list), FALSE);
}

static char *node_count(const AldFindingRow *row)
{
        return g_strdup_printf("%zu", length_of(row->nodes));
}

/* The nodes that run the same version. */
typedef struct Group {
        const char *value;
        GPtrArray *names;
} Group;

static void group_free(gpointer data)
{
        Group *group = data;

        g_ptr_array_unref(group->names);
        g_free(group);
}

/* Sorts the larger groups first. */
static int compare_groups(gconstpointer a, gconstpointer b)
{
        const Group *left = *(const Group *const *) a, *right = *(const Group *const *) b;

        if (left->names->len != right->names->len)
                return left->names->len > right->names->len ? -1 : 1;
        return strcmp(left->value, right->value);
}

static GPtrArray *group_by_value(const AldFindingRow *row)
{
        g_autoptr(GHashTable) by_value = g_hash_table_new(g_str_hash, g_str_equal);
        GPtrArray *groups = g_ptr_array_new_with_free_func(group_free);
        size_t n = length_of(row->values);

        for (size_t i = 0; i < n; i++) {
                Group *group = g_hash_table_lookup(by_value, row->values[i]);

                if (!group) {
                        group = g_new(Group, 1);
                        *group = (Group){ .value = row->values[i], .names = g_ptr_array_new() };
                        g_ptr_array_add(groups, group);
                        g_hash_table_insert(by_value, (gpointer) group->value, group);
                }
                g_ptr_array_add(group->names, (gpointer) row->names[i]);
        }
        g_ptr_array_sort(groups, compare_groups);
        return groups;
}

/* Lists groups as "Debian 12 on 4 nodes; Alpine 3 on a and b". */
static char *list_groups(const AldFindingRow *row)
{
        g_autoptr(GPtrArray) groups = NULL;
        g_autoptr(GString) list = g_string_new(NULL);

        if (!row->values || length_of(row->values) != length_of(row->names))
                return NULL;
        groups = group_by_value(row);
        for (guint i = 0; i < MIN(groups->len, GROUPS_MAX); i++) {
                const Group *group = groups->pdata[i];
                g_autofree char *names = list_names(group->names, NAMED_OF_GROUP_MAX);

                if (i > 0)
                        g_string_append(list, "; ");
                /* Translators: what some nodes run, and these nodes: "Debian 12 on a and b". */
                g_string_append_printf(list, _("%s on %s"), group->value, names);
        }
        if (groups->len > GROUPS_MAX)
                return g_strdup_printf(
                        ngettext("%s; and %u others", "%s; and %u others", groups->len - GROUPS_MAX),
                        list->str, groups->len - GROUPS_MAX);
        return g_string_free(g_steal_pointer(&list), FALSE);
}

/* A file system is a device here; its Id is where it is mounted. */
static bool is_about_storage(const AldFindingRow *row)
{
        return g_strcmp0(row->field, "ReadBytesPerSecond") == 0;
}

/* Returns a title such as "Great GPU (0000:01:00.0)". */
static char *device_title(const AldFindingRow *row)
{
        if (!row->device || is_about_storage(row))
                return g_strdup(row->device);
        return row->device_name ? g_strdup_printf("%s (%s)", row->device_name, row->device)
                                : g_strdup_printf(_("device %s"), row->device);
}

static char *device_rate(uint64_t bytes_per_second, double tflops)
{
        if (isfinite(tflops))
                return ald_format_figure(&ald_unit_teraflops, tflops);
        return bytes_per_second == ALD_ABSENT_UINT64
                       ? NULL
                       : ald_format_figure(&ald_unit_bytes_per_second, (double) bytes_per_second);
}

static char *present_device_rate(const AldFindingRow *row)
{
        return device_rate(row->bytes_per_second, row->tflops);
}

static char *device_limit(const AldFindingRow *row)
{
        return device_rate(row->limit_bytes_per_second, row->limit_tflops);
}

static char *past_device_rate(const AldFindingRow *row)
{
        return device_rate(row->past_bytes_per_second, row->past_tflops);
}

/* Names the rate that a metric of a compute device, or of a file system, stands for. */
static char *device_metric(const AldFindingRow *row)
{
        static const struct {
                const char *field, *words;
        } metrics[] = {
                { "GemmTflops", N_("matrix products") },
                { "MemoryBandwidthBytesPerSecond", N_("reads of memory") },
                { "CopyBandwidthBytesPerSecond", N_("copies of memory") },
                { "HostToDeviceBytesPerSecond", N_("copies from the host") },
                { "DeviceToHostBytesPerSecond", N_("copies to the host") },
                { "ReadBytesPerSecond", N_("reads of models") },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(metrics); i++)
                if (g_strcmp0(metrics[i].field, row->field) == 0)
                        return g_strdup(_(metrics[i].words));
        return g_strdup(row->field);
}

/* Returns the number of lanes of a card that its slot has. */
static char *lanes_possible(const AldFindingRow *row)
{
        uint64_t possible = MIN(row->lanes_max, row->slot_lanes);

        return possible == ALD_ABSENT_UINT64 ? NULL : g_strdup_printf("%" PRIu64, possible);
}

/* Returns a note such as " (eth0 to 192.0.2.1)"; "" if both ends are unknown. */
static char *path_note(const AldFindingRow *row)
{
        const char *from = row->port ?: row->interface, *to = row->sink_port ?: row->address;

        if (from && to)
                /* Translators: where a path begins and ends; follows the names of two nodes. */
                return g_strdup_printf(_(" (%s to %s)"), from, to);
        return from || to ? g_strdup_printf(" (%s)", from ?: to) : g_strdup("");
}

static char *rate_text(uint64_t bits_per_second)
{
        return ald_format_figure(&ald_unit_bits_per_second, (double) bits_per_second);
}

/* Returns a text such as "420 Mb/s ±31 % from a to b, with a spread of 60 %". */
static char *swing_text(const AldFindingRow *row, unsigned from)
{
        const AldFindingDirection *direction = &row->directions[from];
        double interval = direction->interval, spread = direction->spread;
        g_autofree char *figure = NULL, *measured = NULL, *width = NULL, *unsteady = NULL;
        const char *source, *sink;

        if (direction->bits_per_second == ALD_ABSENT_UINT64 || length_of(row->names) < 2)
                return NULL;
        source = row->names[from];
        sink = row->names[1 - from];
        figure = rate_text(direction->bits_per_second);
        width = ald_format_interval(interval);
        unsteady = ald_format_figure(&ald_unit_percent, spread);
        measured = isfinite(interval) && interval > 0 ? g_strdup_printf("%s %s", figure, width)
                                                      : g_steal_pointer(&figure);
        /* Translators: a rate, and the nodes from which and to which it was measured. */
        return isfinite(spread) && spread > ALD_LINK_UNSTEADY_SPREAD_PERCENT
                       ? g_strdup_printf(
                                 _("%s from %s to %s, with a spread of %s"), measured, source, sink, unsteady)
                       : g_strdup_printf(_("%s from %s to %s"), measured, source, sink);
}

static char *upload_swing(const AldFindingRow *row)
{
        return swing_text(row, 0);
}

static char *download_swing(const AldFindingRow *row)
{
        return swing_text(row, 1);
}

static char *age_text(const AldFindingRow *row)
{
        g_autofree char *duration = NULL;

        if (row->measured_usec == ALD_ABSENT_UINT64)
                return g_strdup(_("it was never measured"));
        if (row->duration_usec == ALD_ABSENT_UINT64)
                return g_strdup(_("the age of its figures is unknown"));
        /* Ages are written as in tables. */
        duration = ald_format_whole_unit((double) row->duration_usec)
                           ?: ald_format_duration((double) row->duration_usec);
        return g_strdup_printf(_("its figures are %s old"), duration);
}

/* Returns the rate in the direction that the row is about. */
static uint64_t present_rate(const AldFindingRow *row)
{
        return row->upload.bits_per_second == ALD_ABSENT_UINT64 ? row->download.bits_per_second
                                                                : row->upload.bits_per_second;
}

/* Returns a text such as "fell from 190 Mb/s to about 115 Mb/s". */
static char *rate_change(const AldFindingRow *row)
{
        uint64_t now = present_rate(row), before = row->past_bits_per_second;
        bool measured = row->measured_usec != ALD_ABSENT_UINT64;
        g_autofree char *from = NULL, *to = NULL;

        if (now == ALD_ABSENT_UINT64 || before == ALD_ABSENT_UINT64)
                return NULL;
        from = rate_text(before);
        to = rate_text(now);
        /* Translators: these four follow the names of two nodes, as in "The rate from a to b fell from …". */
        if (now < before)
                return measured ? g_strdup_printf(_("fell from %s to %s"), from, to)
                                : g_strdup_printf(_("fell from %s to about %s"), from, to);
        return measured ? g_strdup_printf(_("rose from %s to %s"), from, to)
                        : g_strdup_printf(_("rose from %s to about %s"), from, to);
}

/* Translates the limiter; an unknown word is left as it is. */
static char *limiter_text(const AldFindingRow *row)
{
        static const char *const names[] = {
                NC_("limiter", "network"),
                NC_("limiter", "receiver"),
                NC_("limiter", "sender"),
                NC_("limiter", "application"),
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (g_strcmp0(row->limiter, names[i]) == 0)
                        return g_strdup(g_dpgettext2(GETTEXT_PACKAGE, "limiter", names[i]));
        return g_strdup(row->limiter);
}

/* Returns how far a clock is off, without the sign. */
static char *clock_distance(const AldFindingRow *row)
{
        int64_t offset = row->clock_offset_usec;

        return offset == ALD_ABSENT_INT64 ? NULL : ald_format_duration(fabs((double) offset));
}

static AldRdmaProblem rdma_problem(const AldFindingRow *row)
{
        return (AldRdmaProblem){ .word = row->problem,
                .link_layer = row->link_layer,
                .interface = row->interface,
                .controller = row->controller,
                .carrier = row->carrier };
}

static char *rdma_reason(const AldFindingRow *row)
{
        AldRdmaProblem problem = rdma_problem(row);

        return ald_rdma_problem_reason(&problem);
}

static char *rdma_remedy(const AldFindingRow *row)
{
        AldRdmaProblem problem = rdma_problem(row);

        return g_strdup(ald_rdma_problem_remedy(&problem));
}

/* Returns why OpenCL shows no device; NULL if it shows some. */
static char *opencl_reason(const AldFindingRow *row)
{
        static const char *const reasons[ALD_BACKENDS_OPEN_CL_N] = {
                [ALD_BACKENDS_OPEN_CL_NO_LIBRARY] = N_("the library of OpenCL is not installed"),
                [ALD_BACKENDS_OPEN_CL_NO_PLATFORM] = N_("no usable OpenCL driver is installed"),
                [ALD_BACKENDS_OPEN_CL_NO_DEVICE] = N_("the installed OpenCL drivers show no device"),
        };
        int reason = ald_backends_open_cl_from_string(row->open_cl);

        return reason >= 0 && reasons[reason] ? g_strdup(_(reasons[reason])) : NULL;
}

static char *list_packages(const AldFindingRow *row)
{
        g_autoptr(GPtrArray) packages = g_ptr_array_new();
        size_t n = length_of(row->packages);

        for (size_t i = 0; i < n; i++)
                g_ptr_array_add(packages, (gpointer) row->packages[i]);
        return n > 0 ? list_names(packages, (guint) n) : NULL;
}

/* Returns where a refused setting is. */
static char *setting_place(const AldFindingRow *row)
{
        if (!row->path || row->line == ALD_ABSENT_UINT64)
                return g_strdup(row->path);
        /* Translators: a line of a configuration file: its number, and the path of the file. */
        return g_strdup_printf(_("line %lu of %s"), (unsigned long) row->line, row->path);
}

static char *interface_note(const AldFindingRow *row)
{
        return row->interface ? g_strdup_printf(" (%s)", row->interface) : g_strdup("");
}

/* Each function returns a new string, or NULL if there is nothing to insert. */
static const struct {
        const char *name;
        char *(*expand)(const AldFindingRow *row);
} placeholders[] = {
        { "Age", age_text },
        { "ClockDistance", clock_distance },
        { "DeviceLimit", device_limit },
        { "DeviceMetric", device_metric },
        { "DeviceRate", present_device_rate },
        { "DeviceTitle", device_title },
        { "DownloadSwing", download_swing },
        { "Groups", list_groups },
        { "InterfaceNote", interface_note },
        { "LanesPossible", lanes_possible },
        { "Limiter", limiter_text },
        { "Name", first_name },
        { "Names", all_names },
        { "NodeCount", node_count },
        { "NodeId", node_id },
        { "OpenClReason", opencl_reason },
        { "PackageList", list_packages },
        { "PastDeviceRate", past_device_rate },
        { "PathNote", path_note },
        { "RateChange", rate_change },
        { "RdmaReason", rdma_reason },
        { "RdmaRemedy", rdma_remedy },
        { "SecondName", second_name },
        { "SettingPlace", setting_place },
        { "ShortId", short_id },
        { "ShortIds", short_ids },
        { "UploadSwing", upload_swing },
};

static char *format_utc(uint64_t usec)
{
        return ald_format_figure(&ald_unit_microseconds_since_1970, (double) usec);
}

static char *format_field(const AldField *field, const void *value, AldFindingTime format_time)
{
        if (ald_field_is_absent(field, value))
                return NULL;
        if (field->type == ALD_TYPE_STRING)
                return g_strdup(*(const char *const *) value);
        if (field->unit == &ald_unit_microseconds_since_1970)
                return format_time(*(const uint64_t *) value);
        if (field->type == ALD_TYPE_DOUBLE)
                return ald_format_figure(field->unit, *(const double *) value);
        if (field->type == ALD_TYPE_UINT64)
                return ald_format_figure(field->unit, (double) *(const uint64_t *) value);
        return NULL;
}

static char *expand_placeholder(const AldFindingRow *row, const char *name, AldFindingTime format_time)
{
        const AldField *field = ald_struct_find(&ald_finding_row_struct, name);

        for (size_t i = 0; i < G_N_ELEMENTS(placeholders); i++)
                if (strcmp(placeholders[i].name, name) == 0)
                        return placeholders[i].expand(row);
        g_assert(field);
        return format_field(field, ald_field_of(field, row), format_time);
}

/* A sentence with words that others chose may be too long for a field; it is cut between characters. */
static char *cut_to_limit(GString *text)
{
        if (text->len > ALD_STRING_MAX) {
                const char *end = g_utf8_find_prev_char(
                        text->str, text->str + ALD_STRING_MAX - strlen(ELLIPSIS) + 1);

                g_string_truncate(text, (gsize) (end - text->str));
                g_string_append(text, ELLIPSIS);
        }
        return g_string_free(text, FALSE);
}

/* Fills in a template. Returns NULL if a placeholder has no value. */
static char *render_template(const char *template, const AldFindingRow *row, AldFindingTime format_time)
{
        g_autoptr(GString) text = g_string_new(NULL);

        for (const char *open; (open = strchr(template, '{')); template = strchr(open, '}') + 1) {
                g_autofree char *name = g_strndup(open + 1, strcspn(open + 1, "}"));
                g_autofree char *value = expand_placeholder(row, name, format_time);

                if (!value)
                        return NULL;
                g_string_append_len(text, template, open - template);
                g_string_append(text, value);
        }
        g_string_append(text, template);
        return cut_to_limit(g_steal_pointer(&text));
}

static bool has_expired(const AldFindingRow *row)
{
        return row->remaining_usec == 0;
}

static bool is_behind(const AldFindingRow *row)
{
        return row->clock_offset_usec < 0;
}

static bool is_one_node(const AldFindingRow *row)
{
        return length_of(row->nodes) == 1;
}

static bool is_of_pair(const AldFindingRow *row)
{
        return length_of(row->nodes) == 2;
}

static bool is_measured_otherwise(const AldFindingRow *row)
{
        return row->measured_by;
}

static bool is_above_peak(const AldFindingRow *row)
{
        return ald_doubt_reason_from_string(row->problem) == ALD_DOUBT_REASON_ABOVE_PEAK;
}

static bool is_above_theoretical(const AldFindingRow *row)
{
        return ald_doubt_reason_from_string(row->problem) == ALD_DOUBT_REASON_ABOVE_THEORETICAL;
}

static bool is_notice(const AldFindingRow *row)
{
        return g_strcmp0(row->severity,
                       ald_finding_row_severity_to_string(ALD_FINDING_ROW_SEVERITY_NOTICE)) == 0;
}

static bool is_about_data_ports(const AldFindingRow *row)
{
        return row->first_port != ALD_ABSENT_UINT64 && row->first_port != row->last_port;
}

static bool is_about_port(const AldFindingRow *row)
{
        return row->first_port != ALD_ABSENT_UINT64;
}

/* The probe mentions the MTU if packets of full size are lost. */
static bool is_about_mtu(const AldFindingRow *row)
{
        return row->reason && strstr(row->reason, "MTU");
}

static bool was_never_measured(const AldFindingRow *row)
{
        return row->measured_usec == ALD_ABSENT_UINT64;
}

static bool lacks_upload(const AldFindingRow *row)
{
        return row->upload.bits_per_second == ALD_ABSENT_UINT64;
}

static bool has_fallen(const AldFindingRow *row)
{
        return present_rate(row) < row->past_bits_per_second;
}

static bool is_about_device(const AldFindingRow *row)
{
        return row->device;
}

static bool is_wifi(const AldFindingRow *row)
{
        return g_strcmp0(row->interface_type, ald_interface_type_to_string(ALD_INTERFACE_TYPE_WIFI)) == 0;
}

typedef struct Template {
        AldFindingRowId id;
        bool (*applies)(const AldFindingRow *row); /* NULL: always */
        const char *words;
} Template;

#define ID(NAME) ALD_FINDING_ROW_ID_##NAME

static const Template texts[] = {
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), has_expired,
                N_("The certificate of the authority of cluster {ClusterName} has expired; no certificate "
                   "of the cluster is valid any more.") },
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), has_expired,
                N_("The certificate of the authority of the cluster has expired; no certificate of the "
                   "cluster is valid any more.") },
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), NULL,
                N_("The certificate of the authority of cluster {ClusterName} expires in {RemainingUSec}.") },
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), NULL,
                N_("The certificate of the authority of the cluster expires in {RemainingUSec}.") },
        { ID(BRIDGE_CERTIFICATE_EXPIRES), has_expired,
                N_("The certificate of the bridge on {Name} has expired; the bridge no longer connects the "
                   "sites.") },
        { ID(BRIDGE_CERTIFICATE_EXPIRES), NULL,
                N_("The certificate of the bridge on {Name} expires in {RemainingUSec}.") },
        { ID(BRIDGE_LOOP), NULL, N_("The bridges of {Names} form a loop over their Thunderbolt cables.") },
        { ID(BROKER_CERTIFICATE_EXPIRES), has_expired,
                N_("The certificate of the broker on {Name} has expired; no node connects to it any more.") },
        { ID(BROKER_CERTIFICATE_EXPIRES), NULL,
                N_("The certificate of the broker on {Name} expires in {RemainingUSec}.") },
        { ID(BROKER_REFUSES_NODE), NULL,
                N_("The broker on {SecondName} refuses part of what {Name} publishes, as {SecondName} "
                   "reports: it keeps {KeptBytes} and has refused {RefusedMessages} messages.") },
        { ID(CERTIFICATE_EXPIRES), has_expired,
                N_("The certificate of {Name} has expired; no broker accepts it any more.") },
        { ID(CERTIFICATE_EXPIRES), NULL, N_("The certificate of {Name} expires in {RemainingUSec}.") },
        { ID(CLOCK_NOT_SET), NULL,
                N_("The clock of this machine, {Name}, is not set; records of other nodes that seem too new "
                   "to it are not shown until it is.") },
        { ID(CLOCK_SKEW), is_of_pair,
                N_("The clocks of {Name} and {SecondName} differ by {ClockDistance}; which of them is right "
                   "is "
                   "not known.") },
        { ID(CLOCK_SKEW), is_behind,
                N_("The clock of {Name} is {ClockDistance} behind the clock of {ReferenceName}.") },
        { ID(CLOCK_SKEW), is_behind,
                N_("The clock of {Name} is {ClockDistance} behind the clocks of most nodes.") },
        { ID(CLOCK_SKEW), NULL,
                N_("The clock of {Name} is {ClockDistance} ahead of the clock of {ReferenceName}.") },
        { ID(CLOCK_SKEW), NULL,
                N_("The clock of {Name} is {ClockDistance} ahead of the clocks of most nodes.") },
        { ID(CONFIGURATION_REFUSED), NULL,
                N_("On {Name}, {Service} refuses [{Group}] {Key} in {SettingPlace}: {Reason}.") },
        { ID(CONFIGURATION_REFUSED), NULL,
                N_("On {Name}, [{Group}] {Key} in {SettingPlace} is refused: {Reason}.") },
        { ID(CONFIGURATION_REFUSED), NULL,
                N_("On {Name}, [{Group}] in {SettingPlace} is refused: {Reason}.") },
        { ID(CONFIGURATION_REFUSED), NULL,
                N_("The configuration of {Name} is incomplete, see {SettingPlace}: {Reason}.") },
        { ID(CONFIGURATION_REFUSED), NULL,
                N_("The configuration of {Name} is incomplete, see {SettingPlace}.") },
        { ID(CONFIGURATION_REFUSED), NULL, N_("The configuration of {Name} is incomplete.") },
        { ID(DEVICE_DRIVERS_DIFFER), NULL, N_("The driver versions for {DeviceName} differ: {Groups}.") },
        { ID(DEVICE_LANES_MISSING), NULL,
                N_("On {Name}, {DeviceTitle} uses only {Lanes} of its {LanesPossible} PCIe lanes.") },
        { ID(DEVICE_LINK_SLOW), NULL,
                N_("On {Name}, the PCIe lanes of {DeviceTitle} run at {TransfersPerSecond} while it is in "
                   "use, instead of {TransfersPerSecondMax}.") },
        { ID(DEVICE_NEVER_FREE), was_never_measured,
                N_("On {Name}, {DeviceTitle} could not be measured for {DurationUSec}: {Reason}.") },
        { ID(DEVICE_NEVER_FREE), NULL,
                N_("On {Name}, {DeviceTitle} could not be measured again for {DurationUSec}: {Reason}.") },
        { ID(DEVICE_RATE_IMPLAUSIBLE), is_above_peak,
                N_("{Name} reports {DeviceMetric} at {DeviceRate} for {DeviceTitle}, whose own peak it "
                   "reports "
                   "as {DeviceLimit}; totals and plans leave that figure out.") },
        { ID(DEVICE_RATE_IMPLAUSIBLE), is_above_theoretical,
                N_("{Name} reports {DeviceMetric} at {DeviceRate} for {DeviceTitle}, whose memory can carry "
                   "{DeviceLimit}; totals and plans leave that figure out.") },
        { ID(DEVICE_RATE_IMPLAUSIBLE), is_notice,
                N_("{Name} reports {DeviceMetric} at {DeviceRate} for {DeviceTitle}, more than twice the "
                   "{DeviceLimit} of such a device on {ReferenceName}.") },
        { ID(DEVICE_RATE_IMPLAUSIBLE), NULL,
                N_("{Name} reports {DeviceMetric} at {DeviceRate} for {DeviceTitle}, more than twice the "
                   "{DeviceLimit} of the best equal device on {EqualNodes} other nodes; totals and plans "
                   "leave "
                   "that figure out.") },
        { ID(DEVICE_SLOT_NARROW), NULL,
                N_("On {Name}, {DeviceTitle} can use {LanesMax} PCIe lanes, but its slot has {SlotLanes}.") },
        { ID(DEVICE_WITHOUT_DRIVER), NULL,
                N_("No kernel driver is bound to {DeviceTitle} on {Name}, so programs cannot compute on "
                   "it.") },
        { ID(DISK_NEARLY_FULL), NULL,
                N_("{Path} on {Name} has only {AvailableBytes} of {TotalBytes} left.") },
        { ID(DUPLICATE_NODE_ID), NULL,
                N_("Two machines use the node id of {Name}; neither is shown with its current values.") },
        { ID(FIELD_ABSENT), NULL, N_("{Field} of {Names} is unknown: {Reason}.") },
        { ID(FIELD_ABSENT), NULL, N_("A value of {Names} is unknown: {Reason}.") },
        { ID(FRIENDLY_NAME_SHARED), NULL,
                N_("{NodeCount} nodes share the name \"{SharedName}\": {ShortIds}.") },
        { ID(HARDWARE_CLAIMED_TWICE), NULL,
                N_("{Names} report {Address} as their own, so links over it may be missing.") },
        { ID(HISTORY_NOT_WRITTEN), NULL, N_("{Name} records no history at present. {Reason}.") },
        { ID(INTERFACE_LINKS_AFFECTED), NULL,
                N_("{LinkCount} links over {Interface} on {Name} are slow or fail.") },
        { ID(INTERFACE_SLOW), NULL, N_("{Interface} on {Name} negotiated only {NegotiatedBitsPerSecond}.") },
        { ID(LINK_ASYMMETRIC), NULL,
                N_("The link from {Name} to {SecondName}{PathNote} is asymmetric: {UploadBitsPerSecond} "
                   "from {Name} to {SecondName}, {DownloadBitsPerSecond} from {SecondName} to {Name}.") },
        { ID(LINK_BELOW_NEGOTIATED), NULL,
                N_("The link from {Name} to {SecondName}{PathNote} is slower than it should be: "
                   "{NegotiatedBitsPerSecond} negotiated, {UploadBitsPerSecond} measured from {Name} to "
                   "{SecondName} and {DownloadBitsPerSecond} from {SecondName} to {Name}.") },
        { ID(LINK_BELOW_NEGOTIATED), NULL,
                N_("The link from {Name} to {SecondName}{PathNote} is slower than it should be: "
                   "{NegotiatedBitsPerSecond} negotiated, {UploadBitsPerSecond} measured from {Name} to "
                   "{SecondName}.") },
        { ID(LINK_BELOW_NEGOTIATED), NULL,
                N_("The link from {Name} to {SecondName}{PathNote} is slower than it should be: "
                   "{NegotiatedBitsPerSecond} negotiated, {DownloadBitsPerSecond} measured from "
                   "{SecondName} to {Name}.") },
        { ID(LINK_PARTLY_MEASURED), lacks_upload,
                N_("The rate from {Name} to {SecondName}{PathNote} could not be measured: {Reason}.") },
        { ID(LINK_PARTLY_MEASURED), lacks_upload,
                N_("The rate from {Name} to {SecondName}{PathNote} could not be measured.") },
        { ID(LINK_PARTLY_MEASURED), NULL,
                N_("The rate from {SecondName} to {Name}{PathNote} could not be measured: {Reason}.") },
        { ID(LINK_PARTLY_MEASURED), NULL,
                N_("The rate from {SecondName} to {Name}{PathNote} could not be measured.") },
        { ID(LINK_PROBE_FAILING), is_measured_otherwise,
                N_("The last probe of the link from {Name} to {SecondName}{PathNote} failed: {Reason}; "
                   "{SecondName} measures it instead.") },
        { ID(LINK_PROBE_FAILING), is_about_data_ports,
                N_("{SecondName} accepts probes from {Name}{PathNote}, but no data connections on TCP ports "
                   "{FirstPort} to {LastPort}; {Age}.") },
        { ID(LINK_PROBE_FAILING), is_about_port,
                N_("{SecondName} accepts no probes from {Name}{PathNote} on TCP port {FirstPort}: {Reason}; "
                   "{Age}.") },
        { ID(LINK_PROBE_FAILING), NULL,
                N_("The last probe of the link from {Name} to {SecondName}{PathNote} failed: {Reason}; "
                   "{Age}.") },
        { ID(LINK_PROBE_FAILING), NULL,
                N_("The last probe of the link from {Name} to {SecondName}{PathNote} failed for an unknown "
                   "reason; {Age}.") },
        { ID(LINK_RATE_CHANGED), lacks_upload,
                N_("The rate from {SecondName} to {Name}{PathNote} {RateChange}, as found at {SinceUSec}.") },
        { ID(LINK_RATE_CHANGED), lacks_upload,
                N_("The rate from {SecondName} to {Name}{PathNote} {RateChange}.") },
        { ID(LINK_RATE_CHANGED), NULL,
                N_("The rate from {Name} to {SecondName}{PathNote} {RateChange}, as found at {SinceUSec}.") },
        { ID(LINK_RATE_CHANGED), NULL, N_("The rate from {Name} to {SecondName}{PathNote} {RateChange}.") },
        { ID(LINK_UNSTEADY), NULL,
                N_("The link from {Name} to {SecondName}{PathNote} is unsteady: {UploadSwing}; "
                   "{DownloadSwing}.") },
        { ID(LINK_UNSTEADY), NULL,
                N_("The link from {Name} to {SecondName}{PathNote} is unsteady: {UploadSwing}.") },
        { ID(LINK_UNSTEADY), NULL,
                N_("The link from {Name} to {SecondName}{PathNote} is unsteady: {DownloadSwing}.") },
        { ID(MEMORY_PRESSURE), NULL,
                /* xgettext:no-c-format */
                N_("All tasks on {Name} stalled for lack of memory for {Percent} of the last 10 s.") },
        { ID(NO_BROKER), NULL,
                N_("This machine cannot reach any broker of cluster {ClusterName}; what it shows of other "
                   "nodes is out of date.") },
        { ID(NO_BROKER), NULL,
                N_("This machine cannot reach any broker of its cluster; what it shows of other nodes is "
                   "out of date.") },
        { ID(NODE_CUT_OFF), NULL,
                N_("{Name} cannot reach any other node, since none of its network interfaces has a "
                   "carrier.") },
        { ID(NODE_OFFLINE), NULL, N_("{Name} has been offline since {SinceUSec}.") },
        { ID(NODE_OFFLINE), NULL, N_("{Name} is offline.") },
        { ID(NODE_RECORDS_OLD), NULL,
                N_("{Name} is online, but its records are older than those already known, so what is shown "
                   "of it does not change.") },
        { ID(NODES_UNKNOWN), is_one_node,
                N_("Whether {Names} is online has been unknown since the cluster service of this machine "
                   "stopped.") },
        { ID(NODES_UNKNOWN), NULL,
                N_("Whether {Names} are online has been unknown since the cluster service of this machine "
                   "stopped.") },
        { ID(OPENCL_MISSING), NULL, N_("No device of {Name} can be measured: {OpenClReason}.") },
        { ID(OPENCL_MISSING), NULL,
                N_("Not all devices of {Name} can be measured: no OpenCL driver for the others is "
                   "installed.") },
        { ID(OS_VERSIONS_DIFFER), NULL, N_("The nodes run different operating systems: {Groups}.") },
        { ID(RDMA_UNUSABLE), NULL,
                N_("RDMA port {Port}{InterfaceNote} on {Name} cannot be used: {RdmaReason}.") },
        { ID(SERVICE_SILENT), NULL,
                N_("{Service} on {Name} has sent nothing since {SinceUSec}, so what it measures there is out "
                   "of date.") },
        { ID(SERVICE_SILENT), NULL,
                N_("{Service} on {Name} sends nothing, so what it measures there is out of date or "
                   "unknown.") },
        { ID(SLOWER_THAN_PAST), NULL,
                N_("The link from {Name} to {SecondName}{PathNote} has been slower than its own past since "
                   "{SinceUSec}: {UploadBitsPerSecond} from {Name} to {SecondName} instead of "
                   "{PastBitsPerSecond}.") },
        { ID(SLOWER_THAN_PAST), NULL,
                N_("The link from {Name} to {SecondName}{PathNote} has been slower than its own past since "
                   "{SinceUSec}: {DownloadBitsPerSecond} from {SecondName} to {Name} instead of "
                   "{PastBitsPerSecond}.") },
        { ID(SLOWER_THAN_PAST), NULL,
                /* Translators: {DeviceMetric} is such as "matrix products" or "reads of memory". */
                N_("On {Name}, {DeviceTitle} has been slower than its own past since {SinceUSec}: "
                   "{DeviceMetric} at {DeviceRate} instead of {PastDeviceRate}.") },
        { ID(SWAP_NEARLY_FULL), NULL,
                N_("Only {AvailableBytes} of {TotalBytes} of swap and {MemoryAvailableBytes} of memory are "
                   "left on {Name}.") },
        { ID(SWITCH_LINKS_AFFECTED), NULL,
                N_("{LinkCount} links over switch {SwitchName} are slow or fail, between {Names}.") },
        { ID(SWITCH_NODES_OFFLINE), NULL, N_("The nodes on switch {SwitchName} are offline: {Names}.") },
        { ID(UPLINK_LINKS_AFFECTED), NULL,
                N_("{LinkCount} links between switches {SwitchName} and {SecondSwitchName} are slow or "
                   "fail.") },
        { ID(UPLINK_LINKS_AFFECTED), NULL,
                N_("{LinkCount} links between {Names} are slow or fail; they seem to share an uplink.") },
        { ID(VERSIONS_DIFFER), NULL, N_("The nodes run different versions of Alidade: {Groups}.") },
};

#define RENEW_BY_HAND                                                                            \
        N_("Check that the machine on which the cluster was created is running, and that "       \
           "alidade-cluster-renewal.timer is active on both; or run \"alidadectl cluster renew " \
           "USER@HOST\" on {Name}, where HOST is that machine; on that machine itself, leave "   \
           "out USER@HOST.")
#define ALLOW_PORTS                                                                                \
        N_("Allow these ports on {SecondName}: \"firewall-cmd --permanent "                        \
           "--add-service=alidade-link-probe && firewall-cmd --reload\", or \"ufw allow 'Alidade " \
           "link probes'\". Then run \"alidadectl probe link {SecondName}\" on {Name}.")
#define MATCH_MTU                                                                                  \
        N_("Set the same MTU on both ends and on all switches and bridges between them, or lower " \
           "that of {Interface} on {Name}.")
#define MOVE_ANTENNAS N_("Bring the antennas closer together, change the channel, or use a cable.")

static const Template remedies[] = {
        { ID(AUTHORITY_CERTIFICATE_EXPIRES), NULL,
                N_("It cannot be renewed: run \"alidadectl cluster leave\" on each node, then create the "
                   "cluster anew on one of them and join it on the others.") },
        { ID(BRIDGE_CERTIFICATE_EXPIRES), NULL,
                N_("Check that the machine on which the cluster was created is running, and that "
                   "alidade-cluster-renewal.timer is active on both; or have a new one signed for {Name} "
                   "with \"alidadectl cluster sign-bridge\"; see alidade-cluster(7).") },
        { ID(BRIDGE_LOOP), NULL,
                N_("Unplug one of these cables, remove one port from its bridge, or enable STP on each "
                   "bridge.") },
        { ID(BROKER_CERTIFICATE_EXPIRES), NULL, RENEW_BY_HAND },
        { ID(BROKER_REFUSES_NODE), NULL,
                N_("If the key of {Name} was stolen, or this does not stop, run \"alidadectl cluster revoke "
                   "{NodeId}\" on the machine on which the cluster was created.") },
        { ID(CERTIFICATE_EXPIRES), NULL, RENEW_BY_HAND },
        { ID(CLOCK_NOT_SET), NULL,
                N_("Let a time service such as systemd-timesyncd or chrony set the clock.") },
        { ID(CLOCK_SKEW), is_of_pair,
                N_("Let a time service such as systemd-timesyncd or chrony set the clocks of {Name} and "
                   "{SecondName}.") },
        { ID(CLOCK_SKEW), NULL,
                N_("Let a time service such as systemd-timesyncd or chrony set the clock of {Name}.") },
        { ID(CONFIGURATION_REFUSED), NULL,
                N_("Correct it as alidade.conf(5) describes, then run \"systemctl reload {Service}\" on "
                   "{Name}.") },
        { ID(CONFIGURATION_REFUSED), NULL,
                N_("Correct it as alidade.conf(5) describes, then run \"systemctl reload "
                   "'alidade-*.service'\" on {Name}.") },
        { ID(DEVICE_NEVER_FREE), NULL,
                N_("Pause the work on it for a minute, or measure it while it is in use, on {Name}: "
                   "\"alidadectl probe compute --force {Device}\".") },
        { ID(DEVICE_WITHOUT_DRIVER), NULL, N_("Install the vendor's kernel driver on {Name}.") },
        { ID(DEVICE_DRIVERS_DIFFER), NULL,
                N_("Install the same driver on all of them, since programs that use several devices need "
                   "that.") },
        { ID(DEVICE_LANES_MISSING), NULL,
                N_("Switch {Name} off and put the card into its slot again; if that does not help, clean "
                   "its contacts, try another slot, and check the riser and the settings of the firmware.") },
        { ID(DEVICE_LINK_SLOW), NULL,
                N_("Check the riser or cable of the card, the speed that the firmware sets for its slot, "
                   "and PCIe power management (pcie_aspm).") },
        { ID(DEVICE_RATE_IMPLAUSIBLE), is_notice,
                N_("Measure the devices of both nodes again, on each of them: \"alidadectl probe "
                   "compute\".") },
        { ID(DEVICE_RATE_IMPLAUSIBLE), NULL,
                N_("On {Name}, measure it again: \"alidadectl probe compute {Device}\". If the figure "
                   "remains, "
                   "its driver is wrong; or the key of {Name} was stolen, and \"alidadectl cluster revoke "
                   "{NodeId}\" on the machine on which the cluster was created excludes it.") },
        { ID(DEVICE_SLOT_NARROW), NULL, N_("Move the card to a slot with more lanes if {Name} has one.") },
        { ID(DISK_NEARLY_FULL), NULL, N_("Free space below {Path} on {Name}.") },
        { ID(DUPLICATE_NODE_ID), NULL,
                N_("On the copy, remove /etc/machine-id, run systemd-machine-id-setup, reboot and join the "
                   "cluster again; then restart alidade-clusterd on both.") },
        { ID(FRIENDLY_NAME_SHARED), NULL,
                N_("Give each node a name of its own: run \"alidadectl set-name NAME\" on it.") },
        { ID(HARDWARE_CLAIMED_TWICE), NULL,
                N_("Give a copied virtual machine hardware addresses and GUIDs of its own; a container need "
                   "not show the devices of its host.") },
        { ID(HISTORY_NOT_WRITTEN), NULL,
                N_("Free space on that file system, or make it writable. The last figures wait in memory, "
                   "and "
                   "are written then.") },
        { ID(INTERFACE_LINKS_AFFECTED), NULL,
                N_("Check the cable of {Interface}, the port at its other end and the slot of its "
                   "adapter.") },
        { ID(INTERFACE_SLOW), NULL, N_("Check the cable and the port at its other end.") },
        { ID(LINK_ASYMMETRIC), NULL,
                N_("Compare the duplex modes, offload settings and load of both ends.") },
        { ID(LINK_BELOW_NEGOTIATED), NULL,
                N_("The {Limiter} limited the rate, not the network: check its load, its interrupts and the "
                   "slot of its adapter.") },
        { ID(LINK_BELOW_NEGOTIATED), is_wifi, MOVE_ANTENNAS },
        { ID(LINK_BELOW_NEGOTIATED), NULL,
                N_("Check the cable, the MTU at both ends and the slots of both adapters.") },
        { ID(LINK_PARTLY_MEASURED), is_about_mtu, MATCH_MTU },
        { ID(LINK_PARTLY_MEASURED), NULL, N_("Look for packet loss and for a very slow line on the way.") },
        { ID(LINK_PROBE_FAILING), is_measured_otherwise,
                /* A network behind NAT cannot be reached from outside. */
                N_("Nothing needs to be done if {Name} cannot reach the network of {SecondName}, as with "
                   "NAT.") },
        { ID(LINK_PROBE_FAILING), is_about_mtu, MATCH_MTU },
        { ID(LINK_PROBE_FAILING), is_about_data_ports, ALLOW_PORTS },
        { ID(LINK_PROBE_FAILING), is_about_port,
                N_("If alidade-link-probed is running on {SecondName}, allow its ports there: \"firewall-cmd "
                   "--permanent --add-service=alidade-link-probe && firewall-cmd --reload\", or \"ufw allow "
                   "'Alidade link probes'\". Then run \"alidadectl probe link {SecondName}\" on {Name}.") },
        { ID(LINK_PROBE_FAILING), NULL,
                N_("Check that {SecondName} is up and that no firewall between the two blocks the probe.") },
        { ID(LINK_RATE_CHANGED), has_fallen,
                N_("Find out what has changed since then at both ends and on the way: cables, drivers, "
                   "settings, or other traffic.") },
        { ID(LINK_UNSTEADY), is_wifi, MOVE_ANTENNAS },
        { ID(LINK_UNSTEADY), NULL,
                N_("Look for packet loss, other traffic and load at both ends and on the way.") },
        { ID(MEMORY_PRESSURE), NULL,
                N_("Stop something on {Name}, or move work to a node with more free memory.") },
        { ID(NO_BROKER), NULL,
                N_("Run \"alidadectl cluster status\" to see why; check that the broker is running and that "
                   "the network leads to it.") },
        { ID(NODE_CUT_OFF), NULL, N_("Check its cables and the switches at their other ends.") },
        { ID(NODE_OFFLINE), NULL, N_("Start it, or drop its records: \"alidadectl forget {ShortId}\".") },
        { ID(NODE_RECORDS_OLD), NULL,
                N_("Check the clock of {Name}. If it is right, stop alidade-clusterd there, run "
                   "\"alidadectl forget {ShortId}\" here, and start alidade-clusterd again.") },
        { ID(NODES_UNKNOWN), NULL,
                N_("Check alidade-clusterd on this machine: \"systemctl status alidade-clusterd\".") },
        { ID(OPENCL_MISSING), NULL,
                /* Translators: {PackageList} has names of packages of Debian. */
                N_("Install {PackageList} on {Name}; other distributions than Debian may name it "
                   "differently.") },
        { ID(OS_VERSIONS_DIFFER), NULL,
                N_("Upgrade the nodes to the same release, unless they are meant to differ.") },
        { ID(RDMA_UNUSABLE), NULL, "{RdmaRemedy}" },
        { ID(SERVICE_SILENT), NULL,
                N_("On {Name}, see \"systemctl status {Service}\"; if it hangs, \"systemctl restart "
                   "{Service}\" helps.") },
        { ID(SLOWER_THAN_PAST), is_about_storage,
                N_("Find out what has changed on {Name} since then: how full the file system is, what else "
                   "uses its disks, their cooling, or whether one of them fails.") },
        { ID(SLOWER_THAN_PAST), is_about_device,
                N_("Find out what has changed on {Name} since then: its driver, its power limit, its "
                   "cooling, or the settings of its firmware.") },
        { ID(SLOWER_THAN_PAST), NULL,
                N_("Find out what has changed since then at both ends and on the way: cables, drivers, "
                   "settings, or other traffic.") },
        { ID(SWAP_NEARLY_FULL), NULL, N_("Stop something on {Name} before the kernel does.") },
        { ID(SWITCH_LINKS_AFFECTED), NULL,
                N_("Check the load, the log and the firmware of the switch, and the MTU of its ports.") },
        { ID(SWITCH_NODES_OFFLINE), NULL,
                N_("Check the power and the uplink of the switch, and whether its nodes are running.") },
        { ID(UPLINK_LINKS_AFFECTED), NULL,
                N_("Check the cables between the switches, their ports and the load on them.") },
        { ID(VERSIONS_DIFFER), NULL,
                N_("Upgrade the other nodes, too: records that only newer versions know are not shown "
                   "everywhere.") },
};

static char *render_first_template(
        const Template *templates, size_t n, const AldFindingRow *row, AldFindingTime format_time)
{
        int id = ald_finding_row_id_from_string(row->id);

        for (size_t i = 0; i < n; i++) {
                char *words;

                if ((int) templates[i].id != id || (templates[i].applies && !templates[i].applies(row)))
                        continue;
                words = render_template(_(templates[i].words), row, format_time);
                if (words)
                        return words;
        }
        return NULL;
}

char *ald_finding_text_with_times(const AldFindingRow *row, AldFindingTime format_time)
{
        if (row->left_out != ALD_ABSENT_UINT64)
                return render_template(
                        row->reporter && length_of(row->names) > 0
                                ? _("{LeftOut} more {Id} findings that {Name} reports are left out.")
                                : _("{LeftOut} more {Id} findings are left out."),
                        row, format_time);
        return render_first_template(texts, G_N_ELEMENTS(texts), row, format_time);
}

char *ald_finding_text(const AldFindingRow *row)
{
        return ald_finding_text_with_times(row, format_utc);
}

char *ald_finding_remedy(const AldFindingRow *row)
{
        return row->left_out != ALD_ABSENT_UINT64
                       ? NULL
                       : render_first_template(remedies, G_N_ELEMENTS(remedies), row, format_utc);
}
