/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "services/link-probe/gate.h"

struct AldGate {
        GHashTable *counts; /* place → how many, never 0 */
        unsigned total;
};

void ald_gate_place(const struct sockaddr *address, char ret[static ALD_PLACE_MAX])
{
        struct in6_addr bytes = { 0 };

        *ret = '\0';
        if (address->sa_family == AF_INET) {
                inet_ntop(AF_INET, &((const struct sockaddr_in *) address)->sin_addr, ret, ALD_PLACE_MAX);
                return;
        }
        bytes = ((const struct sockaddr_in6 *) address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(&bytes)) {
                inet_ntop(AF_INET, bytes.s6_addr + 12, ret, ALD_PLACE_MAX);
                return;
        }
        /* On one link there is no such prefix: there a host is told by the whole address. */
        if (!IN6_IS_ADDR_LINKLOCAL(&bytes))
                memset(bytes.s6_addr + 8, 0, 8);
        inet_ntop(AF_INET6, &bytes, ret, ALD_PLACE_MAX);
}

AldGate *ald_gate_new(void)
{
        AldGate *gate = g_new0(AldGate, 1);

        gate->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return gate;
}

void ald_gate_free(AldGate *gate)
{
        if (!gate)
                return;
        g_hash_table_unref(gate->counts);
        g_free(gate);
}

bool ald_gate_enter(AldGate *gate, const char *place)
{
        unsigned n = GPOINTER_TO_UINT(g_hash_table_lookup(gate->counts, place));

        if (gate->total >= ALD_GATE_MAX || n >= ALD_GATE_PER_PLACE_MAX)
                return false;
        g_hash_table_replace(gate->counts, g_strdup(place), GUINT_TO_POINTER(n + 1));
        gate->total++;
        return true;
}

void ald_gate_leave(AldGate *gate, const char *place)
{
        unsigned n = GPOINTER_TO_UINT(g_hash_table_lookup(gate->counts, place));

        g_assert(n > 0);
        gate->total--;
        if (n == 1)
                g_hash_table_remove(gate->counts, place);
        else
                g_hash_table_replace(gate->counts, g_strdup(place), GUINT_TO_POINTER(n - 1));
}

bool ald_gate_is_tls(const unsigned char *bytes, size_t n)
{
        /* A record of the handshake, of whatever version it says. */
        return n >= 2 && bytes[0] == 0x16 && bytes[1] == 0x03;
}

bool ald_gate_is_rdma(const unsigned char *bytes, size_t n)
{
        return n >= ALD_GATE_RDMA_SIZE && memcmp(bytes, ALD_GATE_RDMA, ALD_GATE_RDMA_SIZE) == 0;
}
