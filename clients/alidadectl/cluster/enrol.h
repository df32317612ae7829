/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/cluster/exchange.h"
#include "clients/alidadectl/cluster/home.h"

/* What a node does to get in. Functions complain and return an exit code. */

/* The key of this node or, with `broker`, of its broker; made where there is none. */
int ald_enrol_key(const AldHome *home, bool broker, EVP_PKEY **ret);

/* Whether the key that lies here is this one, which may be NULL. */
bool ald_enrol_has_key(const AldHome *home, bool broker, EVP_PKEY *key);

/* A request for this node and, where there are addresses, its broker. */
int ald_enrol_request(const AldHome *home, AldRequestPurpose purpose, char **addresses, char **ret_text);

/* Verifies what came back, and installs it; unless it is to renew, a certificate here that ends later stays.
 */
int ald_enrol_accept(AldHome *home, const AldBundle *bundle, bool renew);

/* What was signed for a request that this machine published, as PEM: one certificate for the node and, maybe,
 * one for its broker and some for bridges of that. Verifies and installs those that end later than what is
 * here. */
int ald_enrol_take_renewed(const AldHome *home, const char *text, bool *ret_node, bool *ret_broker);

/* Whether this file has this certificate. */
bool ald_enrol_is_installed(const char *path, X509 *certificate);

/* Replaces one certificate of ours, and nothing beside it. */
int ald_enrol_replace(const AldHome *home, bool broker, X509 *certificate);

/* When the first of the certificates of this node, its broker and the bridge of that ends; 0 where there is
 * none. µs. */
uint64_t ald_enrol_expiry(const AldHome *home);

/* Installs certificates of ours, which need no verification, being signed here. */
int ald_enrol_install_node(const AldHome *home, X509 *certificate);
int ald_enrol_install_broker(const AldHome *home, const char *cluster, X509 *certificate);
