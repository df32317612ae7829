/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>

#include "clients/cluster/changes.h"
#include "clients/command-line/print.h"
#include "clients/common/safe-text.h"

static const struct {
        const char *name; /* in JSON */
        const char *done, *would;
} kinds[] = {
        [ALD_CHANGE_ASK] = { "ask", "Asked", "Would ask" },
        [ALD_CHANGE_INSTALL] = { "install", "Installed", "Would install" },
        [ALD_CHANGE_MAKE] = { "make", "Made", "Would make" },
        [ALD_CHANGE_PROTECT] = { "protect", "Changed owner and mode of", "Would change owner and mode of" },
        [ALD_CHANGE_REMOVE] = { "remove", "Removed", "Would remove" },
        [ALD_CHANGE_RENEW] = { "renew", "Renewed", "Would renew" },
        [ALD_CHANGE_RESTART] = { "restart", "Restart", "Afterwards you would have to restart" },
        [ALD_CHANGE_RUN] = { "run", "Ran", "Would run" },
        [ALD_CHANGE_SIGN] = { "sign", "Signed for", "Would sign for" },
        [ALD_CHANGE_WRITE] = { "write", "Wrote", "Would write" },
};

void ald_changes_init(AldChanges *changes)
{
        *changes = (AldChanges){ .tell = stdout, .list = json_array() };
}

void ald_changes_clear(AldChanges *changes)
{
        json_decref(changes->list);
        changes->list = NULL;
}

void ald_changes_add_list(
        AldChanges *changes, AldChangeKind kind, const char *object, const char *format, va_list list)
{
        g_autofree char *rest = g_strdup_vprintf(format, list);
        g_autofree char *text = g_strdup_printf(
                "%s %s%s", changes->check ? kinds[kind].would : kinds[kind].done, object, rest);
        /* A path may contain any bytes. */
        g_autofree char *valid_object = g_utf8_make_valid(object, -1),
                        *valid_text = g_utf8_make_valid(text, -1);

        json_array_append_new(changes->list, json_pack("{ssssss}", "Action", kinds[kind].name, "Object",
                                                     valid_object, "Text", valid_text));
        ald_changes_note(changes, "%s", text);
}

static void print_line(const AldChanges *changes, const char *format, va_list list)
{
        g_autofree char *text = g_strdup_vprintf(format, list), *safe = ald_text_safe(text);

        if (!changes->json)
                fprintf(changes->tell, "%s\n", safe);
}

void ald_changes_note(const AldChanges *changes, const char *format, ...)
{
        va_list list;

        va_start(list, format);
        print_line(changes, format, list);
        va_end(list);
}

void ald_changes_add(AldChanges *changes, AldChangeKind kind, const char *object, const char *format, ...)
{
        va_list list;

        va_start(list, format);
        ald_changes_add_list(changes, kind, object, format, list);
        va_end(list);
}

bool ald_changes_any(const AldChanges *changes)
{
        return json_array_size(changes->list) > 0;
}

void ald_changes_note_next(const AldChanges *changes, const char *format, ...)
{
        va_list list;

        if (changes->check || !ald_changes_any(changes))
                return;
        va_start(list, format);
        print_line(changes, format, list);
        va_end(list);
}

int ald_changes_finish(const AldChanges *changes, const AldCtl *ctl, int code)
{
        json_t *object;
        int r;

        if (!changes->json) {
                if (code == ALD_EXIT_OK && !ald_changes_any(changes) && !changes->printed)
                        fprintf(changes->tell, "There %s nothing to do\n", changes->check ? "is" : "was");
                return code;
        }
        object = json_pack("{sbsO}", "Check", changes->check, "Changes", changes->list);
        r = ald_print_json(ctl, object);
        json_decref(object);
        return code == ALD_EXIT_OK ? r : code;
}
