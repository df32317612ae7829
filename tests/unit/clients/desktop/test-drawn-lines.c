/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "clients/desktop/topology/canvas-scene.h"

#define N_NODES 8u
#define LETTER 7.0
#define AROUND 14.0

/* A cluster and its lines. */
typedef struct Cluster {
        AldTopology *topology;
        AldTopologySummary *summary;
        GPtrArray *lines;
        char ids[N_NODES][8];
} Cluster;

static void cluster_clear(Cluster *cluster)
{
        g_ptr_array_unref(cluster->lines);
        ald_topology_summary_free(cluster->summary);
        ald_topology_free(cluster->topology);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Cluster, cluster_clear)

static void add_edge(Cluster *cluster, unsigned source, unsigned sink, const AldEdgeRow *like)
{
        AldEdgeRow *edge = g_memdup2(like, sizeof *like);

        edge->source = cluster->ids[source];
        edge->sink = cluster->ids[sink];
        g_ptr_array_add(cluster->topology->edges, edge);
}

/* All nodes are joined with all others by edges like these. */
static void make_cluster_with(
        Cluster *cluster, const AldEdgeRow *likes, size_t n_likes, const AldRows *findings)
{
        cluster->topology = ald_topology_new();
        for (unsigned i = 0; i < N_NODES; i++) {
                AldGraphNodeRow *node = g_new(AldGraphNodeRow, 1);

                *node = (AldGraphNodeRow) ALD_GRAPH_NODE_ROW_INIT;
                g_snprintf(cluster->ids[i], sizeof cluster->ids[i], "node%u", i);
                node->node = node->name = cluster->ids[i];
                g_ptr_array_add(cluster->topology->nodes, node);
        }
        for (unsigned a = 0; a < N_NODES; a++)
                for (unsigned b = 0; b < N_NODES; b++)
                        for (size_t i = 0; i < n_likes && a != b; i++)
                                add_edge(cluster, a, b, &likes[i]);
        cluster->summary = ald_topology_summarize(cluster->topology);
        cluster->lines = ald_drawn_lines(cluster->summary, cluster->topology, findings);
}

static void make_cluster(Cluster *cluster, const AldEdgeRow *likes, size_t n_likes)
{
        make_cluster_with(cluster, likes, n_likes, NULL);
}

static AldEdgeRow edge_of(const char *kind, const char *presence, uint64_t rate, uint64_t rtt)
{
        AldEdgeRow edge = ALD_EDGE_ROW_INIT;

        edge.kind = kind;
        edge.presence = presence;
        edge.bits_per_second = rate;
        edge.rtt_p50_nsec = rtt;
        return edge;
}

static double measure(const char *text, gpointer userdata)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        glong most = 0;

        for (size_t i = 0; lines[i]; i++)
                most = MAX(most, g_utf8_strlen(lines[i], -1));
        return (double) most * LETTER + AROUND;
}

static double width_of_ruler(AldLabelRuler ruler)
{
        g_autofree char *text = ald_label_ruler_text(ruler);

        return measure(text, NULL);
}

static AldCanvasScene *make_scene(const Cluster *cluster, double aspect)
{
        const guint selected[2] = { G_MAXUINT, G_MAXUINT };
        AldSceneSizes sizes = { .card_width = 208,
                .card_height = 116,
                .label_height = 20,
                .aspect = aspect,
                .measure = measure };
        AldCanvasScene *scene = ald_canvas_scene_new();

        for (AldLabelRuler ruler = 0; ruler < ALD_N_RULERS; ruler++)
                sizes.label_widths[ruler] = width_of_ruler(ruler);

        ald_canvas_scene_arrange(scene, N_NODES, cluster->lines, &sizes);
        ald_canvas_scene_connect(scene, cluster->lines, selected, &sizes);
        return scene;
}

static const char *const kinds[] = { "socket", "rdma", "thunderbolt" };
static const char *const presences[] = { "live", "stale", "unmeasured", "candidate", "unknown", "offline" };

