/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <jansson.h>
#include <stdlib.h>

#include "services/telemetry/child.h"
#include "services/telemetry/nvml-source.h"

struct AldNvmlSource {
        AldChild *child;
        AldNvmlTold told;
        void *userdata;
        char **held;            /* devices that the running helper was asked about */
        GHashTable *complained; /* Ids of the devices that NVML does not know */
};

static void complain_once(AldNvmlSource *source, const AldNvmlDevice *device)
{
        if (!device->error) {
                if (g_hash_table_remove(source->complained, device->id))
                        g_message("NVML tells of %s again", device->id);
                return;
        }
        if (g_hash_table_add(source->complained, g_strdup(device->id)))
                g_warning("NVML tells nothing of %s: %s", device->id, device->error);
}

static char *on_answer(const char *text, size_t length, void *userdata)
{
        AldNvmlSource *source = userdata;
        g_autoptr(AldNvmlAnswer) answer = NULL;

        if (ald_nvml_answer_parse(text, length, &answer) < 0)
                return g_strdup("its answer makes no sense");
        if (answer->error)
                return g_strdup(answer->error);
        for (guint i = 0; i < answer->devices->len; i++)
                complain_once(source, answer->devices->pdata[i]);
        source->told(answer, source->userdata);
        return NULL;
}

static void on_failure(const char *reason, void *userdata)
{
        AldNvmlSource *source = userdata;

        source->told(NULL, source->userdata);
}

static const AldChildInfo helper = {
        .program = "alidade-nvml",
        .answered = on_answer,
        .failed = on_failure,
};

/* A GPU that has to come up first may take its driver some seconds. */
static const AldChildTiming usual = {
        .first = 20 * 1000,
        .answer = 5 * 1000,
        .retry = 1000,
        .retry_max = 5 * 60 * 1000,
        .healthy = 60 * 1000,
};

AldNvmlSource *ald_nvml_source_new(
        const char *libexec_dir, const AldChildTiming *timing, AldNvmlTold told, void *userdata)
{
        AldNvmlSource *source = g_new0(AldNvmlSource, 1);

        source->child = ald_child_new(&helper, timing ?: &usual, libexec_dir, source);
        source->told = told;
        source->userdata = userdata;
        source->complained = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return source;
}

void ald_nvml_source_free(AldNvmlSource *source)
{
        if (!source)
                return;
        ald_child_free(source->child);
        g_strfreev(source->held);
        g_hash_table_unref(source->complained);
        g_free(source);
}

static bool lets_go(const AldNvmlSource *source, const char *const *ids)
{
        for (char **id = source->held; id && *id; id++)
                if (!g_strv_contains(ids, *id))
                        return true;
        return false;
}

static char *make_request(const char *const *ids)
{
        json_t *list = json_array(), *request = json_pack("{s:o}", "ids", list);
        char *text;

        for (; *ids; ids++)
                json_array_append_new(list, json_string(*ids));
        text = json_dumps(request, JSON_COMPACT);
        json_decref(request);
        return text;
}

void ald_nvml_source_ask(AldNvmlSource *source, const char *const *ids)
{
        char *request;

        if (lets_go(source, ids)) {
                ald_child_end(source->child);
                g_clear_pointer(&source->held, g_strfreev);
        }
        if (!*ids)
                return;
        request = make_request(ids);
        if (ald_child_ask(source->child, request) >= 0) {
                g_strfreev(source->held);
                source->held = g_strdupv((char **) ids);
        }
        free(request);
}

bool ald_nvml_source_is_running(const AldNvmlSource *source)
{
        return ald_child_alive(source->child);
}

const char *ald_nvml_source_reason(const AldNvmlSource *source)
{
        return ald_child_reason(source->child);
}
