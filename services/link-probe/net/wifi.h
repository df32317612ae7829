/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The generation of Wi-Fi (4 to 7) that an interface and its access point use now, as reported by nl80211; 0
 * if unknown: before the first data, or if several stations differ. */
unsigned ald_wifi_generation(const char *interface);
