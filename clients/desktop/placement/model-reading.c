/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gio/gio.h>

#include "clients/common/safe-text.h"
#include "clients/desktop/placement/model-reading.h"
#include "placement/model/model-file.h"

struct AldModelReading {
        GCancellable *cancellable;
        AldModelRead done;
        void *userdata;
};

static void free_model(void *model)
{
        ald_llm_free(model);
}

/* Runs in a thread, which uses only the path. */
static void read_model(GTask *task, gpointer source, gpointer path, GCancellable *cancellable)
{
        g_autofree char *error = NULL;
        AldLlm *llm = NULL;
        int r = ald_llm_read(path, &llm, &error);

        if (r >= 0)
                g_task_return_pointer(task, llm, free_model);
        else
                g_task_return_new_error(
                        task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", error ? error : g_strerror(-r));
}

/* If the reading was canceled, it has been freed. */
static void on_done(GObject *source, GAsyncResult *result, gpointer userdata)
{
        g_autoptr(GError) error = NULL;
        AldLlm *llm = g_task_propagate_pointer(G_TASK(result), &error);
        AldModelReading *reading = userdata;
        AldModelRead done;
        void *owner;
        g_autofree char *problem = NULL;

        if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
                return;
        done = reading->done;
        owner = reading->userdata;
        problem = error ? ald_text_safe(error->message) : NULL;
        ald_model_reading_free(reading);
        done(llm, problem, owner);
}

AldModelReading *ald_model_reading_start(const char *path, AldModelRead done, void *userdata)
{
        AldModelReading *reading = g_new0(AldModelReading, 1);
        g_autoptr(GTask) task = NULL;

        reading->cancellable = g_cancellable_new();
        reading->done = done;
        reading->userdata = userdata;
        task = g_task_new(NULL, reading->cancellable, on_done, reading);
        g_task_set_task_data(task, g_strdup(path), g_free);
        g_task_run_in_thread(task, read_model);
        return reading;
}

void ald_model_reading_free(AldModelReading *reading)
{
        if (!reading)
                return;
        g_cancellable_cancel(reading->cancellable);
        g_object_unref(reading->cancellable);
        g_free(reading);
}
