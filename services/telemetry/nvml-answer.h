/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include <glib.h>

#include "record/schema.h"

/* What the helper alidade-nvml answered, checked: a driver may tell anything. */

#define ALD_NVML_DEVICES_MAX 64u

typedef struct AldNvmlDevice {
        char *id;
        char *error; /* why there are no figures, or NULL */
        char *name;
        uint64_t memory_total_bytes;
        int unified;
        AldDevice figures;    /* without its Id */
        GPtrArray *instances; /* of AldNvmlDevice, with Ids of rows; NULL where the card is not in MIG mode */
} AldNvmlDevice;

typedef struct AldNvmlAnswer {
        char *error; /* why there is nothing else, or NULL */
        char *driver_version;
        GPtrArray *devices; /* of AldNvmlDevice */
} AldNvmlAnswer;

/* -EBADMSG where it is no answer at all; a part of it that makes no sense is absent. */
int ald_nvml_answer_parse(const char *text, size_t length, AldNvmlAnswer **ret);
void ald_nvml_answer_free(AldNvmlAnswer *answer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNvmlAnswer, ald_nvml_answer_free)

const AldNvmlDevice *ald_nvml_answer_find(const AldNvmlAnswer *answer, const char *id);

/* The same of the instances of a card. */
const AldNvmlDevice *ald_nvml_device_find(const AldNvmlDevice *card, const char *id);
