/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pki/types.h"

#define ALD_REQUEST_MAX (192u * 1024)
#define ALD_BUNDLE_MAX (4u * 1024 * 1024)

#define ALD_REQUEST_DAYS 7u

typedef enum AldRequestPurpose {
        ALD_REQUEST_JOIN,
        ALD_REQUEST_RENEW,
        ALD_REQUEST_UNSTATED, /* made by another tool */
} AldRequestPurpose;

/*
 * A node's request to join, or to renew its certificates. It is one certificate request, whose contents are
 * signed by the key of the node: the request and the addresses of its broker, its name, the purpose and the
 * time. Other text in the file is ignored. A request made by another tool works for a node without a broker.
 */
typedef struct AldRequest {
        char id[ALD_PKI_ID_SIZE];
        AldRequestPurpose purpose;
        uint64_t made;    /* µs; 0: not stated */
        EVP_PKEY *node;   /* only the public key, if the request was read */
        EVP_PKEY *broker; /* the same; NULL: none */
        char **addresses; /* of the broker */
        char *name;       /* of the machine, safe to be shown; NULL: not stated */
} AldRequest;

/* Functions return a negative errno and set *ret_reason, which the caller frees. Making a request uses id,
 * purpose, keys, addresses and name. Reading refuses requests made more than ALD_REQUEST_DAYS ago, or more
 * than a day ahead. */
int ald_request_make(const AldRequest *request, uint64_t now, char **ret_text, char **ret_reason);
int ald_request_parse(const char *text, uint64_t now, AldRequest *ret, char **ret_reason);
/* Reads the signed statement of a request whose id and key were read before. */
int ald_request_read_statement(const char *text, uint64_t now, AldRequest *request, char **ret_reason);

void ald_request_clear(AldRequest *request);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldRequest, ald_request_clear)

/* The answer to a request, as JSON. Certificates and the list are PEM; nothing is verified here. */
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
