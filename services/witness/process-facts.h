/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

/* Who a process is: its program, user and control group, in texts that fit into a message. Its arguments are
 * not read. Fields that cannot be read are absent. */
typedef struct AldProcessFacts {
        char *program;
        uint64_t uid; /* the effective one */
        char *user;
        char *control_group;
} AldProcessFacts;

/* Names of users by number, which are kept, since each may have to be fetched from a directory. After
 * `until`, no more are fetched, and those that are not known stay absent. */
typedef struct AldUserNames {
        GHashTable *names;
        gint64 until; /* of g_get_monotonic_time() */
} AldUserNames;

AldUserNames *ald_user_names_new(void);
void ald_user_names_free(AldUserNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldUserNames, ald_user_names_free)

/* Returns -ESRCH if the process has ended. `root` is as in services/common/sysroot.h. */
int ald_process_facts_read(int root, unsigned pid, AldUserNames *user_names, AldProcessFacts *ret);
void ald_process_facts_clear(AldProcessFacts *facts);

/* Returns when the process was started, in ticks since the machine was; 0 if it has ended. Together with it,
 * the number of a process is never used again. */
uint64_t ald_process_start(int root, unsigned pid);

/* Returns the path of the control group in the text of /proc/PID/cgroup, shortened in its middle if it does
 * not fit into a message; NULL if there is none. Free with g_free(). */
char *ald_parse_control_group(const char *text);
