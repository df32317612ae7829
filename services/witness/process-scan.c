/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/message.h"
#include "services/common/sysroot.h"
#include "services/witness/drm-device.h"
#include "services/witness/drm-process.h"
#include "services/witness/process-scan.h"

/* Processes of the first namespace are all of the machine. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"
#define PID_MAX 4194304u
#define ROWS_MAX 1024u

/* How much longer than it took to read a holder it waits until its turn comes again, so that as many as can
 * be known are read in a twentieth of the time. */
#define WAIT_PER_COST (20 * ALD_PROCESS_SCAN_HOLDERS_MAX)

struct AldProcessScan {
        int root;
        AldDrmHolders holders;
        AldUserNames *user_names;
        uint64_t n_answers;
        bool all_holders_read; /* in this answer */
        unsigned last;         /* the process that was read last, in the order of their numbers */
        bool looked_at_all;    /* since the start */
        bool all_readable;     /* in this round */
        bool was_readable;     /* in the round before */
        /* Holders that are not known, because there are too many, in this round and in the one before. */
        uint64_t n_beyond, n_beyond_before;
};

AldProcessScan *ald_process_scan_new(int root)
{
        AldProcessScan *scan = g_new0(AldProcessScan, 1);

        scan->root = root;
        ald_drm_holders_init(&scan->holders, root);
        scan->user_names = ald_user_names_new();
        scan->all_readable = scan->was_readable = true;
        return scan;
}

void ald_process_scan_free(AldProcessScan *scan)
{
        if (!scan)
                return;
        ald_drm_holders_clear(&scan->holders);
        ald_user_names_free(scan->user_names);
        g_free(scan);
}

static unsigned parse_pid(const char *text)
{
        guint64 pid;

        return g_ascii_string_to_unsigned(text, 10, 1, PID_MAX, &pid, NULL) ? (unsigned) pid : 0;
}

static gint compare_pids(gconstpointer a, gconstpointer b, gpointer unused)
{
        const unsigned *left = a, *right = b;

        return (*left > *right) - (*left < *right);
}

static GArray *list_processes(int root)
{
        GArray *pids = g_array_new(FALSE, FALSE, sizeof(unsigned));
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(root, "proc", &names) < 0)
                return pids;
        for (char **name = names; *name; name++) {
                unsigned pid = parse_pid(*name);

                if (pid != 0)
                        g_array_append_val(pids, pid);
        }
        g_array_sort_with_data(pids, compare_pids, NULL);
        return pids;
}

static AldDrmProcess *find_holder(const AldProcessScan *scan, unsigned pid)
{
        return g_hash_table_lookup(scan->holders.processes, GUINT_TO_POINTER(pid));
}

/* Makes room for a holder: the one that holds the least is not known any longer. Returns false if it is this
 * one. */
static bool make_room(AldProcessScan *scan, const AldDrmProcess *process)
{
        for (;;) {
                guint n = g_hash_table_size(scan->holders.processes) + 1, n_holds = process->holds->len;
                const AldDrmProcess *least = process, *other;
                GHashTableIter iter;

                g_hash_table_iter_init(&iter, scan->holders.processes);
                while (g_hash_table_iter_next(&iter, NULL, (gpointer *) &other)) {
                        n_holds += other->holds->len;
                        if (ald_drm_process_compare_held(other, least) > 0)
                                least = other;
                }
                if (n <= ALD_PROCESS_SCAN_HOLDERS_MAX && n_holds <= ALD_PROCESS_SCAN_HOLDS_MAX)
                        return true;
                scan->n_beyond++;
                if (least == process)
                        return false;
                g_hash_table_remove(scan->holders.processes, GUINT_TO_POINTER(least->pid));
        }
}

/* A process of the same number that was started at another time is another one. */
static void read_process(AldProcessScan *scan, unsigned pid)
{
        gpointer key = GUINT_TO_POINTER(pid);
        const AldDrmProcess *before = find_holder(scan, pid);
        uint64_t started = ald_process_start(scan->root, pid);
        AldDrmProcess *process = ald_drm_process_read(&scan->holders, pid, &scan->all_readable);

        if (process && (ald_process_facts_read(scan->root, pid, scan->user_names, &process->facts) < 0 ||
                               ald_process_start(scan->root, pid) != started))
                g_clear_pointer(&process, ald_drm_process_free);
        if (process) {
                process->started = started;
                process->n_answer = scan->n_answers;
                if (before && before->started == started)
                        ald_drm_process_compare(process, before);
        }
        g_hash_table_remove(scan->holders.processes, key);
        if (process && make_room(scan, process))
                g_hash_table_insert(scan->holders.processes, key, process);
        else if (process)
                ald_drm_process_free(process);
}

