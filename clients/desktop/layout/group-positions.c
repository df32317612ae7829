/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/layout/group-positions.h"
#include "clients/desktop/layout/packing.h"

#define CARD_GAP 24.0
#define FRAME_PADDING 16.0
#define FRAME_GAP 32.0
/* The greatest number of rows that is tried for a group. */
#define MAX_ROWS 48u

typedef struct Member {
        unsigned group;
        size_t node;
} Member;

static int compare_members(gconstpointer a, gconstpointer b)
{
        const Member *left = a, *right = b;

        if (left->group != right->group)
                return left->group < right->group ? -1 : 1;
        return left->node < right->node ? -1 : left->node > right->node;
}

/* Returns all nodes, ordered by group. */
static Member *list_members(const AldPositionsInput *input)
{
        Member *members = g_new(Member, input->n_nodes);

        for (size_t i = 0; i < input->n_nodes; i++)
                members[i] = (Member){ input->groups ? input->groups[i] : 0, i };
        qsort(members, input->n_nodes, sizeof(*members), compare_members);
        return members;
}

static GArray *list_groups(const Member *members, size_t n)
{
        GArray *groups = g_array_new(FALSE, TRUE, sizeof(AldPositionsGroup));

        for (size_t i = 0; i < n; i++) {
                if (i == 0 || members[i].group != members[i - 1].group)
                        g_array_append_val(groups, ((AldPositionsGroup){ .number = members[i].group }));
                g_array_index(groups, AldPositionsGroup, groups->len - 1).n_nodes++;
        }
        return groups;
}

static size_t count_columns(const AldPositionsGroup *group, size_t rows)
{
        return (group->n_nodes + rows - 1) / rows;
}

/* Makes the frames of groups of up to this many rows each. Returns the height of the smallest window for
 * them. */
static double arrange_frames(
        const GArray *groups, size_t rows, const AldPositionsInput *input, AldBox *frames)
{
        for (guint i = 0; i < groups->len; i++) {
                const AldPositionsGroup *group = &g_array_index(groups, AldPositionsGroup, i);
                size_t columns = count_columns(group, rows), used = (group->n_nodes + columns - 1) / columns;

                frames[i] = (AldBox){ 0, 0,
                        columns * (input->card_width + CARD_GAP) - CARD_GAP + 2 * FRAME_PADDING,
                        used * (input->card_height + CARD_GAP) - CARD_GAP + 2 * FRAME_PADDING +
                                ALD_GROUP_CAPTION };
        }
        return ald_boxes_pack(frames, groups->len, FRAME_GAP, input->aspect);
}

/* Returns the number of rows that makes all groups appear largest. It is the same for each group, since
 * groups of equal height leave the least empty space. */
static size_t best_rows(const GArray *groups, const AldPositionsInput *input, AldBox *frames)
{
        size_t best = 1, largest = 1;
        double best_height = G_MAXDOUBLE;

        for (guint i = 0; i < groups->len; i++)
                largest = MAX(largest, g_array_index(groups, AldPositionsGroup, i).n_nodes);
        for (size_t rows = 1; rows <= MIN(largest, MAX_ROWS); rows++) {
                double height = arrange_frames(groups, rows, input, frames);

                if (height < best_height) {
                        best_height = height;
                        best = rows;
                }
        }
        return best;
}

static void place_members(AldPositions *positions, const AldPositionsInput *input,
        const AldPositionsGroup *group, size_t columns, const Member *members)
{
        for (size_t i = 0; i < group->n_nodes; i++)
                positions->cards[members[i].node] = (AldBox){
                        group->frame.x + FRAME_PADDING + i % columns * (input->card_width + CARD_GAP),
                        group->frame.y + FRAME_PADDING + ALD_GROUP_CAPTION +
                                i / columns * (input->card_height + CARD_GAP),
                        input->card_width,
                        input->card_height,
                };
}

void ald_groups_place(AldPositions *positions, const AldPositionsInput *input)
{
        g_autofree Member *members = list_members(input);
        g_autoptr(GArray) groups = list_groups(members, input->n_nodes);
        g_autofree AldBox *frames = g_new(AldBox, groups->len);
        size_t rows = best_rows(groups, input, frames), first = 0;

        arrange_frames(groups, rows, input, frames);
        for (guint i = 0; i < groups->len; i++) {
                AldPositionsGroup *group = &g_array_index(groups, AldPositionsGroup, i);

                group->frame = frames[i];
                place_members(positions, input, group, count_columns(group, rows), members + first);
                first += group->n_nodes;
        }
        if (input->groups) {
                positions->n_groups = groups->len;
                positions->groups = (AldPositionsGroup *) g_array_free(g_steal_pointer(&groups), FALSE);
        }
}
