/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/stat.h>

#include "probes/storage/disks.h"

/*
 * The file systems that hold models, and the files on them. The search reads only names and inodes, never
 * contents. It follows no symbolic link, crosses no mount, and does not touch a file system whose disk may
 * sleep.
 */

#define ALD_MODEL_BYTES_MIN (UINT64_C(64) << 20) /* smaller files are not taken for models */
#define ALD_DIRECT_ALIGNMENT_MIN 4096u

/* The reasons for which there is no figure of a file system, or of a path. */
typedef enum AldStorageObstacle {
        ALD_STORAGE_READABLE,
        ALD_STORAGE_NOT_FOUND,     /* the path is missing, or not a directory */
        ALD_STORAGE_NOT_MOUNTED,   /* it is an automount point */
        ALD_STORAGE_LINK,          /* the path leads through a symbolic link */
        ALD_STORAGE_NO_MODEL,      /* there is no model below it */
        ALD_STORAGE_NO_PERMISSION, /* models, or directories, cannot be read by this user */
        ALD_STORAGE_ACCESS_TIME,   /* reading would change an access time on the disk */
        ALD_STORAGE_ASLEEP,        /* its disk sleeps, or may do so */
        ALD_STORAGE_UNKNOWN_DISK,  /* its disk cannot be determined */
        ALD_STORAGE_MEMORY,        /* reads may come from memory */
        ALD_STORAGE_PAGE_CACHE,    /* reading would go through the page cache */
        ALD_STORAGE_FRESH,         /* its models were written just now, and may not be on the disk yet */
        ALD_STORAGE_HOLES,         /* parts of its models are not on the disk */
        _ALD_STORAGE_OBSTACLE_MAX,
} AldStorageObstacle;

/* Returns the word for an obstacle, such as "asleep". */
const char *ald_storage_obstacle_to_string(AldStorageObstacle obstacle);

typedef struct AldModelFile {
        char *path;
        const AldMount *mount;
        uint64_t device, inode; /* st_dev and st_ino */
        uint64_t size;
        bool by_content; /* its first bytes, not its name, must show that it is a model */
} AldModelFile;

typedef struct AldModelFileSystem {
        const AldMount *mount; /* that of the first path there */
        AldStorageDisks disks;
        bool is_listed;   /* it was searched; if not, the next two are unknown */
        uint64_t n_files; /* models found, readable or not */
        uint64_t bytes;
        GPtrArray *files;            /* of AldModelFile that can be measured, the largest first */
        AldStorageObstacle obstacle; /* ALD_STORAGE_READABLE if there is such a file */
        char *reason;                /* in words; NULL if there is no obstacle */

        uint64_t largest_refused; /* the size of the file that the obstacle is about */
        GHashTable *seen;         /* its files, by device and inode */
} AldModelFileSystem;

/* A path without a file system to report. */
typedef struct AldStorageProblem {
        char *path;
        AldStorageObstacle obstacle;
        char *reason;
} AldStorageProblem;

typedef struct AldStorageSearch {
        GPtrArray *mounts;       /* of AldMount */
        GPtrArray *file_systems; /* of AldModelFileSystem, in the order of the paths */
        GPtrArray *problems;     /* of AldStorageProblem */
        uint64_t deadline;       /* for all paths together; see ald_now() */
} AldStorageSearch;

typedef struct AldStorageSearchOptions {
        const char *root; /* taken for "/" */
        const char *const *paths;
        const char *only;         /* mount point of the only file system to search; NULL for all */
        const char *const *still; /* see ald_storage_disks_read() */
        bool optional;            /* paths that are missing, or are remote, are left out silently */
        bool with_loop;           /* measures loop devices, too, for tests */
        uint64_t now_realtime;    /* µs */
} AldStorageSearchOptions;

/* Returns a negative errno if the mounts cannot be listed. */
int ald_storage_search(const AldStorageSearchOptions *options, AldStorageSearch *ret);
void ald_storage_search_clear(AldStorageSearch *search);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldStorageSearch, ald_storage_search_clear)

/* Normalizes an absolute path, by removing "." and redundant slashes. Returns NULL if it is not absolute, or
 * has "..". */
char *ald_storage_normalize(const char *path);

/* Returns the number of the device of a file. */
uint64_t ald_storage_device(const struct statx *stx);

/* Returns the obstacle, if any, to measuring with a regular file, as far as statx() shows it. Whether its
 * access time would change is judged by its owner, for a user that is not root. */
AldStorageObstacle ald_storage_assess(
        const AldMount *mount, const struct statx *stx, uint64_t now_realtime, uid_t user);

/* Returns the alignment of direct reads of the file: offset, length and memory must be multiples of it. */
unsigned ald_storage_alignment(const struct statx *stx);

/* Opens an absolute normal path below `root` without following any symbolic link and without mounting
 * anything. Returns -ELOOP if a link is in the way. */
int ald_storage_open(const char *root, const char *path, int flags);

#define ALD_STORAGE_STATX_MASK (STATX_BASIC_STATS | STATX_MNT_ID | STATX_DIOALIGN)
