/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/telemetry/network/network-parse.h"
#include "services/telemetry/network/network-sysfs.h"

#define ALD_LINKS_MAX 1024
#define ALD_LINK_ADDRESSES_MAX 1024

typedef struct AldNetworkLink {
        AldLinkInfo info;
        GArray *addresses;   /* of AldLinkAddress: the usable ones, IPv4 first, each in numerical order */
        GHashTable *refused; /* usable ones beyond the limit, by a hash → generation of the dump that last
                                reported it; or NULL */
        AldLinkFacts facts;  /* filled by the user of the table */
        bool dirty;          /* the kernel reported a change */
        unsigned generation;
} AldNetworkLink;

/* The interfaces of this network namespace as reported by rtnetlink, by increasing index. */
typedef struct AldLinks AldLinks;

AldLinks *ald_links_new(void);
void ald_links_free(AldLinks *links);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLinks, ald_links_free)

size_t ald_links_count(const AldLinks *links);
AldNetworkLink *ald_links_at(const AldLinks *links, size_t i);

/* Returns the link with this index, or NULL. */
AldNetworkLink *ald_links_find(const AldLinks *links, int index);

/*
 * Applies one message. Returns 1 if it changed something, including what is left out, 0 if not, -EBADMSG if
 * it is malformed, -EAGAIN if a dump is needed to fill a place that has become free.
 */
int ald_links_apply(AldLinks *links, const struct nlmsghdr *message);

/* These return the number of interfaces beyond the limit, and the number of usable addresses beyond the limit
 * of the other interfaces. */
size_t ald_links_left_out(const AldLinks *links);
size_t ald_links_addresses_left_out(const AldLinks *links);

/*
 * Sweeping removes everything that no dump has reported since the mark. It returns true if another dump is
 * needed to fill a place that has become free.
 */
void ald_links_mark(AldLinks *links);
bool ald_links_sweep_links(AldLinks *links);
bool ald_links_sweep_addresses(AldLinks *links);