static gboolean has_ended(gpointer key, gpointer value, gpointer userdata)
{
        const AldProcessScan *scan = userdata;
        const AldDrmProcess *process = value;

        return ald_process_start(scan->root, process->pid) != process->started;
}

static GArray *list_holders(const AldProcessScan *scan, GCompareDataFunc compare)
{
        GArray *pids = g_array_new(FALSE, FALSE, sizeof(unsigned));
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, scan->holders.processes);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
                unsigned pid = GPOINTER_TO_UINT(key);

                g_array_append_val(pids, pid);
        }
        g_array_sort_with_data(pids, compare, (gpointer) scan);
        return pids;
}

static gint compare_held(gconstpointer a, gconstpointer b, gpointer scan)
{
        const unsigned *left = a, *right = b;

        return ald_drm_process_compare_held(find_holder(scan, *left), find_holder(scan, *right));
}

static gint compare_turns(gconstpointer a, gconstpointer b, gpointer userdata)
{
        const unsigned *left = a, *right = b;
        const AldDrmProcess *first = find_holder(userdata, *left), *second = find_holder(userdata, *right);
        gint64 sooner = first->read_usec + first->cost_usec * WAIT_PER_COST;
        gint64 later = second->read_usec + second->cost_usec * WAIT_PER_COST;

        return sooner != later ? (sooner > later) - (sooner < later) : compare_pids(a, b, NULL);
}

static void read_holders(AldProcessScan *scan)
{
        gint64 until = g_get_monotonic_time() + ALD_PROCESS_SCAN_USEC;
        g_autoptr(GArray) pids = NULL;
        guint i;

        g_hash_table_foreach_remove(scan->holders.processes, has_ended, scan);
        pids = list_holders(scan, compare_turns);
        for (i = 0; i < pids->len && g_get_monotonic_time() < until; i++)
                read_process(scan, g_array_index(pids, unsigned, i));
        scan->all_holders_read = i == pids->len;
}

static void begin_round(AldProcessScan *scan)
{
        scan->was_readable = scan->all_readable;
        scan->looked_at_all = true;
        scan->all_readable = true;
        scan->n_beyond_before = scan->n_beyond;
        scan->n_beyond = 0;
        scan->last = 0;
        ald_drm_holders_prune(&scan->holders);
}

/* Reads the next part of all processes. Those that are holders have been read already. */
static void read_part(AldProcessScan *scan)
{
        gint64 until = g_get_monotonic_time() + ALD_PROCESS_SCAN_USEC;
        g_autoptr(GArray) pids = list_processes(scan->root);
        guint parts = scan->looked_at_all ? ALD_PROCESS_SCAN_PARTS : 1, i = 0, n;

        if (pids->len == 0) /* the folder could not be read */
                return;
        while (i < pids->len && g_array_index(pids, unsigned, i) <= scan->last)
                i++;
        for (n = pids->len / parts + 1; i < pids->len && n > 0; i++, n--) {
                unsigned pid = g_array_index(pids, unsigned, i);

                if (g_get_monotonic_time() >= until)
                        return;
                if (!find_holder(scan, pid))
                        read_process(scan, pid);
                scan->last = pid;
        }
        if (i == pids->len)
                begin_round(scan);
}

static bool shows_whole_machine(int root)
{
        g_autofree char *namespace = NULL;

        return ald_sysroot_link_name(root, "proc/self/ns/pid", &namespace) >= 0 &&
               g_str_equal(namespace, FIRST_PID_NAMESPACE);
}

/* Rows of an answer. */
typedef struct Rows {
        GArray *processes, *clients;
        GPtrArray *texts; /* which rows refer to */
        size_t max;       /* of either */
        uint64_t n_left_out;
} Rows;

static const char *keep(Rows *rows, char *text)
{
        g_ptr_array_add(rows->texts, text);
        return text;
}

/* The process must outlive the rows. Returns the Id of the row; NULL if it is left out, as its clients are
 * then. */
static const char *add_process(Rows *rows, const AldDrmProcess *process)
{
        const AldProcessFacts *facts = &process->facts;
        AldWitnessedProcess row = {
                .id = keep(rows, g_strdup_printf("%u", process->pid)),
                .program = facts->program,
                .uid = facts->uid,
                .user = facts->user,
                .control_group = facts->control_group,
        };

        if (rows->processes->len >= rows->max) {
                rows->n_left_out++;
                return NULL;
        }
        g_array_append_val(rows->processes, row);
        return row.id;
}

