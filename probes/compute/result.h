/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "probes/compute/figures.h"

/* What is known of a device; the names are those of org.alidade.Node1.Compute. What is not known is not
 * there. */
json_t *ald_compute_to_json(const AldDevice *device, const AldFigures *figures);

/* The same for people, several lines; freed by g_free(). */
char *ald_compute_to_text(const AldDevice *device, const AldFigures *figures);

/* A table of devices for people; freed by g_free(). */
char *ald_compute_list_to_text(const GPtrArray *devices);
