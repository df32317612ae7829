/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The generation of Wi-Fi (4 to 7) that an interface and its access point speak now, as nl80211 tells; 0
 * where that is not known: before the first data, or where several stations differ. */
unsigned ald_wifi_generation(const char *interface);
