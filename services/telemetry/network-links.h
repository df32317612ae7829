/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/telemetry/network-parse.h"
#include "services/telemetry/network-sysfs.h"

#define ALD_LINKS_MAX 1024
#define ALD_LINK_ADDRESSES_MAX 1024

typedef struct AldLink {
        AldLinkInfo info;
        GArray *addresses;   /* of AldLinkAddress: the usable ones, IPv4 first, each in numerical order */
        GHashTable *refused; /* usable ones that found no room, by a hash → when a dump last told; or NULL */
        AldLinkFacts facts;  /* left to the user of the table */
        bool dirty;          /* the kernel reported a change */
        unsigned generation;
} AldLink;

/* The interfaces of this network namespace as rtnetlink tells of them, by rising index. */
typedef struct AldLinks AldLinks;

AldLinks *ald_links_new(void);
void ald_links_free(AldLinks *links);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLinks, ald_links_free)

size_t ald_links_count(const AldLinks *links);
AldLink *ald_links_at(const AldLinks *links, size_t i);

/* NULL where there is none. */
AldLink *ald_links_find(const AldLinks *links, int index);

/*
 * Takes one message in. Returns 1 where it changed something, what is left out included, 0 where not,
 * -EBADMSG where it is damaged, -EAGAIN where a dump is needed to fill room that has become free.
 */
int ald_links_apply(AldLinks *links, const struct nlmsghdr *message);

/* Whether something had to be left out since the last dump began. */
bool ald_links_overflowed(const AldLinks *links);

/* How many interfaces found no room, and how many usable addresses of those that did. */
size_t ald_links_left_out(const AldLinks *links);
size_t ald_links_addresses_left_out(const AldLinks *links);

/*
 * What a dump does not tell of between mark and sweep is gone; until then nothing is missing. Sweeping
 * returns true where another dump is needed to fill room that has become free.
 */
void ald_links_mark(AldLinks *links);
bool ald_links_sweep_links(AldLinks *links);
bool ald_links_sweep_addresses(AldLinks *links);
