/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <glib.h>
#include <jansson.h>

#include "clients/command-line/ctl.h"

/* What a verb changes or, with `check`, would change. */
typedef struct AldChanges {
        bool check;   /* only report, change nothing */
        bool json;    /* print JSON at the end instead of text during the run */
        bool unread;  /* services have not read all changes yet */
        bool printed; /* the result went to standard output */
        FILE *tell;   /* where text is printed */
        json_t *list;
} AldChanges;

typedef enum AldChangeKind {
        ALD_CHANGE_ASK,
        ALD_CHANGE_INSTALL,
        ALD_CHANGE_MAKE,
        ALD_CHANGE_PROTECT,
        ALD_CHANGE_REMOVE,
        ALD_CHANGE_RENEW,
        ALD_CHANGE_RESTART, /* the user has to do it */
        ALD_CHANGE_RUN,
        ALD_CHANGE_SIGN,
        ALD_CHANGE_WRITE,
} AldChangeKind;

void ald_changes_init(AldChanges *changes);
void ald_changes_clear(AldChanges *changes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldChanges, ald_changes_clear)

/* Reports the verb of the kind, the object, and directly after it the formatted text: "Wrote /etc/x: …" or
 * "Would write /etc/x: …". */
void ald_changes_add(AldChanges *changes, AldChangeKind kind, const char *object, const char *format, ...)
        G_GNUC_PRINTF(4, 5);
void ald_changes_add_list(AldChanges *changes, AldChangeKind kind, const char *object, const char *format,
        va_list list) G_GNUC_PRINTF(4, 0);

/* Prints another line, except with JSON. Control characters are replaced. */
void ald_changes_note(const AldChanges *changes, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Prints one line about the next step, if something was changed. */
void ald_changes_note_next(const AldChanges *changes, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Returns whether there were any changes. */
bool ald_changes_any(const AldChanges *changes);

/* Reports that there was nothing to do, or prints all changes as JSON. Call it at the end of a verb with its
 * exit code. Returns an exit code. */
int ald_changes_finish(const AldChanges *changes, const AldCtl *ctl, int code);
