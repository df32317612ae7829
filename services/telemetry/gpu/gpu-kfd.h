/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/*
 * The data of KFD, the kernel's side of ROCm, about AMD's GPUs: the processes that compute on them, their
 * architecture, and the XGMI links between them. A process has queues on a device from its first use
 * until it exits, busy or not, and they are visible to all users. Processes that only render have none.
 */
typedef struct AldGpuKfd AldGpuKfd;

AldGpuKfd *ald_gpu_kfd_new(int root);
void ald_gpu_kfd_free(AldGpuKfd *kfd);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGpuKfd, ald_gpu_kfd_free)

/* Reads the topology if it has changed since the last call. Returns whether it has. */
bool ald_gpu_kfd_look(AldGpuKfd *kfd);

/* Returns the compilers' name of the architecture of the card with this PCI address (gfx90a), or NULL. */
const char *ald_gpu_kfd_architecture(const AldGpuKfd *kfd, const char *address);

/* An XGMI link. Partitions are part of their card. */
typedef struct AldGpuKfdLink {
        char *card, *peer;        /* PCI addresses, the lesser first; peer is NULL for the host */
        uint64_t bits_per_second; /* in each direction; absent if unknown */
} AldGpuKfdLink;

/* Returns the links (AldGpuKfdLink), each once. */
const GArray *ald_gpu_kfd_links(const AldGpuKfd *kfd);

/* Scans the processes. Returns what ald_gpu_kfd_look() does. */
bool ald_gpu_kfd_sample(AldGpuKfd *kfd);

/* A process that has queues on a card or its partitions, or holds memory of it. */
typedef struct AldGpuKfdHolder {
        const char *card; /* PCI address; belongs to `kfd` */
        guint process;
        bool has_queues;
        uint64_t memory_bytes; /* absent if the kernel does not report it */
} AldGpuKfdHolder;

/* Returns the holders (AldGpuKfdHolder) at the last scan. */
const GArray *ald_gpu_kfd_holders(const AldGpuKfd *kfd);

/* Returns whether the holders of the card with this PCI address are known. */
bool ald_gpu_kfd_drives(const AldGpuKfd *kfd, const char *address);
