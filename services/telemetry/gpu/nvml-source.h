/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "record/record.h"
#include "services/telemetry/helper/helper.h"

/* The figures of NVIDIA's GPUs, from the helper alidade-nvml. */
typedef struct AldNvmlSource AldNvmlSource;

/* Called from the main loop with NVML's answer, which is valid during the call; NULL once NVML no longer
 * works. */
typedef void (*AldNvmlAnswered)(const AldNvmlAnswer *answer, void *userdata);

/* Creates a source. A timing of NULL is the default one. */
AldNvmlSource *ald_nvml_source_new(
        const char *libexec_dir, const AldChildTiming *timing, AldNvmlAnswered answered, void *userdata);
void ald_nvml_source_free(AldNvmlSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNvmlSource, ald_nvml_source_free)

/*
 * Requests the figures of the devices with the Ids in `due`, out of those that may be read, `ids`; a NULL
 * terminates each list. NVML identifies devices in the third list, which may be NULL, by their index in it.
 * If a device that the helper was asked about may no longer be read, the helper is stopped, because a device
 * that it holds open cannot be suspended. The links are requested if a device or the helper is new, else
 * every ALD_NVML_LINKS_EVERY_USEC, since they rarely change; the request is then about all devices. Returns
 * whether it was sent, and in `ret_all` whether it was about all.
 */
#define ALD_NVML_LINKS_EVERY_USEC (INT64_C(60) * 1000 * 1000)
bool ald_nvml_source_ask(AldNvmlSource *source, const char *const *ids, const char *const *due,
        const char *const *by_index, bool *ret_all);

/* Returns whether the helper runs. */
bool ald_nvml_source_is_running(const AldNvmlSource *source);

/* Returns why NVML does not work at present, or NULL. */
const char *ald_nvml_source_reason(const AldNvmlSource *source);

/* Copies the figures that Node1.System also has, without the Id and without strings of the row. Memory in use
 * is discarded if it exceeds the total or the total is unknown. */
void ald_nvml_device_figures(const AldNvmlDevice *device, AldDevice *ret);
