/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The peer of the state service: org.alidade.Bench1, the cheapest service that moves the same bytes. Put()
 * takes what PutRecords() does and looks at none of it; Read() reads each value and keeps none; Get() gives
 * the values of GetManagedObjects() as an a{sa{sv}}. It also passes on each PropertiesChanged of an object
 * PEER_SOURCE, as one of PEER_SHOWN, to whom and as often as the state service does, and looks at none of it:
 * to the last caller of Subscribe() of org.alidade.Bench1.Relay, to everybody and to org.alidade.Cluster1.
 * Never returns.
 */
#define PEER_SOURCE "/org/alidade/Bench1"
#define PEER_SHOWN "/org/alidade/Bench1/node/b17eb17eb17eb17eb17eb17eb17eb17e"

void run_peer(void) __attribute__((noreturn));