/* Whatever a label says has room in it. */
static void test_every_text_fits(void)
{
        static const uint64_t rates[] = { 3, 88800, 999499, 48200000, 9410000000, 97300000000,
                ALD_ABSENT_UINT64 },
                              rtts[] = { 2, 3400, 177600, 3999000, 88800000, ALD_ABSENT_UINT64 };

        for (size_t i = 0; i < G_N_ELEMENTS(rates) * G_N_ELEMENTS(rtts) * G_N_ELEMENTS(presences); i++) {
                uint64_t rate = rates[i % G_N_ELEMENTS(rates)],
                         rtt = rtts[i / G_N_ELEMENTS(rates) % G_N_ELEMENTS(rtts)];
                const char *presence = presences[i / G_N_ELEMENTS(rates) / G_N_ELEMENTS(rtts)];
                AldEdgeRow likes[G_N_ELEMENTS(kinds)];
                g_auto(Cluster) cluster = { 0 };

                for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
                        likes[k] = edge_of(kinds[k], presence, rate, rtt);
                /* One after the other, since a cable that something else uses has no line. */
                make_cluster(&cluster, &likes[i % 2 * 2], i % 2 ? 1 : 2);
                for (guint k = 0; k < cluster.lines->len; k++) {
                        const AldDrawnLine *line = cluster.lines->pdata[k];

                        for (size_t label = 0; label < ALD_N_LABEL_KINDS; label++)
                                if (line->texts[label] && line->rulers[label] != ALD_RULER_WORDS)
                                        g_assert_cmpfloat(width_of_ruler(line->rulers[label]), >=,
                                                measure(line->texts[label], NULL));
                }
        }
}

static void assert_apart(const AldCanvasScene *scene)
{
        const AldLabel *labels = scene->labels[0];
        guint n = scene->lines->len * ALD_N_LABEL_KINDS;

        for (guint i = 0; i < n; i++) {
                for (guint k = 0; k < i; k++)
                        g_assert_true(!labels[i].shown || !labels[k].shown ||
                                      !ald_boxes_overlap(&labels[i].box, &labels[k].box, 0));
                for (guint k = 0; k < scene->n_nodes; k++)
                        g_assert_true(
                                !labels[i].shown || !ald_boxes_overlap(&labels[i].box, &scene->cards[k], 0));
        }
}

/* Words are wider than any figure, and are shown nevertheless. */
static void test_words_are_shown(void)
{
        const AldEdgeRow likes[] = { edge_of("socket", "unmeasured", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64),
                edge_of("rdma", "unmeasured", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64) };

        for (size_t i = 0; i < 2; i++) {
                g_auto(Cluster) cluster = { 0 };
                AldCanvasScene *scene;
                unsigned shown = 0;

                make_cluster(&cluster, likes, G_N_ELEMENTS(likes));
                scene = make_scene(&cluster, i == 0 ? 1.5 : 0.6);
                for (guint k = 0; k < scene->lines->len; k++) {
                        const AldDrawnLine *line = scene->lines->pdata[k];
                        const AldLabel *label = &scene->labels[k][ALD_LABEL_MIDDLE];

                        g_assert_cmpstr(line->texts[ALD_LABEL_MIDDLE], ==,
                                line->kind == ALD_LINE_RDMA ? "RDMA: not measured" : "not measured");
                        if (label->shown)
                                g_assert_cmpfloat(
                                        label->box.width, >=, measure(line->texts[ALD_LABEL_MIDDLE], NULL));
                        shown += label->shown;
                }
                assert_apart(scene);
                g_test_message("%u of %u", shown, scene->lines->len);
                g_assert_cmpuint(shown, ==, scene->lines->len);
                ald_canvas_scene_free(scene);
        }
}

