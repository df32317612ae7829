/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The generic netlink messages by which nl80211 tells how an interface of Wi-Fi and its peers speak. */

#define ALD_WIFI_REQUEST_MAX 128u

/* What the stations that were read so far speak; begins as 0. */
typedef struct AldWifiStations {
        unsigned generation; /* 4 to 7; 0: none told */
        unsigned several;    /* not all the same */
} AldWifiStations;

/* Which number the family has; returns the length of the request. */
size_t ald_wifi_family_request(char buffer[static ALD_WIFI_REQUEST_MAX]);
int ald_wifi_family_answer(const void *bytes, size_t n, uint16_t *ret_family);

/* All stations of an interface: of a client that is its access point. */
size_t ald_wifi_stations_request(uint16_t family, unsigned index, char buffer[static ALD_WIFI_REQUEST_MAX]);
/* What came at once, which may be several messages. 1 where there is more to come, 0 at the end. */
int ald_wifi_stations_answer(const void *bytes, size_t n, AldWifiStations *stations);
