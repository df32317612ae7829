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
 * What a node sends that wants to join, or new certificates. It is one certificate request, signed by the
 * key of the node with all that is in it: the request of its broker, the addresses of that, the purpose and
 * the time. What stands beside it in a file is not read. One that another tool made will do for a node
 * without a broker.
 */
typedef struct AldRequest {
        char id[ALD_PKI_ID_SIZE];
        AldRequestPurpose purpose;
        uint64_t made;    /* µs; 0: it does not say */
        EVP_PKEY *node;   /* its public part, where it was read */
        EVP_PKEY *broker; /* the same; NULL: none */
        char **addresses; /* of the broker */
} AldRequest;

/* Functions return a negative errno and set *ret_reason, to be freed. Making takes id, purpose, keys and
 * addresses. Reading refuses what was made more than ALD_REQUEST_DAYS ago, or a day ahead. */
int ald_request_make(const AldRequest *request, uint64_t now, char **ret_text, char **ret_reason);
int ald_request_parse(const char *text, uint64_t now, AldRequest *ret, char **ret_reason);
/* The same of what the key signed beside id and key, which have been read. */
int ald_request_read_statement(const char *text, uint64_t now, AldRequest *request, char **ret_reason);

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
