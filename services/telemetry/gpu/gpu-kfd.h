/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * How many processes compute on AMD's GPUs through KFD, the kernel's side of ROCm. A process has queues on a
 * device from its first use until it exits, busy or not, and they are visible to all users. Processes that
 * only render have none.
 */
typedef struct AldGpuKfd AldGpuKfd;

AldGpuKfd *ald_gpu_kfd_new(int root);
void ald_gpu_kfd_free(AldGpuKfd *kfd);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGpuKfd, ald_gpu_kfd_free)

/* Scans the processes. */
void ald_gpu_kfd_sample(AldGpuKfd *kfd);

/* The pids of the processes that had queues on the card with this PCI address or its partitions, as a set;
 * NULL if KFD does not drive it. */
GHashTable *ald_gpu_kfd_of(const AldGpuKfd *kfd, const char *address);
