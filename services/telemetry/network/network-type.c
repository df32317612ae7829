/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/if_arp.h>

#include "services/telemetry/network/network-type.h"

typedef enum Trait {
        TRAIT_NONE,
        TRAIT_SPEED, /* reports a real speed */
        TRAIT_PAIR,  /* one end of two */
} Trait;

typedef struct Kind {
        const char *name;
        AldInterfaceType type;
        Trait trait;
} Kind;

/* The kernel's names of software interfaces. Hardware has none, except for the kinds at the end. */
static const Kind kinds[] = {
        { "bridge", ALD_INTERFACE_TYPE_BRIDGE, TRAIT_NONE },
        { "openvswitch", ALD_INTERFACE_TYPE_BRIDGE, TRAIT_NONE },
        { "bond", ALD_INTERFACE_TYPE_BOND, TRAIT_SPEED },
        { "team", ALD_INTERFACE_TYPE_BOND, TRAIT_SPEED },
        { "vlan", ALD_INTERFACE_TYPE_VLAN, TRAIT_SPEED },
        { "veth", ALD_INTERFACE_TYPE_VETH, TRAIT_PAIR },
        { "netkit", ALD_INTERFACE_TYPE_VETH, TRAIT_PAIR },
        { "vxcan", ALD_INTERFACE_TYPE_UNKNOWN, TRAIT_PAIR },
        { "dummy", ALD_INTERFACE_TYPE_DUMMY, TRAIT_NONE },
        { "macvlan", ALD_INTERFACE_TYPE_AS_PARENT, TRAIT_SPEED },
        { "macvtap", ALD_INTERFACE_TYPE_AS_PARENT, TRAIT_SPEED },
        { "ipvlan", ALD_INTERFACE_TYPE_AS_PARENT, TRAIT_SPEED },
        { "ipvtap", ALD_INTERFACE_TYPE_AS_PARENT, TRAIT_SPEED },
        { "macsec", ALD_INTERFACE_TYPE_AS_PARENT, TRAIT_SPEED },
        { "amt", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "bareudp", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "erspan", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "geneve", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "gre", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "gretap", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "gtp", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "ip6erspan", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "ip6gre", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "ip6gretap", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "ip6tnl", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "ipip", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "ovpn", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "ovpn-dco", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "ppp", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "sit", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "tun", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "vti", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "vti6", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "vxlan", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "wireguard", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "xfrm", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_NONE },
        { "dsa", ALD_INTERFACE_TYPE_ETHERNET, TRAIT_SPEED },
        { "ipoib", ALD_INTERFACE_TYPE_INFINIBAND, TRAIT_SPEED },
        { "virt_wifi", ALD_INTERFACE_TYPE_WIFI, TRAIT_NONE },
};

/* The names that udev and the kernel have for hardware that looks like Ethernet but is not. */
static const Kind device_types[] = {
        { "wlan", ALD_INTERFACE_TYPE_WIFI, TRAIT_SPEED },
        { "l2tpeth", ALD_INTERFACE_TYPE_TUNNEL, TRAIT_SPEED },
        { "bluetooth", ALD_INTERFACE_TYPE_UNKNOWN, TRAIT_SPEED },
        { "wpan", ALD_INTERFACE_TYPE_UNKNOWN, TRAIT_SPEED },
        { "wwan", ALD_INTERFACE_TYPE_UNKNOWN, TRAIT_SPEED },
};

static const Kind *find_kind(const Kind *table, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++)
                if (g_str_equal(table[i].name, name))
                        return &table[i];
        return NULL;
}

static AldInterfaceType type_by_arp(uint16_t arp_type)
{
        switch (arp_type) {
        case ARPHRD_ETHER:
                return ALD_INTERFACE_TYPE_ETHERNET;
        case ARPHRD_INFINIBAND:
                return ALD_INTERFACE_TYPE_INFINIBAND;
        case ARPHRD_LOOPBACK:
                return ALD_INTERFACE_TYPE_LOOPBACK;
        case ARPHRD_PPP:
        case ARPHRD_SLIP:
        case ARPHRD_TUNNEL:
        case ARPHRD_TUNNEL6:
        case ARPHRD_SIT:
        case ARPHRD_IPGRE:
        case ARPHRD_IP6GRE:
                return ALD_INTERFACE_TYPE_TUNNEL;
        default:
                return ALD_INTERFACE_TYPE_UNKNOWN;
        }
}

static const Kind *kind_of(const AldLinkInfo *info)
{
        return find_kind(kinds, G_N_ELEMENTS(kinds), info->kind);
}

AldInterfaceType ald_link_type(const AldLinkInfo *info, const AldLinkFacts *facts)
{
        const Kind *kind;

        if (*info->kind) {
                kind = kind_of(info);
                return kind ? kind->type : ALD_INTERFACE_TYPE_UNKNOWN;
        }
        if (facts->wireless)
                return ALD_INTERFACE_TYPE_WIFI;
        if (g_strcmp0(facts->driver, "thunderbolt-net") == 0)
                return ALD_INTERFACE_TYPE_THUNDERBOLT;
        if (facts->device_type) {
                kind = find_kind(device_types, G_N_ELEMENTS(device_types), facts->device_type);
                if (kind)
                        return kind->type;
        }
        return type_by_arp(info->arp_type);
}

bool ald_link_reports_speed(const AldLinkInfo *info)
{
        const Kind *kind = kind_of(info);

        if (!*info->kind)
                return info->arp_type != ARPHRD_LOOPBACK;
        return kind && kind->trait == TRAIT_SPEED;
}

bool ald_link_has_ports(const AldLinkInfo *info)
{
        return !g_str_equal(info->kind, "vrf");
}

bool ald_link_has_parent(const AldLinkInfo *info)
{
        const Kind *kind = kind_of(info);

        return info->parent != 0 && !(kind && kind->trait == TRAIT_PAIR);
}