static void add_holder(Rows *rows, const AldDrmProcess *process)
{
        const char *id = add_process(rows, process);

        for (guint i = 0; id && i < process->holds->len; i++) {
                const AldDrmHold *hold = &g_array_index(process->holds, AldDrmHold, i);
                const char *device = keep(rows, ald_message_text(hold->sum.device));
                const AldDrmClient row = {
                        .id = keep(rows, g_strdup_printf("%s,%s", id, device)),
                        .process = id,
                        .device = device,
                        .memory_bytes = hold->sum.memory_bytes,
                        .usage = hold->usage,
                        .has_compute_engine = hold->sum.has_compute,
                        .computed = hold->sum.computed,
                };

                if (rows->clients->len < rows->max)
                        g_array_append_val(rows->clients, row);
                else
                        rows->n_left_out++;
        }
}

/* Reads the processes that the request names, which are no holders here. Those that have ended are left out.
 */
static GPtrArray *read_named(AldProcessScan *scan, const char *const *pids)
{
        gint64 until = g_get_monotonic_time() + ALD_PROCESS_SCAN_USEC;
        GPtrArray *named = g_ptr_array_new_with_free_func((GDestroyNotify) ald_drm_process_free);

        for (; pids && *pids && g_get_monotonic_time() < until; pids++) {
                unsigned pid = parse_pid(*pids);
                AldProcessFacts facts;
                AldDrmProcess *process;

                if (pid == 0 || find_holder(scan, pid) ||
                        ald_process_facts_read(scan->root, pid, scan->user_names, &facts) < 0)
                        continue;
                process = g_new0(AldDrmProcess, 1);
                process->pid = pid;
                process->facts = facts;
                process->holds = g_array_new(FALSE, FALSE, sizeof(AldDrmHold));
                g_ptr_array_add(named, process);
        }
        return named;
}

/* Neither the processes that the request names nor the holders take more than half of the rows from the
 * others. */
static char *format_answer(const AldProcessScan *scan, const GPtrArray *named, size_t rows_max)
{
        g_autoptr(GArray) processes = g_array_new(FALSE, FALSE, sizeof(AldWitnessedProcess));
        g_autoptr(GArray) clients = g_array_new(FALSE, FALSE, sizeof(AldDrmClient));
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GArray) holders = list_holders(scan, compare_held);
        size_t named_max = MAX(rows_max / 2, rows_max - MIN(rows_max, holders->len));
        Rows rows = { .processes = processes, .clients = clients, .texts = texts, .max = rows_max };
        AldProcessesAnswer answer = ALD_PROCESSES_ANSWER_INIT;

        for (guint i = 0; i < MIN(named->len, named_max); i++)
                add_process(&rows, named->pdata[i]);
        rows.n_left_out = named->len - processes->len;
        for (guint i = 0; i < holders->len; i++) {
                const AldDrmProcess *process = find_holder(scan, g_array_index(holders, unsigned, i));

                if (scan->n_answers - process->n_answer <= ALD_PROCESS_SCAN_PARTS)
                        add_holder(&rows, process);
                else
                        rows.n_left_out++;
        }
        answer.complete = scan->looked_at_all && scan->all_readable && scan->was_readable &&
                          scan->all_holders_read && shows_whole_machine(scan->root);
        answer.unlisted = rows.n_left_out + MAX(scan->n_beyond, scan->n_beyond_before);
        answer.processes.items = processes->data;
        answer.processes.n = processes->len;
        answer.clients.items = clients->data;
        answer.clients.n = clients->len;
        return ald_message_format(ALD_KIND_PROCESSES_ANSWER, &answer);
}

char *ald_process_scan_answer(AldProcessScan *scan, const AldRecord *request, size_t max_bytes)
{
        const AldProcessesRequest *asked = ald_record_as(request, PROCESSES_REQUEST, AldProcessesRequest);
        g_autoptr(GPtrArray) named = NULL;
        char *text = NULL;

        scan->n_answers++;
        scan->user_names->until = g_get_monotonic_time() + ALD_PROCESS_SCAN_USEC;
        scan->all_holders_read = true;
        if (ald_drm_device_any(scan->root)) {
                read_holders(scan);
                read_part(scan);
        } else {
                g_hash_table_remove_all(scan->holders.processes);
                begin_round(scan);
        }
        named = read_named(scan, asked->pids);
        for (size_t rows = ROWS_MAX; rows > 0; rows /= 2) {
                g_free(text);
                text = format_answer(scan, named, rows);
                if (text && strlen(text) <= max_bytes)
                        break;
        }
        return text;
}
