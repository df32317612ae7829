/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/*
 * The processes that hold a compute engine of a DRM or accel device, according to their file descriptors in
 * /proc/PID/fdinfo. Reading it requires ptrace access to the process: an unprivileged service finds only its
 * own.
 */
typedef struct AldGpuClients AldGpuClients;

AldGpuClients *ald_gpu_clients_new(int root);
void ald_gpu_clients_free(AldGpuClients *clients);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGpuClients, ald_gpu_clients_free)

/* Scans the processes, at most once in ALD_GPU_CLIENTS_EVERY_USEC. This may wake devices. */
#define ALD_GPU_CLIENTS_EVERY_USEC (INT64_C(5) * 1000 * 1000)
void ald_gpu_clients_sample(AldGpuClients *clients, int64_t now_usec);

/* Forgets the last scan, and allows the next one at once. */
void ald_gpu_clients_forget(AldGpuClients *clients);

/* Returns whether this driver reports compute engines in fdinfo. */
bool ald_gpu_clients_know_driver(const char *driver);

/* Returns the pids of the processes that computed on the device with this PCI address, as a set; NULL if
 * there is none. */
GHashTable *ald_gpu_clients_of(const AldGpuClients *clients, const char *address);

/* Returns whether it is certain that no other process computed on the device. */
bool ald_gpu_clients_are_complete(const AldGpuClients *clients, const char *address);

/* The contents of fdinfo of one file descriptor of a DRM device. */
typedef struct AldGpuClient {
        char address[32]; /* of the device on PCI */
        bool has_compute; /* the driver reports a compute engine */
        bool computed;    /* which has worked for this file descriptor */
} AldGpuClient;

/* Returns false if the text does not describe such a file descriptor. */
bool ald_gpu_parse_client(const char *text, AldGpuClient *ret);
