/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/* Discards impossible figures of a driver or a file. */
void ald_gpu_figures_check(AldDevice *device);
