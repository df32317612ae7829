/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "state-client/model.h"

/* One reading of the whole state into a model, which must outlive it. */
typedef struct AldStateReading AldStateReading;

/* Called when all is read, or with the problem why it could not be. It must not free the reading. */
typedef void (*AldStateRead)(const char *problem, void *userdata);

int ald_state_reading_new(
        AldService *service, AldModel *model, AldStateRead ended, void *userdata, AldStateReading **ret);
void ald_state_reading_free(AldStateReading *reading);
