/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* The mounts that this process sees, as the kernel lists them, without any request to a file system. */

typedef enum AldMountClass {
        ALD_MOUNT_LOCAL,     /* on block devices, or in memory */
        ALD_MOUNT_REMOTE,    /* in another machine or another process, which may never answer */
        ALD_MOUNT_AUTOMATIC, /* an automount point where nothing is mounted yet */
} AldMountClass;

typedef struct AldMount {
        uint64_t id;           /* as stx_mnt_id of statx() */
        unsigned major, minor; /* of the file system; all mounts of one file system have the same */
        char *point;           /* its mount point; an absolute path */
        char *type;            /* "ext4" */
        char *source;          /* "/dev/sda1", "server:/export" */
        AldMountClass class;
        bool is_network;         /* of a type that reads from another machine */
        bool keeps_access_times; /* reading a file there does not change it */
        bool compresses;         /* btrfs: new files may be compressed */
} AldMount;

/* Returns a list of AldMount from the text of /proc/self/mountinfo. Lines that cannot be parsed are left
 * out. */
GPtrArray *ald_mounts_parse(const char *text);

/* Returns the mount that holds an absolute path without "." and "..", by its text alone; NULL if there is
 * none. */
const AldMount *ald_mounts_find(const GPtrArray *mounts, const char *path);

/* Returns whether something is mounted exactly at the path. */
bool ald_mounts_is_point(const GPtrArray *mounts, const char *path);
