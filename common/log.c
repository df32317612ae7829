/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "common/log.h"

struct AldLog {
        char *identifier;
        unsigned level; /* a syslog level; messages beyond it are dropped */
        bool journal;
};

static const char *const level_names[] = { "emerg", "alert", "crit", "err", "warning", "notice", "info",
        "debug" };
#define LEVEL_INFO 6u

static const struct {
        GLogLevelFlags flag;
        unsigned level;
        const char *prefix;
} levels[] = {
        { G_LOG_LEVEL_ERROR, 3, "error: " },
        { G_LOG_LEVEL_CRITICAL, 4, "critical: " },
        { G_LOG_LEVEL_WARNING, 4, "warning: " },
        { G_LOG_LEVEL_MESSAGE, 5, "" },
        { G_LOG_LEVEL_INFO, 6, "" },
        { G_LOG_LEVEL_DEBUG, 7, "debug: " },
};

static int level_from_name(const char *name)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(level_names); i++)
                if (g_str_equal(level_names[i], name))
                        return (int) i;
        return -EINVAL;
}

static void write_journal(const AldLog *log, GLogLevelFlags flags, const GLogField *fields, gsize n_fields)
{
        g_autofree GLogField *all = g_new(GLogField, n_fields + 1);

        memcpy(all, fields, n_fields * sizeof *fields);
        all[n_fields] = (GLogField){ "SYSLOG_IDENTIFIER", log->identifier, -1 };
        g_log_writer_journald(flags, all, n_fields + 1, NULL);
}

static const char *message_of(const GLogField *fields, gsize n_fields)
{
        for (gsize i = 0; i < n_fields; i++)
                if (g_str_equal(fields[i].key, "MESSAGE"))
                        return fields[i].value;
        return "";
}

static GLogWriterOutput write_log(
        GLogLevelFlags flags, const GLogField *fields, gsize n_fields, gpointer userdata)
{
        const AldLog *log = userdata;
        unsigned i = 0;

        while (i + 1 < G_N_ELEMENTS(levels) && !(flags & levels[i].flag))
                i++;
        if (levels[i].level > log->level)
                return G_LOG_WRITER_HANDLED;

        if (log->journal)
                write_journal(log, flags, fields, n_fields);
        else
                fprintf(stderr, "%s: %s%s\n", log->identifier, levels[i].prefix,
                        message_of(fields, n_fields));
        return G_LOG_WRITER_HANDLED;
}

/* Opens the standard files that are closed, since otherwise the next file to be opened would get the number
 * of standard error, and the log in it. */
static void fill_standard_files(void)
{
        int fd;

        do
                fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        while (fd >= 0 && fd <= STDERR_FILENO);
        if (fd >= 0)
                close(fd);
}

AldLog *ald_log_install(const char *identifier)
{
        AldLog *log = g_new0(AldLog, 1);
        const char *wanted = g_getenv("ALIDADE_LOG_LEVEL");
        int level = wanted ? level_from_name(wanted) : (int) LEVEL_INFO;

        fill_standard_files();
        log->identifier = g_strdup(identifier);
        log->level = level < 0 ? LEVEL_INFO : (unsigned) level;
        log->journal = g_log_writer_is_journald(STDERR_FILENO);
        g_log_set_writer_func(write_log, log, NULL);
        if (level < 0)
                g_warning("Invalid ALIDADE_LOG_LEVEL=%s", wanted);
        return log;
}

static int get_level(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldLog *log = userdata;

        return sd_bus_message_append(reply, "s", level_names[log->level]);
}

static int set_level(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *value, void *userdata, sd_bus_error *error)
{
        AldLog *log = userdata;
        const char *name;
        int r;

        r = sd_bus_message_read(value, "s", &name);
        if (r < 0)
                return r;
        r = level_from_name(name);
        if (r < 0)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Invalid log level: %s", name);
        log->level = (unsigned) r;
        return 0;
}

static int get_target(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldLog *log = userdata;

        return sd_bus_message_append(reply, "s", log->journal ? "journal" : "console");
}

static int set_target(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *value, void *userdata, sd_bus_error *error)
{
        AldLog *log = userdata;
        const char *target;
        int r;

        r = sd_bus_message_read(value, "s", &target);
        if (r < 0)
                return r;
        if (!g_str_equal(target, "journal") && !g_str_equal(target, "console"))
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                        "Invalid log target: %s (expected journal or console)", target);
        log->journal = g_str_equal(target, "journal");
        return 0;
}

static const sd_bus_vtable log_control_vtable[] = { SD_BUS_VTABLE_START(0),
        SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", get_level, set_level, 0, 0),
        SD_BUS_WRITABLE_PROPERTY("LogTarget", "s", get_target, set_target, 0, 0),
        SD_BUS_PROPERTY(
                "SyslogIdentifier", "s", NULL, offsetof(AldLog, identifier), SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_VTABLE_END };

int ald_log_export(AldLog *log, sd_bus *bus)
{
        return sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/LogControl1",
                "org.freedesktop.LogControl1", log_control_vtable, log);
}
