/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "record/field.h"
#include "record/message.h"
#include "services/common/sysroot.h"
#include "services/witness/process-facts.h"

#define NAMES_MAX 1024u
#define NAME_BUFFER 16384u
#define GAP "/.../"

AldUserNames *ald_user_names_new(void)
{
        AldUserNames *names = g_new0(AldUserNames, 1);

        names->names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        names->until = G_MAXINT64;
        return names;
}

void ald_user_names_free(AldUserNames *names)
{
        g_hash_table_unref(names->names);
        g_free(names);
}

/* A user without a name is kept too, as NULL. */
static const char *user_name(const AldUserNames *user_names, uint64_t uid)
{
        GHashTable *names = user_names->names;
        gpointer key = GUINT_TO_POINTER((guint) uid), name;
        g_autofree char *buffer = NULL;
        struct passwd entry, *found = NULL;

        if (g_hash_table_lookup_extended(names, key, NULL, &name))
                return name;
        if (g_get_monotonic_time() > user_names->until)
                return NULL;
        if (g_hash_table_size(names) >= NAMES_MAX)
                g_hash_table_remove_all(names);
        buffer = g_malloc(NAME_BUFFER);
        if (getpwuid_r((uid_t) uid, &entry, buffer, NAME_BUFFER, &found) != 0)
                found = NULL;
        name = found ? ald_message_text(found->pw_name) : NULL;
        g_hash_table_insert(names, key, name);
        return name;
}

static char *read_file(int root, unsigned pid, const char *name)
{
        g_autofree char *path = g_strdup_printf("proc/%u/%s", pid, name);
        char *text = NULL;

        return ald_sysroot_read(root, path, &text) < 0 ? NULL : text;
}

/* "Uid:", and the real, effective, saved and file system's number. */
static uint64_t parse_uid(const char *status)
{
        const char *line = strstr(status, "\nUid:");
        unsigned real, effective;

        return line && sscanf(line, "\nUid: %u %u", &real, &effective) == 2 ? effective : ALD_ABSENT_UINT64;
}

/* Keeps the beginning and the end: the slice, and the unit or container. */
static char *shorten_path(const char *path)
{
        const size_t part = (ALD_MESSAGE_STRING_MAX - strlen(GAP)) / 2;
        size_t length = strlen(path);
        g_autofree char *head = NULL;
        const char *slash, *tail = path + length - part;

        if (length < ALD_MESSAGE_STRING_MAX)
                return g_strdup(path);
        head = g_strndup(path, part);
        slash = strrchr(head, '/');
        if (slash && slash > head)
                head[slash - head] = '\0';
        slash = strchr(tail, '/');
        return g_strconcat(head, GAP, slash ? slash + 1 : tail, NULL);
}

/* In version 1 of control groups, that of version 2 may exist and be empty. */
char *ald_parse_control_group(const char *text)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        const char *second = NULL, *systemd = NULL, *path;
        g_autofree char *shortened = NULL;

        for (char **line = lines; *line; line++) {
                const char *named = strstr(*line, ":name=systemd:");

                if (g_str_has_prefix(*line, "0::"))
                        second = *line + strlen("0::");
                else if (named)
                        systemd = named + strlen(":name=systemd:");
        }
        path = second && (!systemd || !g_str_equal(second, "/")) ? second : systemd;
        if (!path || *path != '/')
                return NULL;
        shortened = shorten_path(path);
        return ald_message_text(shortened);
}

int ald_process_facts_read(int root, unsigned pid, AldUserNames *user_names, AldProcessFacts *ret)
{
        g_autofree char *program = read_file(root, pid, "comm"), *status = NULL, *groups = NULL;
        uint64_t uid;

        if (!program)
                return -ESRCH;
        status = read_file(root, pid, "status");
        groups = read_file(root, pid, "cgroup");
        g_strchomp(program);
        uid = status ? parse_uid(status) : ALD_ABSENT_UINT64;
        *ret = (AldProcessFacts){
                .program = ald_message_text(program),
                .uid = uid,
                .user = uid == ALD_ABSENT_UINT64 ? NULL : g_strdup(user_name(user_names, uid)),
                .control_group = groups ? ald_parse_control_group(groups) : NULL,
        };
        return 0;
}

/* The 22nd field; the name in the second one may contain spaces and parentheses. */
uint64_t ald_process_start(int root, unsigned pid)
{
        g_autofree char *stat = read_file(root, pid, "stat");
        const char *field = stat ? strrchr(stat, ')') : NULL;

        for (unsigned i = 2; field && i < 22; i++)
                field = strchr(field + 1, ' ');
        return field ? g_ascii_strtoull(field + 1, NULL, 10) : 0;
}

void ald_process_facts_clear(AldProcessFacts *facts)
{
        g_free(facts->program);
        g_free(facts->user);
        g_free(facts->control_group);
        *facts = (AldProcessFacts){ .uid = ALD_ABSENT_UINT64 };
}
