/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "clients/cluster/changes.h"
#include "clients/command-line/ctl.h"
#include "pki/types.h"

#define ALD_HOME_KEY_GROUP "alidade-tls"
#define ALD_HOME_BROKER_GROUP "mosquitto"
#define ALD_HOME_UNFINISHED "unfinished" /* in its folder: services have not read all of it yet */
#define ALD_HOME_RENEWAL "renewal"       /* in its folder: the request that the cluster service publishes */
#define ALD_HOME_RENEWED "renewed"       /* the folder with what was signed for others, the same */
#define ALD_BROKER_PORT "8883"

/* The files of this machine's cluster, and their folders. */
typedef struct AldHome {
        char *config;    /* /etc/alidade */
        char *folder;    /* CONFIG/cluster */
        char *mosquitto; /* /etc/mosquitto */
        char *avahi;     /* /etc/avahi */
        char *systemd;   /* /etc/systemd/system */
        char *fresh_crl; /* the list that the cluster service accepted */
        char *requests;  /* on the authority: a folder of requests to sign */
        char *renewed;   /* the certificates that the cluster service received for this machine */
        char id[ALD_PKI_ID_SIZE];
        char *name;     /* of the cluster; "" if this machine has not joined one */
        char **brokers; /* as the configuration names them */
        bool anonymous; /* set before it is opened: the machine may have no id, and none is read */
        AldChanges *changes;
        bool interrupted; /* the previous run was interrupted: services may not have read what it wrote */
        bool interrupted_broker; /* this includes mosquitto, even if it no longer has files of ours */
        bool interrupted_start;  /* and it was to be started */
        int lock;
} AldHome;

#define ALD_HOME_INIT       \
        {                   \
                .lock = -1, \
        }

/* Finds all files and changes nothing. Functions here report errors and return an exit code. */
int ald_home_open(AldHome *home, AldChanges *changes);

/* The same in order to change them: root only, and one at a time. Creates the folder. */
int ald_home_open_to_change(AldHome *home, AldChanges *changes);

void ald_home_close(AldHome *home);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldHome, ald_home_close)

/* Whether a file of this folder exists. */
bool ald_home_has(const AldHome *home, const char *name);

/* The configuration of a broker of the cluster, for mosquitto, and whether this machine has it. */
char *ald_home_drop_in(const AldHome *home);
bool ald_home_is_broker(const AldHome *home);

/* Whether the key of the cluster's certificate authority is on this machine. */
bool ald_home_is_authority(const AldHome *home);

/* Notes that services have something to read, so that a later run makes them read it if this one is
 * interrupted. Call ald_home_end() when they have read it. */
int ald_home_begin(const AldHome *home);
int ald_home_begin_start(const AldHome *home); /* mosquitto is to be started, too */
int ald_home_end(const AldHome *home);

/* None of the following changes anything with --check. */

/* Creates a folder of root, or sets the mode of an existing one. */
int ald_home_make_folder(const AldHome *home, const char *path, mode_t mode);

/* Replaces a file of root without reporting it, as part of another reported change. */
int ald_home_write(const AldHome *home, const char *path, const char *text, mode_t mode);

/* Replaces a file of root if it differs, and reports that. */
int ald_home_put(const AldHome *home, AldChangeKind kind, const char *path, const char *text, mode_t mode,
        const char *format, ...) G_GNUC_PRINTF(6, 7);

/* The same for a file that services read; see ald_services_apply(). */
int ald_home_install(const AldHome *home, AldChangeKind kind, const char *path, const char *text, mode_t mode,
        const char *format, ...) G_GNUC_PRINTF(6, 7);

/* Removes a file or an empty folder if it exists, and reports that. */
int ald_home_remove(const AldHome *home, const char *path);

/*
 * Calls the function for each entry of the folder of requests, even if it failed for an earlier one, and
 * returns the first failure. The cluster service owns that folder and could replace it with a link, so
 * entries are removed by the descriptor that the function gets.
 */
typedef int (*AldHomeRequestFunction)(const AldHome *home, int folder, const char *name, void *userdata);
int ald_home_each_request(const AldHome *home, AldHomeRequestFunction function, void *userdata);

/* Such a function. */
int ald_home_remove_request(const AldHome *home, int folder, const char *name, void *unused);

/* The number of the group; if it is missing, reports that and returns the group of root. */
gid_t ald_home_group(const char *name);

/* Writes the configuration of the cluster service, and keeps other settings in it. */
int ald_home_configure(AldHome *home, const char *name, const char *const *brokers);

/* "2027-12-23" for µs of CLOCK_REALTIME; "?" if it is not a date. */
char *ald_home_day(uint64_t usec);

/* Prints one line about something that was kept. */
void ald_home_tell(const AldHome *home, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Prints one line about the next step, if something was changed. */
void ald_home_tell_next(const AldHome *home, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* "number 2, 1 certificate revoked" */
char *ald_home_describe_list(X509_CRL *crl);

/* Reports what failed; if `reason` is NULL, with the text of the errno. */
int ald_home_failed(int r, const char *what, const char *reason);

/* Whether this is a valid cluster name. */
bool ald_home_is_name(const char *name);
