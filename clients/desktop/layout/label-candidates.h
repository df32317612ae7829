/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "clients/desktop/layout/box-grid.h"
#include "clients/desktop/layout/labels.h"

/* The least distance between labels, and between a label and a card. */
#define ALD_LABEL_GAP 4.0

typedef struct AldLabelCandidate {
        AldBox box;
        double cost;
        bool covers_head; /* an arrow head or a mark, of any line */
} AldLabelCandidate;

/* Everything that keeps its place while labels are placed. */
typedef struct AldLabelScene AldLabelScene;

/* The input must outlive the scene. */
AldLabelScene *ald_label_scene_new(const AldLabelsInput *input);
void ald_label_scene_free(AldLabelScene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLabelScene, ald_label_scene_free)

/* Returns the places, clear of cards, that a label may have, the best one first: an array of
 * AldLabelCandidate. */
GArray *ald_label_candidates(const AldLabelScene *scene, size_t line, AldLabelKind kind);
