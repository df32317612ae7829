/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/record-bus.h"

/* What writing and reading records on the bus share. */

/* The signature of a field's variant. */
const char *ald_record_bus_signature(const AldField *field);

/* Revision and UpdatedUSec, as they lie in the record itself. */
#define ALD_RECORD_BUS_ENVELOPE 2u
extern const AldField ald_record_bus_envelope[ALD_RECORD_BUS_ENVELOPE];
