/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <glib.h>
#include <jansson.h>

#include "clients/alidadectl/ctl.h"

/* What a verb changes or, with `check`, would change. */
typedef struct AldChanges {
        bool check;   /* nothing is changed, only reported */
        bool json;    /* reported as JSON at the end, instead of in sentences on the way */
        bool unread;  /* services have not read all of it yet */
        bool printed; /* what was asked for went to standard output */
        FILE *tell;   /* where the sentences go */
        json_t *list;
} AldChanges;

typedef enum AldChangeKind {
        ALD_CHANGE_ASK,
        ALD_CHANGE_INSTALL,
        ALD_CHANGE_MAKE,
        ALD_CHANGE_PROTECT,
        ALD_CHANGE_REMOVE,
        ALD_CHANGE_RENEW,
        ALD_CHANGE_RESTART, /* left to the reader */
        ALD_CHANGE_RUN,
        ALD_CHANGE_SIGN,
        ALD_CHANGE_WRITE,
} AldChangeKind;

void ald_changes_init(AldChanges *changes);
void ald_changes_clear(AldChanges *changes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldChanges, ald_changes_clear)

/* The verb of the kind, the object, and the format right behind: "Wrote /etc/x: …" or "Would write /etc/x:
 * …". */
void ald_changes_add(AldChanges *changes, AldChangeKind kind, const char *object, const char *format, ...)
        G_GNUC_PRINTF(4, 5);
void ald_changes_add_list(AldChanges *changes, AldChangeKind kind, const char *object, const char *format,
        va_list list) G_GNUC_PRINTF(4, 0);

/* A sentence beside them; not with JSON. What of it a terminal would take for a command is replaced. */
void ald_changes_tell(const AldChanges *changes, const char *format, ...) G_GNUC_PRINTF(2, 3);
void ald_changes_tell_list(const AldChanges *changes, const char *format, va_list list) G_GNUC_PRINTF(2, 0);

/* Whether there was any. */
bool ald_changes_any(const AldChanges *changes);

/* At the end of a verb with this exit code: says that there was nothing to do, or prints all as JSON. Returns
 * an exit code. */
int ald_changes_finish(const AldChanges *changes, const AldCtl *ctl, int code);
