/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <string.h>

#include "services/common/service.h"
#include "services/state/refused-settings.h"

/* Returns "/etc/alidade/alidade.conf:12 [state] max-nodes", or a digest of this if it is too long for a
 * record. */
static char *setting_id(const AldConfigurationProblemRow *problem)
{
        g_autoptr(GString) id = g_string_new(problem->file);

        if (problem->line != ALD_ABSENT_UINT64)
                g_string_append_printf(id, ":%" PRIu64, problem->line);
        if (problem->group)
                g_string_append_printf(id, " [%s]", problem->group);
        if (problem->key)
                g_string_append_printf(id, " %s", problem->key);
        return id->len > ALD_STRING_MAX ? g_compute_checksum_for_string(G_CHECKSUM_SHA256, id->str, -1)
                                        : g_string_free(g_steal_pointer(&id), FALSE);
}

static AldRefusedSetting *find_setting(GArray *settings, const char *id)
{
        for (guint i = 0; i < settings->len; i++) {
                AldRefusedSetting *setting = &g_array_index(settings, AldRefusedSetting, i);

                if (strcmp(setting->id, id) == 0)
                        return setting;
        }
        return NULL;
}

/* Adds the problem of a service, unless another service has reported it too. Ids are added to `ids`, which
 * frees them. */
static void merge_problem(
        GArray *settings, GPtrArray *ids, const char *service, const AldConfigurationProblemRow *problem)
{
        AldRefusedSetting setting = ALD_REFUSED_SETTING_INIT, *same;
        char *id = setting_id(problem);

        g_ptr_array_add(ids, id);
        same = find_setting(settings, id);
        if (same && g_strcmp0(same->service, service) != 0)
                same->service = NULL;
        if (same || settings->len >= ALD_REFUSED_SETTINGS_MAX)
                return;
        ald_struct_copy_common(
                &ald_refused_setting_struct, &setting, &ald_configuration_problem_row_struct, problem);
        setting.id = id;
        setting.service = service;
        g_array_append_val(settings, setting);
}

/* Returns the record, or NULL if nothing is refused. A row without a file, from another version, contains
 * nothing that could be corrected. */
static AldRecord *merge_problems(const AldServiceProblems *services, size_t n)
{
        g_autoptr(GArray) settings = g_array_new(FALSE, FALSE, sizeof(AldRefusedSetting));
        g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
        AldConfiguration fields = ALD_CONFIGURATION_INIT;
        AldRecord *record = NULL;

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < services[i].rows.n; k++) {
                        const AldConfigurationProblemRow *problem = ald_rows_at(&services[i].rows, k);

                        if (problem->file)
                                merge_problem(settings, ids, services[i].service, problem);
                }
        if (settings->len == 0)
                return NULL;
        fields.problems.items = settings->data;
        fields.problems.n = settings->len;
        /* The record cannot be too large: 32 rows of six strings are within its limit. */
        (void) ald_record_new(ALD_KIND_CONFIGURATION, &fields, &record);
        return record;
}

void ald_refused_settings_update(AldStateManager *manager, const AldServiceProblems *services, size_t n)
{
        const AldNode *local = ald_store_local_node(ald_state_manager_store(manager));
        const AldRecord *before = ald_node_record(local, ALD_KIND_CONFIGURATION);
        g_autoptr(AldRecord) record = merge_problems(services, n);

        if (!record && before)
                ald_state_manager_delete_local(manager, ALD_KIND_CONFIGURATION, "");
        if (!record || (before && before->hash == record->hash))
                return;
        record->updated_usec = ald_realtime_usec();
        ald_state_manager_put_local(manager, ALD_KIND_CONFIGURATION, "", record);
}
