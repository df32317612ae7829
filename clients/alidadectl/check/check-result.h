/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/finding-display.h"

/* Exit statuses of monitoring plugins. */
enum {
        ALD_PLUGIN_OK,
        ALD_PLUGIN_WARNING,
        ALD_PLUGIN_CRITICAL,
        ALD_PLUGIN_UNKNOWN,
};

/* The result of a check: the problems, and how to report them. */
typedef struct AldCheckResult {
        GPtrArray *problems;  /* see ald_check_result_add() */
        bool unknown;         /* the state could not be read */
        bool is_state_late;   /* the state service did not answer */
        bool is_history_late; /* the history service, which may know more findings, did not answer */
        guint n_required;     /* requirements that were judged */
        char *about;          /* safe text: the node, or the cluster */
        AldFindingRowSeverity severity; /* the mildest severity that counts */
} AldCheckResult;

void ald_check_result_init(AldCheckResult *result);
void ald_check_result_clear(AldCheckResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldCheckResult, ald_check_result_clear)

/* Adds a problem. Takes the text, which must be safe; the id is copied. */
void ald_check_result_add(AldCheckResult *result, const char *id, AldFindingRowSeverity severity, char *text);

/* Sets the node that reported the last problem, by its id and a safe name. Both are copied. */
void ald_check_result_set_reporter(AldCheckResult *result, const char *reporter, const char *name);

/* Returns one line without line break; for monitoring plugins without |, after which they expect performance
 * data. */
char *ald_check_result_line(const AldCheckResult *result, bool plugin);

json_t *ald_check_result_to_json(const AldCheckResult *result);

/* Returns 0 or 1; for monitoring plugins, one of their exit statuses. */
int ald_check_result_exit_code(const AldCheckResult *result, bool plugin);
