/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* The identity of the machine from its hardware and system files; NULL if unknown. */
typedef struct AldFacts {
        char *host_name;
        char *model;
        char *chip;
        char *vendor;
        char *chassis;
        char *hypervisor;
        char *operating_system;
        char *kernel_release;
        char *architecture;
        char *boot_id;
} AldFacts;

/* Reads everything below a root; see services/common/sysroot.h. */
void ald_facts_collect(int root, AldFacts *ret);
void ald_facts_clear(AldFacts *facts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldFacts, ald_facts_clear)

/* Returns a checksum of the files of DMI and os-release, which may change while the machine runs. Logs
 * nothing, so that it can be called repeatedly. Free with g_free(). */
char *ald_facts_sum_sources(int root);

/* Returns only the host name of the kernel, which may change at any time. Free with g_free(). */
char *ald_facts_read_host_name(int root);
