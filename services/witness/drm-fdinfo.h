/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/*
 * What /proc/PID/fdinfo/FD says of a descriptor of a DRM or accel device, as the kernel's
 * Documentation/gpu/drm-usage-stats.rst describes it. The text comes from a driver and is judged here.
 */
#define ALD_FDINFO_ENGINES_MAX 16u
#define ALD_FDINFO_NAME_MAX 32u

typedef struct AldFdinfoEngine {
        char name[ALD_FDINFO_NAME_MAX];
        uint64_t busy;     /* ns, or cycles if `total` is present */
        uint64_t total;    /* cycles that it could have worked meanwhile; absent if the driver counts ns */
        uint64_t capacity; /* number of engines of this name */
} AldFdinfoEngine;

typedef struct AldFdinfo {
        char device[ALD_FDINFO_NAME_MAX]; /* PCI address; of a device that is not on PCI, `driver` */
        char driver[ALD_FDINFO_NAME_MAX];
        uint64_t client;       /* number of the open file, shared by its duplicates; absent in old kernels */
        uint64_t memory_bytes; /* of the device, not that of the host; absent if it has none of its own */
        bool has_compute;      /* the driver reports a compute engine */
        bool computed;         /* which has worked for this client */
        unsigned n_engines;
        AldFdinfoEngine engines[ALD_FDINFO_ENGINES_MAX];
} AldFdinfo;

/* Returns false if the text does not describe such a descriptor: its driver must be named first, since the
 * name of a dma-buf, which its process chooses, may have lines like those of a driver. */
bool ald_fdinfo_parse(const char *text, AldFdinfo *ret);

/* Makes it that of a client that has used nothing. */
void ald_fdinfo_clear_work(AldFdinfo *info);

/* Adds another client of the same device, which must not be the same client. */
void ald_fdinfo_add(AldFdinfo *sum, const AldFdinfo *client);

/* Returns how much of the time since an earlier sum its busiest engine worked, in percent; absent if no
 * engine was counted both times. */
double ald_fdinfo_usage(const AldFdinfo *before, const AldFdinfo *now, uint64_t passed_ns);
