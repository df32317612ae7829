/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/link-probe/job/jobs-bus.h"
#include "common/bus-cleanup.h"
#include "common/excerpt.h"
#include "record/record-bus.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"
#include "services/common/vtables.h"
#include "services/link-probe/job/job-paths.h"

#define INTERFACE "org.alidade.LinkProbe1.Job"

/* A job that is exported as an object. */
typedef struct Shown {
        AldJobsBus *bus;
        AldJob *job;
        AldProperties properties;
} Shown;

struct AldJobsBus {
        AldService *service;
        AldJobs *jobs;
        GHashTable *shown; /* path → Shown */
        sd_bus_slot *slot, *enumerator;
};

/* Returns the object path of a job; free with g_free(). */
static char *format_path(const AldJob *job)
{
        return g_strdup_printf(ALD_LINK_PROBE_JOB_PATH "/%u", ald_job_number(job));
}

static void read_properties(const void *of, void *ret, GPtrArray *owned)
{
        const AldJob *job = ((const Shown *) of)->job;

        *(AldProbeJob *) ret = (AldProbeJob){
                .node = ald_job_node(job),
                .address = ald_job_address(job),
                .device = ald_job_device(job),
                .kind = ald_kinds[ald_job_kind(job)].name,
                .state = ald_job_state_name(ald_job_state(job)),
                .phase = ald_job_phase(job),
                .progress = ald_job_progress(job),
                .error = ald_job_error(job),
        };
}

static void export_job(AldJobsBus *self, AldJob *job, const char *path)
{
        Shown *shown = g_new(Shown, 1);

        *shown = (Shown){ .bus = self,
                .job = job,
                .properties = { .type = &ald_probe_job_struct, .read = read_properties, .of = shown } };
        g_hash_table_insert(self->shown, g_strdup(path), shown);
        sd_bus_emit_object_added(ald_service_bus(self->service), path);
}

static void on_job(AldJob *job, AldJobNews news, void *userdata)
{
        AldJobsBus *self = userdata;
        sd_bus *bus = ald_service_bus(self->service);
        g_autofree char *path = format_path(job);

        switch (news) {
        case ALD_JOB_NEWS_ADDED:
                export_job(self, job, path);
                break;
        case ALD_JOB_NEWS_CHANGED:
                sd_bus_emit_properties_changed_strv(bus, path, INTERFACE, NULL);
                break;
        case ALD_JOB_NEWS_REMOVED:
                sd_bus_emit_object_removed(bus, path);
                g_hash_table_remove(self->shown, path);
                break;
        }
}

static int find_job(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
        sd_bus_error *error)
{
        AldJobsBus *self = userdata;

        Shown *shown = g_hash_table_lookup(self->shown, path);

        if (!shown)
                return 0;
        *ret_found = shown;
        return 1;
}

/* Lists the paths of all jobs. sd-bus frees them with free(), as g_free() does. */
static int enumerate_jobs(
        sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *error)
{
        AldJobsBus *self = userdata;
        GPtrArray *paths = g_ptr_array_new();
        GHashTableIter iter;
        gpointer path;

        g_hash_table_iter_init(&iter, self->shown);
        while (g_hash_table_iter_next(&iter, &path, NULL))
                g_ptr_array_add(paths, g_strdup(path));
        g_ptr_array_add(paths, NULL);
        *ret_nodes = (char **) g_ptr_array_free(paths, FALSE);
        return 0;
}

static int get_result(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldJob *job = ((const Shown *) userdata)->job;

        return ald_record_bus_append(reply, ald_job_result(job), 0);
}

