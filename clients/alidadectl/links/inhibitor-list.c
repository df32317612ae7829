/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <pwd.h>

#include "clients/alidadectl/links/inhibitor-list.h"
#include "clients/command-line/table.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"

#define LOCKS_MAX 4096u

/* The columns that are never dropped fit into 20 columns of the terminal. */
static const AldColumn columns_of_list[] = {
        { "WHO", .least = 9, .flexible = true },
        { "USER", .priority = 2 },
        { "PID", .right = true, .priority = 3 },
        { "LOCK", .right = true, .priority = 2 },
        { "WHAT", .priority = 1 },
        { "WHY", .least = 9, .flexible = true },
};

static void lock_free(void *data)
{
        AldProbeLock *lock = data;

        g_free(lock->what);
        g_free(lock->who);
        g_free(lock->why);
        g_free(lock);
}

static void add_lock(GPtrArray *locks, const AldProbeLock *lock)
{
        AldProbeLock *copy;

        if (locks->len >= LOCKS_MAX)
                return;
        copy = g_memdup2(lock, sizeof *lock);
        copy->what = g_strdup(lock->what);
        copy->who = g_strdup(lock->who);
        copy->why = g_strdup(lock->why);
        g_ptr_array_add(locks, copy);
}

static int read_locks(sd_bus_message *m, GPtrArray *locks)
{
        AldProbeLock lock; /* its strings belong to the message */
        int r = sd_bus_message_has_signature(m, "a(sssuuu)") > 0 ? 0 : -EBADMSG;

        if (r >= 0)
                r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, "(sssuuu)");
        while (r >= 0 && (r = sd_bus_message_read(m, "(sssuuu)", &lock.what, &lock.who, &lock.why, &lock.uid,
                                  &lock.pid, &lock.number)) > 0)
                add_lock(locks, &lock);
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

int ald_inhibitors_read(sd_bus *bus, GPtrArray **ret, sd_bus_error *error)
{
        g_autoptr(GPtrArray) locks = g_ptr_array_new_with_free_func(lock_free);
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = sd_bus_call_method(bus, ALD_LINK_PROBE_NAME, ALD_LINK_PROBE_PATH, ALD_LINK_PROBE_INTERFACE,
                "ListInhibitors", error, &reply, "");
        if (r >= 0)
                r = read_locks(reply, locks);
        if (r < 0)
                ald_bus_ensure_error(error, r);
        else
                *ret = g_steal_pointer(&locks);
        return r;
}

json_t *ald_inhibitors_to_json(const GPtrArray *locks)
{
        json_t *rows = json_array();

        for (guint i = 0; i < locks->len; i++) {
                const AldProbeLock *lock = locks->pdata[i];

                json_t *row = json_pack("{s:s, s:s, s:s, s:I, s:I}", "What", lock->what, "Who", lock->who,
                        "Why", lock->why, "Uid", (json_int_t) lock->uid, "Number", (json_int_t) lock->number);

                if (lock->pid)
                        json_object_set_new(row, "Pid", json_integer(lock->pid));
                json_array_append_new(rows, row);
        }
        return rows;
}

bool ald_probe_lock_holds(const AldProbeLock *lock, const AldProbeWords *words)
{
        g_auto(GStrv) held = g_strsplit(lock->what, ":", -1);

        for (char **word = held; *word; word++)
                if (g_strv_contains(words->locks, *word))
                        return true;
        return false;
}

static char *safe_or_absent(const char *text)
{
        return ald_text_safe(text[0] ? text : ALD_ABSENT_TEXT);
}

static char *format_user(const AldProbeLock *lock, bool local)
{
        const struct passwd *user = local ? getpwuid((uid_t) lock->uid) : NULL;

        return user ? ald_text_safe(user->pw_name) : ald_format_count(lock->uid);
}

void ald_inhibitors_describe(GString *out, const GPtrArray *locks, bool local, unsigned columns)
{
        g_autoptr(AldTable) table = ald_table_new(columns_of_list, G_N_ELEMENTS(columns_of_list));

        for (guint i = 0; i < locks->len; i++) {
                const AldProbeLock *lock = locks->pdata[i];

                ald_table_add(table, safe_or_absent(lock->who));
                ald_table_add(table, format_user(lock, local));
                ald_table_add(table, lock->pid ? ald_format_count(lock->pid) : g_strdup(ALD_ABSENT_TEXT));
                ald_table_add(table, ald_format_count(lock->number));
                ald_table_add(table, safe_or_absent(lock->what));
                ald_table_add(table, safe_or_absent(lock->why));
        }
        if (ald_table_rows(table) == 0) {
                g_string_append(out, "No inhibitors.\n");
                return;
        }
        ald_table_layout(table, columns, NULL);
        ald_table_append(out, table);
}
