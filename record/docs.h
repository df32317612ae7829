/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/field.h"

/*
 * The documentation in dbus-interfaces/ of records, their rows and the properties of services, for programs
 * that pass them on to others. Generated.
 */

typedef enum AldFieldMetric {
        ALD_FIELD_METRIC_GAUGE,     /* for a text: it describes what it belongs to */
        ALD_FIELD_METRIC_COUNTER,   /* it counts up since some start */
        ALD_FIELD_METRIC_TIMESTAMP, /* CLOCK_REALTIME in µs */
        ALD_FIELD_METRIC_NONE,      /* nothing that other programs keep */
} AldFieldMetric;

typedef struct AldFieldDocs {
        const char *words; /* the name: rtt_p50_nsec */
        const char *help;  /* the first sentence */
        AldFieldMetric metric;
} AldFieldDocs;

typedef struct AldStructDocs {
        const AldStruct *type;
        const char
                *words; /* of a record, its kind: link_socket; of rows, the field that holds them: devices */
        const char *help;
        const AldFieldDocs *fields; /* in the order of the fields of the type */
} AldStructDocs;

/* Ends with NULL. */
extern const AldStructDocs *const ald_struct_docs[];

/* Finds those of a record, the rows of a record, or the properties of a service; NULL for any other type. */
const AldStructDocs *ald_docs_of(const AldStruct *type);

/* Whether a history keeps the values of this field of the type: a number that is no time and has another
 * metric than none. */
bool ald_docs_is_series(const AldStruct *type, const AldField *field);