static int append_path(sd_bus_message *message, const AldJobPath *path)
{
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        if (r >= 0)
                r = ald_record_bus_append_fields(message, &ald_job_path_row_struct, &path->row);
        if (r >= 0 && path->result)
                r = ald_record_bus_append_fields(
                        message, ald_record_type(path->result), ald_record_fields(path->result));
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int get_paths(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldJob *job = ((const Shown *) userdata)->job;
        int r;

        r = sd_bus_message_open_container(reply, 'a', "a{sv}");
        for (unsigned i = 0; r >= 0 && i < ald_job_count_paths(job); i++)
                r = append_path(reply, ald_job_path_at(job, i));
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

int ald_jobs_bus_uid_of_sender(sd_bus_message *message, uid_t *ret)
{
        g_autoptr(AldCreds) creds = NULL;
        int r;

        r = sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID, &creds);
        return r < 0 ? r : sd_bus_creds_get_euid(creds, ret);
}

static int is_owner(sd_bus_message *message, const AldJob *job)
{
        uid_t uid;
        int r = ald_jobs_bus_uid_of_sender(message, &uid);

        return r < 0 ? r : uid == ald_job_uid(job);
}

/* Cancels the job at the path of the message. It is looked up again each time, since it may be removed while
 * polkit is asked. */
static int cancel_job(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldJobsBus *self = userdata;
        const Shown *shown = g_hash_table_lookup(self->shown, sd_bus_message_get_path(message));
        int r;

        if (!shown)
                return sd_bus_error_set(error, SD_BUS_ERROR_UNKNOWN_OBJECT, "The job no longer exists");
        r = is_owner(message, shown->job);
        if (r == 0)
                r = ald_polkit_authorize(
                        self->service, message, ALD_LINK_PROBE_ACTION, cancel_job, self, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        ald_job_cancel(shown->job);
        return sd_bus_reply_method_return(message, NULL);
}

static int method_cancel(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return cancel_job(message, ((Shown *) userdata)->bus, error);
}

static const sd_bus_vtable vtable[] = { ALD_LINK_PROBE1_JOB_VTABLE(Shown) };

void ald_jobs_bus_answer(sd_bus_message *call, const AldJob *job, sd_bus_error *error)
{
        g_autofree char *path = job ? format_path(job) : NULL;

        if (path)
                sd_bus_reply_method_return(call, "o", path);
        else
                sd_bus_reply_method_error(call, error);
        sd_bus_error_free(error);
}

int ald_jobs_bus_refuse_room(int r, sd_bus_error *error)
{
        if (r == -ALD_E_USER_LIMIT)
                return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "This user has %u jobs already, which is the limit", ALD_JOBS_PER_USER_MAX);
        return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED, "The limit of jobs is reached");
}

int ald_jobs_bus_refuse_pending(sd_bus_error *error)
{
        return sd_bus_error_set(
                error, SD_BUS_ERROR_LIMITS_EXCEEDED, "The limit of pending requests is reached");
}

int ald_jobs_bus_refuse_inhibited(const AldInhibitorFile *lock, const char *what, sd_bus_error *error)
{
        g_autofree char *who = ald_excerpt(lock->who), *why = ald_excerpt(lock->why);

        return sd_bus_error_setf(error, ALD_ERROR_INHIBITED, "%s inhibited by %s: %s", what, who, why);
}

int ald_jobs_bus_append_list(sd_bus_message *message, const AldJobs *jobs)
{
        int r = sd_bus_message_open_container(message, 'a', "(os)");

        for (unsigned i = 0; r >= 0 && i < ald_jobs_count(jobs); i++) {
                const AldJob *job = ald_jobs_at(jobs, i);
                g_autofree char *path = format_path(job);

                r = sd_bus_message_append(message, "(os)", path, ald_job_state_name(ald_job_state(job)));
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int ald_jobs_bus_new(AldService *service, AldJobs *jobs, AldJobsBus **ret)
{
        g_autoptr(AldJobsBus) self = g_new0(AldJobsBus, 1);
        sd_bus *bus = ald_service_bus(service);
        int r;

        self->service = service;
        self->jobs = jobs;
        self->shown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        ald_jobs_watch(jobs, on_job, self);
        r = sd_bus_add_fallback_vtable(
                bus, &self->slot, ALD_LINK_PROBE_JOB_PATH, INTERFACE, vtable, find_job, self);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(
                        bus, &self->enumerator, ALD_LINK_PROBE_JOB_PATH, enumerate_jobs, self);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&self);
        return 0;
}

void ald_jobs_bus_free(AldJobsBus *self)
{
        if (!self)
                return;
        ald_jobs_watch(self->jobs, NULL, NULL);
        sd_bus_slot_unref(self->slot);
        sd_bus_slot_unref(self->enumerator);
        g_hash_table_unref(self->shown);
        g_free(self);
}
