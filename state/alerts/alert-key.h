/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/*
 * Returns what an alert is about as a text that stays the same as long as the finding does: its Id and the
 * nodes, link, device or switch, but no figures, and no nodes where only their number changes. For a link
 * that is asymmetric it is the same in both directions, and an expired certificate has another key than one
 * that will expire. Free with g_free().
 */
char *ald_alert_key(const AldFindingRow *row);

/* Shortens a key: paths and names may be long, and keys of all alerts are saved, so a long key is cut, and
 * its checksum follows. A key that an older version saved may be longer; that of ald_alert_key() stays as it
 * is. */
char *ald_alert_key_shorten(const char *key);
