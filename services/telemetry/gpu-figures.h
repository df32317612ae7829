/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/* Figures that no device can have, whatever a driver or a file reports, become absent. */
void ald_gpu_figures_check(AldDevice *device);
