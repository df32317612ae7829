/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the generation of Wi-Fi (4 to 7) that an interface and its access point use now, as reported by
 * nl80211; 0 if unknown: before the first data, or if several stations differ. */
unsigned ald_wifi_generation(const char *interface);

/* The generic netlink messages by which it is read. */

#define ALD_WIFI_REQUEST_MAX 128u

/* The generation of the stations read so far; initialize with zeros. */
typedef struct AldWifiStations {
        unsigned generation; /* 4 to 7; 0: unknown */
        unsigned several;    /* the stations differ */
} AldWifiStations;

/* Requests the number of the family; returns the length of the request. */
size_t ald_wifi_family_request(char buffer[static ALD_WIFI_REQUEST_MAX]);
int ald_wifi_family_answer(const void *bytes, size_t n, uint16_t *ret_family);

/* Requests all stations of an interface; for a client this is its access point. */
size_t ald_wifi_stations_request(uint16_t family, unsigned index, char buffer[static ALD_WIFI_REQUEST_MAX]);
/* Reads one datagram, which may contain several messages. 1 if more will follow, 0 at the end. */
int ald_wifi_stations_answer(const void *bytes, size_t n, AldWifiStations *stations);
