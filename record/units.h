/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/schema.h"

/*
 * The units of figures: how a figure is written for people (record/figure-text.h) everywhere, and how it is
 * converted to a metric. JSON has the unconverted number; the name of the field ends in its unit. units.c has
 * one entry, ald_unit_NAME, for each Unit of the XML. schema.h declares them, and each field points at its
 * own.
 */

typedef enum AldUnitStyle {
        ALD_UNIT_STYLE_DIGITS, /* 1.50, 62.7, 128; a whole number of the first of several symbols */
        ALD_UNIT_STYLE_TENTHS, /* 1.5, 2, 13: one decimal below 10, unless it is 0; 1.84 of a later symbol */
        ALD_UNIT_STYLE_WHOLE,  /* 61 */
        ALD_UNIT_STYLE_DURATION, /* 2 h 42 min */
        ALD_UNIT_STYLE_TIME,     /* 2027-12-23 18:02:11 UTC */
} AldUnitStyle;

#define ALD_UNIT_ENDINGS_MAX 9u

struct AldUnit {
        const char *name; /* the Unit of the XML: "bits per second" */

        /* The endings of names of fields in this unit, for fields that this version does not know. */
        const char *endings[ALD_UNIT_ENDINGS_MAX];

        /* For texts that people read. */
        const char *const *symbols; /* "b/s", "kb/s" …; a single "" for a plain number */
        double factor;              /* from the value of a field to the first symbol; 0: 1 */
        double step;                /* from each symbol to the next */
        AldUnitStyle style;
        bool is_signed; /* a negative value is possible */
        bool is_real;   /* its fields are never integers; JSON has 12.0 */

        /* For metrics, which use base units, and bytes instead of bits. */
        const char *metric_words; /* the unit in names of fields; left out of the name of the metric */
        const char *metric_base;  /* the base unit, which the name ends in */
        int64_t metric_factor;    /* of the value, which is then divided by 10^metric_decimals */
        unsigned metric_decimals;
};
