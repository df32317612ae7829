/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "common/bus-names.h"
#include "common/excerpt.h"
#include "record/record-bus.h"
#include "services/common/service-private.h"
#include "services/common/vtables.h"

/* Exports the refused parts of the configuration as org.alidade.Service1. */

/* Appends one problem as excerpts, since files and GLib's reasons may contain text that a message cannot
 * hold. */
static int append_problem(sd_bus_message *reply, const AldConfigProblem *problem)
{
        g_autofree char *file = ald_excerpt_ends(problem->file), *reason = ald_excerpt_ends(problem->reason),
                        *group = problem->group ? ald_excerpt(problem->group) : NULL,
                        *key = problem->key ? ald_excerpt(problem->key) : NULL;
        const AldConfigurationProblemRow row = {
                .file = file,
                .line = problem->line > 0 ? problem->line : ALD_ABSENT_UINT64,
                .group = group,
                .key = key,
                .reason = reason,
        };

        return ald_record_bus_append_row(reply, &ald_configuration_problem_row_struct, &row);
}

static int get_configuration_problems(sd_bus *bus, const char *path, const char *interface,
        const char *property, sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldService *service = userdata;
        const GPtrArray *problems = ald_config_problems(service->unused_config ?: service->config);
        int r = ald_record_bus_open_rows(reply, &ald_configuration_problem_row_struct);

        for (guint i = 0; r >= 0 && i < problems->len; i++)
                r = append_problem(reply, problems->pdata[i]);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static const sd_bus_vtable vtable[] = { ALD_SERVICE1_VTABLE(AldService) };

int ald_service_export_problems(AldService *service)
{
        return sd_bus_add_object_vtable(
                service->bus, NULL, ALD_SERVICE_PATH, ALD_SERVICE_INTERFACE, vtable, service);
}

static bool is_same_problem(const AldConfigProblem *a, const AldConfigProblem *b)
{
        return a->line == b->line && g_strcmp0(a->file, b->file) == 0 && g_strcmp0(a->group, b->group) == 0 &&
               g_strcmp0(a->key, b->key) == 0 && g_strcmp0(a->reason, b->reason) == 0;
}

static bool are_same_problems(const GPtrArray *a, const GPtrArray *b)
{
        if (a->len != b->len)
                return false;
        for (guint i = 0; i < a->len; i++)
                if (!is_same_problem(a->pdata[i], b->pdata[i]))
                        return false;
        return true;
}

void ald_service_take_config(AldService *service, AldConfig *fresh)
{
        AldConfig *shown = service->unused_config ?: service->config, *old = NULL;
        bool same = are_same_problems(ald_config_problems(shown), ald_config_problems(fresh));

        g_clear_pointer(&service->unused_config, ald_config_free);
        if (ald_config_is_complete(fresh)) {
                old = service->config;
                service->config = fresh;
        } else {
                g_warning("Keeping the previous configuration");
                service->unused_config = fresh;
        }
        if (service->info->reload)
                service->info->reload(service->manager);
        ald_config_free(old);
        if (!same)
                sd_bus_emit_properties_changed(
                        service->bus, ALD_SERVICE_PATH, ALD_SERVICE_INTERFACE, ALD_SERVICE_PROBLEMS, NULL);
}
