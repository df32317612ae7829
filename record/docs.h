/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/field.h"

/*
 * The documentation in dbus-interfaces/ of records, their rows and the properties of services, for programs
 * that pass it on to others. Generated.
 */

typedef enum AldFieldMetric {
        ALD_FIELD_METRIC_GAUGE,     /* of a text: it describes the object it belongs to */
        ALD_FIELD_METRIC_COUNTER,   /* it counts up since some start */
        ALD_FIELD_METRIC_TIMESTAMP, /* CLOCK_REALTIME in µs */
        ALD_FIELD_METRIC_NONE,      /* not exported as a metric, and not kept in a history */
} AldFieldMetric;

typedef struct AldFieldDocs {
        const char *words; /* the name: rtt_p50_nsec */
        const char *help;  /* the first sentence */
        AldFieldMetric metric;
} AldFieldDocs;

typedef struct AldStructDocs {
        const AldStruct *type;
        const char
                *words; /* for a record its kind: link_socket; for rows the field that holds them: devices */
        const char *help;
        const AldFieldDocs *fields; /* in the order of the fields of the type */
} AldStructDocs;

/* The array ends with NULL. */
extern const AldStructDocs *const ald_struct_docs[];

/* Finds the documentation of a record, of the rows of a record, or of the properties of a service; NULL for
 * any other type. */
const AldStructDocs *ald_docs_of(const AldStruct *type);

/* Returns whether a history keeps the values of this field: it is a number other than a time, and its metric
 * is not NONE. */
bool ald_docs_is_series(const AldStruct *type, const AldField *field);
