/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/cluster/cluster-files.h"
#include "clients/cluster/enrolment/request-and-bundle.h"

/* Enrolment on the side of the node. Functions report errors and return an exit code. */

/* Returns the key of this node or, with `broker`, of its broker; creates it if there is none. */
int ald_enrol_key(const AldClusterFiles *files, bool broker, EVP_PKEY **ret);

/* Returns whether this is the key on this machine; it may be NULL. */
bool ald_enrol_has_key(const AldClusterFiles *files, bool broker, EVP_PKEY *key);

/* Makes a request for this node and, if there are addresses, its broker. */
int ald_enrol_request(
        const AldClusterFiles *files, AldRequestPurpose purpose, char **addresses, char **ret_text);

/* Verifies a bundle and installs it. Without `renew`, keeps a certificate here that expires later. */
int ald_enrol_accept(AldClusterFiles *files, const AldBundle *bundle, bool renew);

/* Takes certificates that were signed for a request published by this machine, as PEM: one for the node,
 * optionally one for its broker, and some for the bridges of that. Verifies them, and installs those that
 * expire later than the present ones. Sets *node and *broker if one of these is installed, even if another
 * one fails. */
int ald_enrol_take_renewed(const AldClusterFiles *files, const char *text, bool *node, bool *broker);

/* Returns whether this file contains this certificate. */
bool ald_enrol_is_installed(const char *path, X509 *certificate);

/* Replaces one certificate of this machine, and nothing else. */
int ald_enrol_replace(const AldClusterFiles *files, bool broker, X509 *certificate);

/* Returns when the first of the certificates of this node, its broker and the bridge of that expires, in µs;
 * 0 if there is none. */
uint64_t ald_enrol_expiry(const AldClusterFiles *files);

/* Install certificates of this machine, which need no verification since they were signed here. */
int ald_enrol_install_node(const AldClusterFiles *files, X509 *certificate);
int ald_enrol_install_broker(const AldClusterFiles *files, const char *cluster, X509 *certificate);
