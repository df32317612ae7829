/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/*
 * What the OpenCL library of this machine, loaded at run time, shows: a record of Message1.OpenclAnswer,
 * without devices if there is no library. -E2BIG if it exceeds the limit of a record.
 */
int ald_opencl_list(AldRecord **ret);