/* Neither another figure nor a node that becomes stale moves a label; the first figure may. */
static void test_figures_move_nothing(void)
{
        static const struct {
                const char *presence;
                uint64_t rate, rtt;
                bool alike;
        } cases[] = {
                { "live", 48200000, 3999000, true },
                { "stale", 97300000000, 2, true },
                { "unmeasured", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, false },
                { "candidate", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, false },
        };
        g_auto(Cluster) before = { 0 };
        const AldEdgeRow like = edge_of("rdma", "live", 9410000000, 3400);
        AldCanvasScene *scene;

        make_cluster(&before, &like, 1);
        scene = make_scene(&before, 1.5);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const AldEdgeRow other = edge_of("rdma", cases[i].presence, cases[i].rate, cases[i].rtt);
                g_auto(Cluster) after = { 0 };
                AldCanvasScene *moved;

                make_cluster(&after, &other, 1);
                moved = make_scene(&after, 1.5);
                g_assert_cmpint(ald_drawn_lines_are_alike(before.lines, after.lines), ==, cases[i].alike);
                g_assert_cmpmem(moved->cards, N_NODES * sizeof *moved->cards, scene->cards,
                        N_NODES * sizeof *scene->cards);
                if (cases[i].alike)
                        g_assert_cmpmem(moved->labels, moved->lines->len * sizeof *moved->labels,
                                scene->labels, scene->lines->len * sizeof *scene->labels);
                ald_canvas_scene_free(moved);
        }
        ald_canvas_scene_free(scene);
}

/* A line that becomes possible instead of not measured has a label of another width. */
static void test_other_words_are_noticed(void)
{
        const AldEdgeRow unmeasured = edge_of("rdma", "unmeasured", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64),
                         possible = edge_of("rdma", "candidate", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        g_auto(Cluster) before = { 0 }, after = { 0 }, same = { 0 };

        make_cluster(&before, &unmeasured, 1);
        make_cluster(&same, &unmeasured, 1);
        make_cluster(&after, &possible, 1);
        g_assert_true(ald_drawn_lines_are_alike(before.lines, same.lines));
        g_assert_false(ald_drawn_lines_are_alike(before.lines, after.lines));
}

/* A line is as grave as the finding about it; asymmetry alone is a notice, with neither mark nor colour. */
static void test_trouble_is_that_of_the_finding(void)
{
        static const char *const severities[] = { "error", "warning", "notice", NULL };
        static const AldLineTrouble troubles[] = { ALD_LINE_TROUBLE_ERROR, ALD_LINE_TROUBLE_WARNING,
                ALD_LINE_TROUBLE_NOTICE, ALD_LINE_TROUBLE_NONE };

        for (size_t i = 0; i < G_N_ELEMENTS(severities); i++) {
                const char *const nodes[] = { "node1", "node0", NULL };
                const AldEdgeRow like = edge_of("socket", "live", 9410000000, 3400);
                AldFindingRow row = ALD_FINDING_ROW_INIT;
                AldRows findings = { &ald_finding_row_struct, &row, severities[i] ? 1 : 0 };
                g_auto(Cluster) cluster = { 0 };
                const AldDrawnLine *line;

                row.id = "link-asymmetric";
                row.severity = severities[i];
                row.nodes = nodes;
                make_cluster_with(&cluster, &like, 1, &findings);
                line = cluster.lines->pdata[0];
                g_assert_cmpint(line->trouble, ==, troubles[i]);
                g_assert_cmpint(ald_line_has_mark(line), ==, i < 2);
                g_assert_cmpint(
                        ((const AldDrawnLine *) cluster.lines->pdata[1])->trouble, ==, ALD_LINE_TROUBLE_NONE);
        }
}

/* What a screen reader reads, with the age. */
static void test_tooltip(void)
{
        AldEdgeRow like = edge_of("socket", "live", 9410000000, 3400);
        g_auto(Cluster) cluster = { 0 };
        g_autofree char *text = NULL;

        like.measured_usec = 1000000000;
        make_cluster(&cluster, &like, 1);
        text = ald_drawn_line_tooltip(cluster.lines->pdata[0], 1000000000 + 300e6);
        g_assert_cmpstr(text, ==,
                "node0 and node1 over sockets, live: 9.41 Gb/s to node1, 9.41 Gb/s to node0, half a round "
                "trip "
                "1.70 µs\nMeasured: 5 min ago");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/drawn-lines/every-text-fits", test_every_text_fits);
        g_test_add_func("/drawn-lines/words-are-shown", test_words_are_shown);
        g_test_add_func("/drawn-lines/figures-move-nothing", test_figures_move_nothing);
        g_test_add_func("/drawn-lines/other-words-are-noticed", test_other_words_are_noticed);
        g_test_add_func("/drawn-lines/trouble-is-that-of-the-finding", test_trouble_is_that_of_the_finding);
        g_test_add_func("/drawn-lines/tooltip", test_tooltip);
        return g_test_run();
}
