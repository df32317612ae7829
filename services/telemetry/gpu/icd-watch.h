/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Watches the folder in which OpenCL drivers register, /etc/OpenCL/vendors or OCL_ICD_VENDORS, even if it
 * does not exist yet. `changed` is called from the main loop when a file there is added, changed or removed,
 * and once more some time later, since a package manager may unpack the library of a driver after the file
 * that names it.
 */
typedef struct AldIcdWatch AldIcdWatch;

/* Never returns NULL. If the kernel has no watches left, no changes are noticed. */
AldIcdWatch *ald_icd_watch_new(void (*changed)(void *userdata), void *userdata);
void ald_icd_watch_free(AldIcdWatch *watch);
