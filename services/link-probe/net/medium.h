/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/*
 * The media of the interfaces of this machine (state/link/path-end.h), according to its Node1.Network record,
 * sysfs for bonds and Thunderbolt, and nl80211. A medium is kept until another one was found twice, or none
 * three times, since drivers and services report nonsense while they restart.
 */
typedef struct AldMedia AldMedia;

typedef struct AldMedium {
        const char *type;         /* as in that record; NULL if unknown */
        uint64_t generation;      /* of Thunderbolt or Wi-Fi; may be absent */
        uint64_t bits_per_second; /* negotiated; may be absent */
} AldMedium;

/* Returns the generation of Wi-Fi, as ald_wifi_generation() does. */
typedef unsigned (*AldWifiLook)(const char *interface);

AldMedia *ald_media_new(int root, AldWifiLook wifi_generation);
void ald_media_free(AldMedia *media);

/* Looks up the medium of an interface. The network may be NULL if it is not known. The type belongs to the
 * media. */
AldMedium ald_media_find(AldMedia *media, const AldNetwork *network, const char *interface);
