/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All lengths are in pixels; y grows downwards. */
typedef struct AldVector {
        double x, y; /* a point, or a direction */
} AldVector;

typedef struct AldBox {
        double x, y, width, height; /* from its upper left corner */
} AldBox;

static inline AldVector ald_vector_add(AldVector a, AldVector b)
{
        return (AldVector){ a.x + b.x, a.y + b.y };
}

static inline AldVector ald_vector_sub(AldVector a, AldVector b)
{
        return (AldVector){ a.x - b.x, a.y - b.y };
}

static inline AldVector ald_vector_scale(AldVector vector, double by)
{
        return (AldVector){ vector.x * by, vector.y * by };
}

static inline AldVector ald_vector_mix(AldVector a, AldVector b, double t)
{
        return (AldVector){ a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t };
}

static inline double ald_vector_dot(AldVector a, AldVector b)
{
        return a.x * b.x + a.y * b.y;
}

double ald_vector_length(AldVector vector);

/* Returns a vector of length 1 in the same direction; one to the right if the vector has no length. */
AldVector ald_vector_unit(AldVector vector);

/* Turns the vector by 90°, clockwise on the screen. */
static inline AldVector ald_vector_turn(AldVector vector)
{
        return (AldVector){ -vector.y, vector.x };
}

static inline AldBox ald_box_around(AldVector center, double width, double height)
{
        return (AldBox){ center.x - width / 2, center.y - height / 2, width, height };
}

static inline AldVector ald_box_center(const AldBox *box)
{
        return (AldVector){ box->x + box->width / 2, box->y + box->height / 2 };
}

AldBox ald_box_grow(const AldBox *box, double by);

/* Returns the smallest box that contains both. */
AldBox ald_box_join(const AldBox *a, const AldBox *b);

/* Returns the smallest box that contains all; an empty one if there are none. */
AldBox ald_boxes_bounds(const AldBox *boxes, size_t n);

/* Returns whether every number is finite and the size is not negative. */
bool ald_box_is_valid(const AldBox *box);

/* Returns whether less than `gap` is between the boxes in both directions. */
static inline bool ald_boxes_overlap(const AldBox *a, const AldBox *b, double gap)
{
        return a->x < b->x + b->width + gap && b->x < a->x + a->width + gap &&
               a->y < b->y + b->height + gap && b->y < a->y + a->height + gap;
}

static inline bool ald_box_contains(const AldBox *outer, const AldBox *inner)
{
        return inner->x >= outer->x && inner->y >= outer->y &&
               inner->x + inner->width <= outer->x + outer->width &&
               inner->y + inner->height <= outer->y + outer->height;
}

/*
 * Finds the part of a segment that lies in a box, as fractions of the way from its first to its second point.
 * Returns false if there is none.
 */
bool ald_box_clip(const AldBox *box, AldVector from, AldVector to, double *ret_enter, double *ret_leave);
