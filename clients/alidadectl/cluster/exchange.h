/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include <glib.h>

#define ALD_REQUEST_MAX (192u * 1024)
#define ALD_BUNDLE_MAX (4u * 1024 * 1024)

/*
 * What a node that wants to join sends: certificate requests (PEM), one of the node and maybe one of its
 * broker, after lines "Broker-Address: HOST" with the names of that. A bare request of another tool will do.
 */
typedef struct AldRequest {
        char *node;
        char *broker; /* NULL: none */
        char **addresses;
} AldRequest;

/* Functions return a negative errno and set *ret_reason, to be freed. */
char *ald_request_format(const AldRequest *request);
int ald_request_parse(const char *text, AldRequest *ret, char **ret_reason);
void ald_request_clear(AldRequest *request);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldRequest, ald_request_clear)

/* What it gets back, as JSON. Certificates and the list are PEM; nothing of it is verified here. */
typedef struct AldBundle {
        char *cluster;
        char **brokers;
        char *ca;
        char *crl;
        char *node;
        char *broker; /* NULL: none */
} AldBundle;

char *ald_bundle_format(const AldBundle *bundle);
int ald_bundle_parse(const char *text, size_t n, AldBundle *ret, char **ret_reason);
void ald_bundle_clear(AldBundle *bundle);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldBundle, ald_bundle_clear)
