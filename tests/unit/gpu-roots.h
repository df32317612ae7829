/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "tests/unit/fake-root.h"

/* Made-up machines with GPUs, after what the drivers of such machines show. */

/* A device on PCI; the driver may be NULL. */
void gpu_root_pci(FakeRoot *root, const char *id, const char *class, const char *vendor, const char *device,
        const char *driver);

/* One file of it. */
void gpu_root_set(FakeRoot *root, const char *id, const char *name, const char *content);

/* Where a device is, before anything else of it: "pci0000:00/0000:00:01.0/0000:01:00.0", from its root
 * complex over all ports. */
void gpu_root_way(FakeRoot *root, const char *way);

/* One end of a link of PCI Express, a device or a port; its files hold each text and a new line, and the
 * present ones are those of the most where they are NULL. */
void gpu_root_link(FakeRoot *root, const char *id, const char *most_lanes, const char *most_rate,
        const char *lanes, const char *rate);

/* Its runtime power management, as "active" and "auto". */
void gpu_root_power(FakeRoot *root, const char *id, const char *status, const char *control);

void gpu_root_host(FakeRoot *root);
void gpu_root_nvidia(FakeRoot *root, const char *id, const char *device, const char *model);
void gpu_root_dual_nvidia(FakeRoot *root);
void gpu_root_radeon(FakeRoot *root);
void gpu_root_iris(FakeRoot *root);
void gpu_root_arc(FakeRoot *root);
void gpu_root_strix_halo(FakeRoot *root);
void gpu_root_mi300a(FakeRoot *root);
/* So many cards, 0000:05:00.0 and on, each in its eight partitions where the mode is not "SPX\n". */
void gpu_root_mi300x(FakeRoot *root, unsigned n, const char *mode);

/* An SR-IOV virtual function of a card; the driver may be NULL. */
void gpu_root_virtual_function(FakeRoot *root, const char *id, const char *card, const char *driver);

/* A process with a queue on the GPU with this number of KFD; and a GPU of its topology. */
void gpu_root_kfd_queue(FakeRoot *root, unsigned process, const char *queue, unsigned gpu);
void gpu_root_kfd_node(FakeRoot *root, unsigned node, unsigned gpu, unsigned location);

/* The version of the GPU of a node, 90402 for gfx942. */
void gpu_root_kfd_version(FakeRoot *root, unsigned node, unsigned version);

/* A link from one node to another, of this type (11 is XGMI), with so many MB/s. `number` is its own below
 * its node. */
void gpu_root_kfd_link(
        FakeRoot *root, unsigned node, unsigned number, unsigned to, unsigned type, unsigned bandwidth);

void gpu_root_gb10(FakeRoot *root);
void gpu_root_raspberry(FakeRoot *root);
void gpu_root_jetson(FakeRoot *root);
void gpu_root_bmc(FakeRoot *root);

/*
 * Turns the main loop until the condition holds; the test fails after 20 s. What is not awaited by the loop
 * itself is looked at every few ms.
 */
typedef bool (*GpuCondition)(void *userdata);
void gpu_wait(GpuCondition holds, void *userdata);
