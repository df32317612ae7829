/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/model.h"

/* What the two ends of a link negotiated, beside what it delivers; judged as the findings judge it. */
typedef struct AldNegotiated {
        double rate; /* of the slower end, as far as they are known; NaN where neither is */
        bool wifi;   /* at either end */
} AldNegotiated;

/* By the record of the link, and those of its sink, which may be NULL. */
AldNegotiated ald_negotiated_of(const json_t *fields, const AldEntity *sink, bool rdma);

/* Percent of it in the direction that has less; NaN where that is not known. */
double ald_negotiated_share(const AldNegotiated *negotiated, double upload, double download);

/* Whether a direction falls well short. */
bool ald_negotiated_falls_short(const AldNegotiated *negotiated, double upload, double download);
