/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <linux/if.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's maximum for any link (MAX_ADDR_LEN). */
#define ALD_HARDWARE_ADDRESS_MAX 32u

/* The contents of RTM_NEWLINK for one interface. It is compared as bytes, so unused bytes are zero. */
typedef struct AldLinkInfo {
        int index;
        char name[IFNAMSIZ];
        char kind[56];     /* IFLA_INFO_KIND, as long as a module's name; empty for hardware */
        uint16_t arp_type; /* ARPHRD_… */
        bool enabled;      /* administratively up */
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
        uint8_t peer[16];    /* the same as local unless point to point */
        unsigned generation; /* for the table of links; 0 from the parser */
} AldLinkAddress;

/*
 * These parse rtnetlink messages, whose header must be completely within its datagram. They return -EBADMSG
 * for a malformed message, -ENOMSG for one about something else, such as a port of a bridge or only a Wi-Fi
 * event.
 */
int ald_network_parse_link(const struct nlmsghdr *message, AldLinkInfo *ret);
int ald_network_parse_link_gone(const struct nlmsghdr *message, int *ret_index);

/*
 * Parses a message about an address. It is usable unless duplicate address detection is still running or has
 * failed, or it is a temporary (privacy) address, which is not meant for incoming connections.
 */
int ald_network_parse_address(
        const struct nlmsghdr *message, int *ret_index, AldLinkAddress *ret, bool *ret_usable);
