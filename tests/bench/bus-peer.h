/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The peer of the state service: org.alidade.Bench1, the cheapest service that moves the same bytes. Put()
 * takes what PutRecords() does and looks at none of it; Read() reads each value and keeps none; Get() gives
 * the values of GetManagedObjects() as an a{sa{sv}}. Never returns.
 */
void run_peer(void) __attribute__((noreturn));
