/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/* Ends a service that the bus starts on demand, after a minute without anything to do. */
typedef struct AldIdle AldIdle;

AldIdle *ald_idle_new(AldService *service);
void ald_idle_free(AldIdle *idle);

/* There is nothing to do from now on, as at first; and there is something again. */
void ald_idle_begin(AldIdle *idle);
void ald_idle_end(AldIdle *idle);
