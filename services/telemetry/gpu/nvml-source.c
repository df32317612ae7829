/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/nvml-source.h"
#include "record/message.h"
#include "record/throttle.h"

struct AldNvmlSource {
        AldChild *child;
        AldNvmlAnswered answered;
        void *userdata;
        char **held;        /* devices that the running helper was asked about, and holds open */
        gint64 links_due;   /* when the links are requested again */
        GHashTable *warned; /* Ids of the devices that NVML does not know */
};

/* Logs a device that NVML does not know, once, and only if it was requested, since the answer may contain any
 * Ids. */
static void warn_once(AldNvmlSource *source, const AldNvmlDevice *device)
{
        if (!device->error) {
                if (g_hash_table_remove(source->warned, device->id))
                        g_message("NVML reports figures of %s again", device->id);
                return;
        }
        if (g_strv_contains((const char *const *) source->held, device->id) &&
                g_hash_table_add(source->warned, g_strdup(device->id)))
                g_warning("NVML reports nothing about %s: %s", device->id, device->error);
}

static char *on_answer(const char *text, size_t length, void *userdata)
{
        AldNvmlSource *source = userdata;
        g_autoptr(AldRecord) record = NULL;
        const AldNvmlAnswer *answer;

        if (ald_message_parse(ALD_KIND_NVML_ANSWER, text, length, ALD_CHILD_MESSAGE_MAX, &record, NULL) < 0)
                return g_strdup("its answer is invalid");
        answer = ald_record_as(record, NVML_ANSWER, AldNvmlAnswer);
        if (answer->error)
                return g_strdup(answer->error);
        if (answer->devices.n == 0)
                return g_strdup("its answer is invalid");
        for (size_t i = 0; i < answer->devices.n; i++)
                warn_once(source, ald_rows_at(&answer->devices, i));
        source->answered(answer, source->userdata);
        return NULL;
}

static void on_failure(const char *reason, void *userdata)
{
        AldNvmlSource *source = userdata;

        source->answered(NULL, source->userdata);
}

static const AldChildInfo helper = {
        .program = "alidade-nvml",
        .answered = on_answer,
        .failed = on_failure,
};

/* The driver may take some seconds to initialize a GPU. */
static const AldChildTiming default_timing = {
        .first = 20 * 1000,
        .answer = 5 * 1000,
        .retry = 1000,
        .retry_max = 5 * 60 * 1000,
        .healthy = 60 * 1000,
};

AldNvmlSource *ald_nvml_source_new(
        const char *libexec_dir, const AldChildTiming *timing, AldNvmlAnswered answered, void *userdata)
{
        AldNvmlSource *source = g_new0(AldNvmlSource, 1);

        source->child = ald_child_new(&helper, timing ?: &default_timing, libexec_dir, source);
        source->answered = answered;
        source->userdata = userdata;
        source->warned = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return source;
}

void ald_nvml_source_free(AldNvmlSource *source)
{
        if (!source)
                return;
        ald_child_free(source->child);
        g_strfreev(source->held);
        g_hash_table_unref(source->warned);
        g_free(source);
}

static bool drops_device(const AldNvmlSource *source, const char *const *ids)
{
        for (char **id = source->held; id && *id; id++)
                if (!g_strv_contains(ids, *id))
                        return true;
        return false;
}

static bool wants_links(const AldNvmlSource *source, const char *const *ids, gint64 now)
{
        return !ald_child_alive(source->child) || now >= source->links_due || !source->held ||
               !g_strv_equal((const char *const *) source->held, ids);
}

bool ald_nvml_source_ask(AldNvmlSource *source, const char *const *ids, const char *const *due,
        const char *const *by_index, bool *ret_all)
{
        AldNvmlRequest asked = ALD_NVML_REQUEST_INIT;
        g_autofree char *request = NULL;
        gint64 now = g_get_monotonic_time();

        if (drops_device(source, ids)) {
                ald_child_end(source->child);
                g_clear_pointer(&source->held, g_strfreev);
        }
        *ret_all = *ids && wants_links(source, ids, now);
        asked.links = *ret_all;
        asked.ids = *ret_all ? ids : due;
        asked.by_index = by_index;
        if (!*asked.ids)
                return false;
        request = ald_message_format(ALD_KIND_NVML_REQUEST, &asked);
        if (ald_child_ask(source->child, request) < 0)
                return false;
        if (*ret_all) {
                g_strfreev(source->held);
                source->held = g_strdupv((char **) ids);
                source->links_due = now + ALD_NVML_LINKS_EVERY_USEC;
        }
        return true;
}

bool ald_nvml_source_is_running(const AldNvmlSource *source)
{
        return ald_child_alive(source->child);
}

const char *ald_nvml_source_reason(const AldNvmlSource *source)
{
        return ald_child_reason(source->child);
}

void ald_nvml_device_figures(const AldNvmlDevice *device, AldDevice *ret)
{
        *ret = (AldDevice) ALD_DEVICE_INIT;
        ald_struct_copy_common(&ald_device_struct, ret, &ald_nvml_device_struct, device);
        ret->id = NULL;
        ret->throttle_reasons = ald_throttle_words(ald_throttle_from_words(device->throttle_reasons));
        if (device->memory_total_bytes == ALD_ABSENT_UINT64 ||
                ret->memory_used_bytes > device->memory_total_bytes)
                ret->memory_used_bytes = ALD_ABSENT_UINT64;
}
