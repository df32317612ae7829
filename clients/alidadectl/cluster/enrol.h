/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/cluster/exchange.h"
#include "clients/alidadectl/cluster/home.h"

/* What a node does to get in. Functions complain and return an exit code. */

/* The key of this node or, with `broker`, of its broker; made where there is none. */
int ald_enrol_key(const AldHome *home, bool broker, EVP_PKEY **ret);

/* A request for this node and, where there are addresses, its broker. */
int ald_enrol_request(const AldHome *home, char **addresses, char **ret_text);

/* Verifies what came back, and installs it. */
int ald_enrol_accept(AldHome *home, const AldBundle *bundle);

/* Installs certificates of ours, which need no verification, being signed here. */
int ald_enrol_install_node(const AldHome *home, X509 *certificate);
int ald_enrol_install_broker(const AldHome *home, const char *cluster, X509 *certificate);
