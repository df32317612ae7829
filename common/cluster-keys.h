/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/config.h"

/* Mosquitto's directory and our file in it, on a machine with a broker of the cluster. */
#define ALD_MOSQUITTO_DIR "/etc/mosquitto"
#define ALD_MOSQUITTO_DROP_IN "conf.d/alidade.conf"

/*
 * The keys of [cluster], for the cluster service and for services that read some of them too: each service
 * knows all keys of the groups that it reads, so that it can report misspelt ones. The cluster service passes
 * its functions to check values; other services pass NULL.
 */
#define ALD_CLUSTER_CONFIG_KEYS(refuse_name_, refuse_brokers_, refuse_mirror_)                     \
        { .group = "cluster",                                                                      \
                .key = "name",                                                                     \
                .type = ALD_CONFIG_STRING,                                                         \
                .fallback = "",                                                                    \
                .refuse = refuse_name_ },                                                          \
                { .group = "cluster",                                                              \
                        .key = "brokers",                                                          \
                        .type = ALD_CONFIG_STRV,                                                   \
                        .fallback = "",                                                            \
                        .refuse = refuse_brokers_ },                                               \
                { .group = "cluster",                                                              \
                        .key = "discovery",                                                        \
                        .type = ALD_CONFIG_BOOLEAN,                                                \
                        .fallback = "true",                                                        \
                        .shut = "false" },                                                         \
        {                                                                                          \
                .group = "cluster", .key = "mirror", .type = ALD_CONFIG_STRING, .fallback = "all", \
                .refuse = refuse_mirror_, .shut = "none"                                           \
        }
