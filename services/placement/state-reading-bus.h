/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "state-client/model.h"

/* Reads the whole state once into a model, which must outlive the reading. */
typedef struct AldStateReading AldStateReading;

/* Called when everything has been read, or with the problem that prevented it. It must not free the
 * reading. */
typedef void (*AldStateRead)(const char *problem, void *userdata);

int ald_state_reading_new(
        AldService *service, AldModel *model, AldStateRead ended, void *userdata, AldStateReading **ret);
void ald_state_reading_free(AldStateReading *reading);
