/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/safe-text.h"
#include "clients/desktop/live/bus-error-words.h"
#include "common/error-names.h"

#define REFUSED "Not allowed: "
#define ACTIONS "org.alidade."

typedef enum Meaning {
        NO_ANSWER, /* the service took too long or died */
        NOT_RUNNING,
        OTHER_VERSION,
        NOT_AUTHORIZED,
        NO_PASSWORD_PROMPT,
        BUSY,
        AS_WORDED, /* the message of the error, by the service or by us, says it */
} Meaning;

static Meaning meaning_of(const sd_bus_error *error)
{
        static const struct {
                const char *name;
                Meaning meaning;
        } names[] = {
                { SD_BUS_ERROR_NO_REPLY, NO_ANSWER },
                { SD_BUS_ERROR_TIMEOUT, NO_ANSWER },
                { "org.freedesktop.DBus.Error.TimedOut", NO_ANSWER },
                { SD_BUS_ERROR_SERVICE_UNKNOWN, NOT_RUNNING },
                { SD_BUS_ERROR_NAME_HAS_NO_OWNER, NOT_RUNNING },
                { "org.freedesktop.systemd1.NoSuchUnit", NOT_RUNNING },
                { SD_BUS_ERROR_UNKNOWN_METHOD, OTHER_VERSION },
                { SD_BUS_ERROR_UNKNOWN_INTERFACE, OTHER_VERSION },
                { SD_BUS_ERROR_INCONSISTENT_MESSAGE, OTHER_VERSION },
                { SD_BUS_ERROR_ACCESS_DENIED, NOT_AUTHORIZED },
                { SD_BUS_ERROR_AUTH_FAILED, NOT_AUTHORIZED },
                { SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, NO_PASSWORD_PROMPT },
                { ALD_ERROR_BUSY, BUSY },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (sd_bus_error_has_name(error, names[i].name))
                        return names[i].meaning;
        return error->name && g_str_has_prefix(error->name, "org.freedesktop.DBus.Error.Spawn.") ? NOT_RUNNING
                                                                                                 : AS_WORDED;
}

/* Describes why a call was refused. The services name the polkit action, or say why polkit could not be
 * asked. */
static char *describe_refusal(const char *text)
{
        const char *why = text && g_str_has_prefix(text, REFUSED) ? text + strlen(REFUSED) : text;

        return why && *why && !g_str_has_prefix(why, ACTIONS)
                       ? g_strdup_printf(_("you are not authorized: %s"), why)
                       : g_strdup(_("you are not authorized"));
}

char *ald_bus_error_words(const sd_bus_error *error, const char *unit)
{
        g_autofree char *text = ald_text_safe_or_null(error->message);

        switch (meaning_of(error)) {
        case NO_ANSWER:
                return g_strdup_printf(_("%s does not answer; restarting it may help"), unit);
        case NOT_RUNNING:
                return g_strdup_printf(_("%s is not running"), unit);
        case OTHER_VERSION:
                return g_strdup_printf(_("%s is of a version that does this differently"), unit);
        case NOT_AUTHORIZED:
                return describe_refusal(text);
        case NO_PASSWORD_PROMPT:
                return g_strdup(_("you are not authorized, and nothing here can ask for a password"));
        case BUSY:
                /* After a semicolon there is advice for programs. */
                return text ? g_strndup(text, strcspn(text, ";")) : g_strdup(_("other work is running"));
        case AS_WORDED:
                break;
        }
        return text && *text ? g_steal_pointer(&text) : g_strdup(_("no reason was given"));
}

bool ald_bus_error_is_absence(const sd_bus_error *error)
{
        Meaning meaning = meaning_of(error);

        return meaning == NO_ANSWER || meaning == NOT_RUNNING ||
               sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED);
}
