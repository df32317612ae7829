/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "clients/desktop/layout/box-grid.h"
#include "clients/desktop/layout/labels.h"

/* Between labels, and between a label and a card. */
#define ALD_LABEL_GAP 4.0

typedef struct AldLabelCandidate {
        AldBox box;
        double cost;
        bool covers_head; /* an arrow head or a mark, of any line */
} AldLabelCandidate;

/* What does not move while labels are placed. */
typedef struct AldLabelScene AldLabelScene;

/* The input must outlive it. */
AldLabelScene *ald_label_scene_new(const AldLabelsInput *input);
void ald_label_scene_free(AldLabelScene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLabelScene, ald_label_scene_free)

/* The places, clear of cards, that a label may have (of AldLabelCandidate), the best one first. */
GArray *ald_label_candidates(const AldLabelScene *scene, size_t line, AldLabelKind kind);
