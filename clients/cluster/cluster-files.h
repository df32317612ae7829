/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "clients/cluster/changes.h"
#include "clients/command-line/ctl.h"
#include "pki/types.h"

#define ALD_FILES_KEY_GROUP "alidade-tls"
#define ALD_FILES_BROKER_GROUP "mosquitto"
#define ALD_FILES_UNFINISHED "unfinished" /* in its folder: services have not read all of it yet */
#define ALD_FILES_RENEWAL "renewal"       /* in its folder: the request that the cluster service publishes */
#define ALD_FILES_RENEWED "renewed" /* in its folder: the folder with certificates for others, the same */
#define ALD_BROKER_PORT "8883"

/* The files of this machine's cluster, and their folders. */
typedef struct AldClusterFiles {
        char *config;       /* /etc/alidade */
        char *folder;       /* CONFIG/cluster */
        char *mosquitto;    /* /etc/mosquitto */
        char *avahi;        /* /etc/avahi */
        char *systemd;      /* /etc/systemd/system */
        char *received_crl; /* the revocation list that the cluster service accepted */
        char *requests;     /* on the authority: the folder of requests to sign */
        char *renewed;      /* the certificates that the cluster service received for this machine */
        char id[ALD_PKI_ID_SIZE];
        char *name;      /* of the cluster; "" if this machine has not joined one */
        char **brokers;  /* as in the configuration */
        bool without_id; /* set it before opening: the machine may have no id, and none is read */
        AldChanges *changes;
        bool interrupted; /* the previous run was interrupted: services may not have read what it wrote */
        bool interrupted_broker; /* this includes mosquitto, even if it no longer has files of ours */
        bool interrupted_start;  /* and it was to be started */
        int lock;
} AldClusterFiles;

#define ALD_FILES_INIT      \
        {                   \
                .lock = -1, \
        }

/* Finds all files and changes nothing. Functions here report errors and return an exit code. */
int ald_files_open(AldClusterFiles *files, AldChanges *changes);

/* Opens the files in order to change them: for root only, and one process at a time. Creates the folder. */
int ald_files_open_to_change(AldClusterFiles *files, AldChanges *changes);

void ald_files_close(AldClusterFiles *files);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldClusterFiles, ald_files_close)

/* Returns whether a file exists in the folder of the cluster. */
bool ald_files_has(const AldClusterFiles *files, const char *name);

/* Return the path of mosquitto's configuration for the cluster, and whether this machine has it. */
char *ald_files_drop_in(const AldClusterFiles *files);
bool ald_files_is_broker(const AldClusterFiles *files);

/* Returns whether the key of the cluster's certificate authority is on this machine. */
bool ald_files_is_authority(const AldClusterFiles *files);

/* Records that services have something to read, so that a later run makes them read it if this one is
 * interrupted. Call ald_files_end() when they have read it. */
int ald_files_begin(const AldClusterFiles *files);
int ald_files_begin_start(const AldClusterFiles *files); /* also records that mosquitto is to be started */
int ald_files_end(const AldClusterFiles *files);

/* The following functions change nothing with --check. */

/* Creates a folder of root, or sets the mode of an existing one. */
int ald_files_make_folder(const AldClusterFiles *files, const char *path, mode_t mode);

/* Replaces a file of root without reporting it, as part of another reported change. */
int ald_files_write(const AldClusterFiles *files, const char *path, const char *text, mode_t mode);

/* Replaces a file of root if it differs, and reports that. */
int ald_files_put(const AldClusterFiles *files, AldChangeKind kind, const char *path, const char *text,
        mode_t mode, const char *format, ...) G_GNUC_PRINTF(6, 7);

/* Replaces a file that services read; see ald_services_apply(). */
int ald_files_install(const AldClusterFiles *files, AldChangeKind kind, const char *path, const char *text,
        mode_t mode, const char *format, ...) G_GNUC_PRINTF(6, 7);

/* Removes a file or an empty folder if it exists, and reports that. */
int ald_files_remove(const AldClusterFiles *files, const char *path);

/*
 * Calls the function for each entry of the folder of requests, even if it failed for an earlier one, and
 * returns the first failure. The cluster service owns that folder and could replace it with a link, so
 * entries are removed by the descriptor that the function gets.
 */
typedef int (*AldRequestFunction)(const AldClusterFiles *files, int folder, const char *name, void *userdata);
int ald_files_each_request(const AldClusterFiles *files, AldRequestFunction function, void *userdata);

/* Removes a request; to be passed to ald_files_each_request(). */
int ald_files_remove_request(const AldClusterFiles *files, int folder, const char *name, void *unused);

/* Returns the number of the group. If it does not exist, reports that and returns the group of root. */
gid_t ald_files_group(const char *name);

/* Writes the configuration of the cluster service, and keeps other settings in it. */
int ald_files_configure(AldClusterFiles *files, const char *name, const char *const *brokers);

/* Returns whether this is a valid cluster name. */
bool ald_cluster_name_is_valid(const char *name);
