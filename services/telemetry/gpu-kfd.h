/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * How many processes compute on AMD's GPUs through KFD, the kernel's side of ROCm. A process has queues on a
 * device from when it first uses it to its end, busy or not, and everybody may see them. Processes that only
 * draw have none.
 */
typedef struct AldGpuKfd AldGpuKfd;

AldGpuKfd *ald_gpu_kfd_new(int root);
void ald_gpu_kfd_free(AldGpuKfd *kfd);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGpuKfd, ald_gpu_kfd_free)

/* Looks which processes there are. */
void ald_gpu_kfd_sample(AldGpuKfd *kfd);

/* The numbers of those that had queues on the card with this PCI address, its partitions included, as a set;
 * NULL where KFD does not drive it. */
GHashTable *ald_gpu_kfd_of(const AldGpuKfd *kfd, const char *address);
