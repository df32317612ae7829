/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "clients/alidadectl/ctl.h"
#include "pki/types.h"

#define ALD_HOME_KEY_GROUP "alidade-tls"
#define ALD_HOME_BROKER_GROUP "mosquitto"
#define ALD_BROKER_PORT "8883"

/* What this machine has of its cluster, and where it lies. */
typedef struct AldHome {
        char *config;    /* /etc/alidade */
        char *folder;    /* CONFIG/cluster */
        char *mosquitto; /* /etc/mosquitto */
        char *avahi;     /* /etc/avahi */
        char *fresh_crl; /* what the cluster service accepted */
        char id[ALD_PKI_ID_SIZE];
        char *name;     /* of the cluster; "" where this machine has joined none */
        char **brokers; /* as the configuration names them */
        FILE *tell;     /* where one is told what was done */
        int lock;
} AldHome;

#define ALD_HOME_INIT       \
        {                   \
                .lock = -1, \
        }

/* Reads where everything is; changes nothing. Functions here complain and return an exit code. */
int ald_home_open(AldHome *home, FILE *tell);

/* The same for one who changes: root only, and one at a time. Makes the folder. */
int ald_home_open_to_change(AldHome *home, FILE *tell);

void ald_home_close(AldHome *home);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldHome, ald_home_close)

/* Whether a file of this folder is there. */
bool ald_home_has(const AldHome *home, const char *name);

/* Whether the key of the cluster's certificate authority lies here. */
bool ald_home_is_authority(const AldHome *home);

/* Makes a folder of root's, and gives it its rights if it is there. */
int ald_home_make_folder(const char *path, mode_t mode);

/* Replaces a file of root's. */
int ald_home_write(const char *path, const char *text, mode_t mode);

/* The group's number, or root's, having said that it is missing. */
gid_t ald_home_group(const char *name);

/* Writes the configuration of the cluster service; what it says of other things stays. */
int ald_home_configure(AldHome *home, const char *name, const char *const *brokers);

/* "2027-12-23", of µs of CLOCK_REALTIME; "?" for what is no date. */
char *ald_home_day(uint64_t usec);

/* One line about what was done. */
void ald_home_tell(const AldHome *home, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* One line about a revocation list. */
void ald_home_tell_list(const AldHome *home, const char *done, const char *path, X509_CRL *crl);

/* Says what failed; `reason` may be NULL, then the errno speaks. */
int ald_home_failed(int r, const char *what, const char *reason);

/* Whether a cluster may be called so. */
bool ald_home_is_name(const char *name);
