/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <linux/if.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that the kernel gives any link. */
#define ALD_HARDWARE_ADDRESS_MAX 32u

/* What RTM_NEWLINK tells of one interface. Compared as bytes: what is not set is zero. */
typedef struct AldLinkInfo {
        int index;
        char name[IFNAMSIZ];
        char kind[56];     /* IFLA_INFO_KIND, as long as a module's name; empty for hardware */
        uint16_t arp_type; /* ARPHRD_… */
        bool carrier;      /* up, and with a carrier */
        uint32_t mtu;      /* 0: none */
        int controller;    /* index of the interface that this one is a port of, or 0 */
        int parent;        /* index of the interface below, or 0; never one of another network namespace */
        size_t address_size;
        uint8_t address[ALD_HARDWARE_ADDRESS_MAX];
} AldLinkInfo;

typedef struct AldLinkAddress {
        uint8_t family; /* AF_INET, AF_INET6 */
        uint8_t prefix;
        uint8_t local[16];
        uint8_t peer[16];    /* where not point to point, the same as local */
        unsigned generation; /* for the table of links; 0 from the parser */
} AldLinkAddress;

/*
 * Messages of rtnetlink, whose header must lie wholly within its datagram. -EBADMSG for one that is damaged,
 * -ENOMSG for one that tells something else: of a bridge's port, or only a Wi-Fi event.
 */
int ald_network_parse_link(const struct nlmsghdr *message, AldLinkInfo *ret);
int ald_network_parse_link_gone(const struct nlmsghdr *message, int *ret_index);

/*
 * An address counts as usable unless it may yet prove to be a duplicate, did prove so, or is a temporary one
 * for privacy, which nobody is meant to find this host by.
 */
int ald_network_parse_address(
        const struct nlmsghdr *message, int *ret_index, AldLinkAddress *ret, bool *ret_usable);
