/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/text/describe.h"
#include "clients/alidadectl/watch/terminal.h"
#include "clients/alidadectl/watch/view.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/columns/finding-columns.h"
#include "clients/common/node-summary.h"
#include "record/character.h"
#include "tests/unit/model-maker.h"

#define NOW 1.7e15

/* Nothing known is "–" everywhere and 0 nowhere. */
static void test_absent(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) out = g_string_new(NULL);
        AldView view = { .model = model, .now_usec = NOW, .columns = 100 };
        g_autoptr(GPtrArray) lines = NULL;
        const char *row = NULL;

        model_put_node(model, 1, "{'Node1.Memory':{}}");
        lines = ald_view_lines(&view);
        for (guint i = 0; i < lines->len; i++)
                if (g_str_has_prefix(lines->pdata[i], "00000000"))
                        row = lines->pdata[i];
        g_assert_nonnull(row);
        g_assert_nonnull(strstr(row, ALD_ABSENT_TEXT));
        g_assert_null(strpbrk(row + 8, "0123456789"));
        ald_describe_node(out, model, model_node(model, 1), 80, NOW);
        ald_describe_cluster(out, model, 80);
        g_assert_nonnull(strstr(out->str, "Memory: " ALD_ABSENT_TEXT "\n"));
        g_assert_nonnull(strstr(out->str, "FP16 compute: " ALD_ABSENT_TEXT "\n"));
        g_assert_null(strstr(out->str, ": 0"));
}

static char *describe(const char *records)
{
        g_autoptr(AldModel) model = ald_model_new();
        GString *out = g_string_new(NULL);

        model_put_node(model, 1, records);
        ald_describe_node(out, model, model_node(model, 1), 0, NOW);
        return g_string_free(out, FALSE);
}

/* What is known to be none is none, unlike what is not known. */
static void test_known_to_have_no_gpu(void)
{
        g_autofree char *none = describe("{'Node1.Backends':{'Devices':[]}}");
        g_autofree char *cpu_only = describe("{'Node1.Backends':{'Devices':[{'Id':'cpu','Class':'cpu'}]}}");
        g_autofree char *unknown = describe("{'Node1.Memory':{}}");

        g_assert_nonnull(strstr(none, " GPU: none\n"));
        g_assert_nonnull(strstr(cpu_only, " GPU: none\n"));
        g_assert_nonnull(strstr(unknown, " GPU: " ALD_ABSENT_TEXT "\n"));
}

/* What a device has of its own and what it shares are two things, and an instance is part of its card. */
static void test_memory_of_devices(void)
{
        static const char devices[] =
                "{'Node1.Backends':{'Devices':["
                "{'Id':'a','Class':'gpu','Name':'Halo','Unified':true,'MemoryTotalBytes':103079215104,"
                "'SharedBytes':17179869184},"
                "{'Id':'b','Class':'gpu','Name':'Iris','Unified':true,'SharedBytes':17179869184},"
                "{'Id':'c','Class':'gpu','Name':'Card','Unified':false,'MemoryTotalBytes':8589934592,"
                "'SharedBytes':17179869184},"
                "{'Id':'c/1-0','Class':'gpu','Name':'Part','Parent':'c','MemoryTotalBytes':4294967296}]},"
                "'Node1.System':{'Devices':[{'Id':'a','MemoryUsedBytes':34359738368},"
                "{'Id':'c','Usage':50.0,'ComputeProcesses':2},{'Id':'c/1-0','ComputeProcesses':1}]}}";
        g_autofree char *text = describe(devices);
        g_autoptr(AldModel) model = ald_model_new();
        AldGpuSummary gpus;

        g_assert_nonnull(
                strstr(text, "Halo, 64.0/96.0 GiB free, shares 16.0 GiB of the memory of the host\n"));
        g_assert_nonnull(strstr(text, "Iris, shares the memory of the host\n"));
        g_assert_nonnull(strstr(text, "Card, 50 %, 2 compute processes, "));
        g_assert_nonnull(strstr(text, "8.00 GiB free\n"));
        g_assert_nonnull(strstr(text, "Part, 1 compute process, "));

        model_put_node(model, 1, devices);
        gpus = ald_gpu_summary(model_node(model, 1));
        g_assert_cmpuint(gpus.n, ==, 3);
}

/* A chassis alone says what kind of machine it is. */
static void test_chassis_without_a_model(void)
{
        g_autofree char *alone = describe("{'Node1.Identity':{'Chassis':'vm','Hypervisor':'kvm'}}");
        g_autofree char *nested = describe(
                "{'Node1.Identity':{'Chassis':'container','Hypervisor':'firecracker'}}");
        g_autofree char *with_vendor = describe("{'Node1.Identity':{'Vendor':'ACME','Chassis':'server'}}");

        g_assert_nonnull(strstr(alone, "Model: virtual machine (kvm)\n"));
        g_assert_nonnull(strstr(nested, "Model: container in a virtual machine (firecracker)\n"));
        g_assert_nonnull(strstr(with_vendor, "Model: ACME, server\n"));
}

/* Texts that do more than show themselves, in records and in what this version does not know. */
static const char hostile[] =
        "{'Node1.Identity':{'FriendlyName':'\\u001b[2J','ModelId':'\\u001b]0;x\\u0007\\u202e','Vendor':'"
        "\\u2066',"
        "'Newer':'\\u001b[7m','Lists':[[],{'x':'\\u009b31m'}]},"
        "'Node1.Memory':{'TotalBytes':0,'AvailableBytes':9007199254740992},"
        "'Node1.System':{'CpuUsage':-1e308,'Devices':[{'Id':'x','Usage':1e308,'PowerState':'\\u0007'}]},"
        "'Node1.Backends':{'Devices':[{'Id':'\\u009b31m','Name':'\\u200b','Class':'\\u001b','Driver':'\\n'}]}"
        ","
        "'Node1.Network':{'Interfaces':[{'Id':'\\r','Addresses':['\\u2066'],'Carrier':true}]},"
        "'Node1.Presence':{'State':'\\u001b'},"
        "'Node1.Disk':{'Paths':[{'Id':'/"
        "\\u001b'}]},'Node1.Other':{'Rows':[{'A':{}}],'L':[[]],'T':'\\u001b'}}";

static void assert_harmless(const char *text)
{
        g_assert_true(g_utf8_validate(text, -1, NULL));
        for (const char *p = text; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                g_assert_true(c == '\n' || (c > 0 && c < ALD_N_STYLES) || !ald_character_is_unsafe(c));
        }
}

static void test_hostile(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) out = g_string_new(NULL);
        g_autoptr(GArray) rows = NULL;
        AldView view = { .model = model, .now_usec = NOW, .columns = 60 };
        g_autoptr(GPtrArray) lines = NULL;
        json_t *findings = json_pack("[{s:s,s:[s],s:s,s:s},{}]", "Severity", "\033[7m", "Nodes", "\033",
                "Text", "\a\nx", "Id", "\u202e");

        model_put_node(model, 1, hostile);
        model_set_findings(model, findings);
        lines = ald_view_lines(&view);
        for (guint i = 0; i < lines->len; i++)
                assert_harmless(lines->pdata[i]);
        ald_describe_node(out, model, model_node(model, 1), 60, NOW);
        ald_describe_records(out, model_node(model, 1), model_node(model, 1), 60, NOW);
        rows = ald_finding_list_rows(model, NULL, NULL, NULL);
        ald_describe_findings(out, rows, 60);
        assert_harmless(out->str);
        json_decref(findings);
}

/* That others are shown as they were is said in words, on whatever screen. */
static void test_no_broker(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        json_t *findings = json_pack("[{s:s,s:s,s:s},{s:s,s:s,s:s,s:s}]", "Id", "disk-nearly-full",
                "Severity", "error", "Text", "/ on atlas is full.", "Id", "no-broker", "Severity", "error",
                "Text", "Of another version.", "Remedy", "Of another version.");

        for (unsigned i = 1; i <= 9; i++)
                model_put_node(model, i, model_atlas);
        model_set_findings(model, findings);
        for (unsigned columns = 20; columns < 120; columns += 20)
                for (unsigned rows = 5; rows < 60; rows += 5) {
                        AldView view = { .model = model, .now_usec = NOW, .columns = columns, .rows = rows };
                        g_autoptr(GPtrArray) lines = ald_view_lines(&view);
                        g_autoptr(GString) text = g_string_new(NULL);
                        unsigned shown = 0;

                        g_assert_cmpuint(lines->len, ==, rows);
                        for (guint i = 0; i < lines->len; i++) {
                                g_string_append_printf(text, "%s ", (const char *) lines->pdata[i]);
                                shown += strstr(lines->pdata[i], "This machine") != NULL;
                        }
                        g_assert_cmpuint(shown, ==, 1);
                        g_assert_nonnull(strstr(text->str, "atlas"));
                        if (columns >= 80 && rows >= 20)
                                g_assert_nonnull(strstr(text->str, "alidadectl cluster status"));
                        if (columns == 100)
                                g_assert_nonnull(strstr(text->str, "is out of date."));
                }
        json_decref(findings);
}

static void test_fits(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        json_t *findings = json_pack(
                "[{s:s,s:s}]", "Severity", "error", "Text", "日本語日本語日本語 and so on and so forth");

        for (unsigned i = 1; i <= 30; i++)
                model_put_node(model, i,
                        i % 2 ? model_atlas
                              : "{'Node1.Identity':{'FriendlyName':'日本語の長い名前のノード'}}");
        model_set_findings(model, findings);
        for (unsigned columns = 40; columns < 140; columns += 7)
                for (unsigned rows = 12; rows < 90; rows += 9) {
                        AldView view = { .model = model, .now_usec = NOW, .columns = columns, .rows = rows };
                        g_autoptr(GPtrArray) lines = ald_view_lines(&view);

                        g_assert_cmpuint(lines->len, ==, rows);
                        for (guint i = 0; i < lines->len; i++)
                                g_assert_cmpuint(ald_text_width(lines->pdata[i]), <=, columns);
                }
        json_decref(findings);
}

/* Each record is as old as the clock of its source says; what this machine says goes by its own. */
static void test_ages_of_records(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) out = g_string_new(NULL);

        /* The clock of the node is two hours ahead. */
        model_put_node(model, 1,
                "{'Node1.Memory':{'UpdatedUSec':1700007160000000},'Node1.Presence':"
                "{'State':'online','ClockOffsetUSec':7200000000,'UpdatedUSec':1700000000000000}}");
        ald_describe_records(out, model_node(model, 1), model_node(model, 1), 0, NOW);
        g_assert_nonnull(strstr(out->str, "Node1.Memory" ALD_STYLE_DIM " 40 s ago"));
        g_assert_nonnull(strstr(out->str, "Node1.Presence" ALD_STYLE_DIM " live"));
        g_assert_nonnull(strstr(out->str, "ClockOffsetUSec: +2 h\n"));
}

/* A node that is offline sends nothing more, however fresh its last record and those of its links are. */
static void test_ages_of_offline_nodes(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) out = g_string_new(NULL), link = g_string_new(NULL);

        model_put_node(model, 1,
                "{'Node1.Memory':{'UpdatedUSec':1699999995000000},'Node1.Presence':"
                "{'State':'offline','UpdatedUSec':1699999995000000}}");
        model_put_node(model, 2, "{'Node1.Memory':{'UpdatedUSec':1699999995000000}}");
        ald_describe_records(out, model_node(model, 1), model_node(model, 1), 0, NOW);
        g_assert_nonnull(strstr(out->str, "Node1.Memory" ALD_STYLE_DIM " 5 s ago"));
        g_assert_nonnull(strstr(out->str, "Node1.Presence" ALD_STYLE_DIM " live"));
        ald_describe_records(link, model_node(model, 2), model_node(model, 1), 0, NOW);
        g_assert_nonnull(strstr(link->str, "Node1.Memory" ALD_STYLE_DIM " 5 s ago"));
}

/* What a newer peer sends is shown raw, behind what is known. */
static void test_records_of_newer_peers(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) out = g_string_new(NULL);
        const char *memory, *newer, *spare, *rack;

        model_put_node(model, 1,
                "{'Node1.Rack':{'Unit':7,'Slots':[{'Id':'a','DepthBytes':1024}]},"
                "'Node1.Memory':{'TotalBytes':1024,'SpareBytes':2048,'Modules':['x','y']}}");
        ald_describe_records(out, model_node(model, 1), model_node(model, 1), 0, NOW);
        memory = strstr(out->str, "Node1.Memory");
        newer = strstr(out->str, "  SpareBytes: 2.00 KiB\n");
        spare = strstr(out->str, "  Modules: x, y\n");
        rack = strstr(out->str, "Node1.Rack");
        g_assert_true(memory && newer && spare && rack && memory < newer && newer < rack && spare < rack);
        g_assert_nonnull(strstr(rack, "  Unit: 7\n"));
        g_assert_nonnull(strstr(rack, "      DepthBytes: 1.00 KiB\n"));
}

/* What is shown of a node with a device and an instance of it, without styles (0 rows: all). */
static char *draw_rig(const char *columns, unsigned rows)
{
        g_autoptr(AldModel) model = ald_model_new();
        AldCtl ctl = { .columns = columns };
        AldView view = { .model = model, .ctl = &ctl, .now_usec = NOW, .rows = rows };
        g_autoptr(GPtrArray) lines = NULL;
        GString *out = g_string_new("\n");

        model_put_node(model, 1,
                "{'Node1.Identity':{'FriendlyName':'rig'},'Node1.System':{'CpuUsage':7.0},'Node1.Backends':"
                "{'Devices':[{'Id':'a','Class':'gpu','Name':'Card','MemoryTotalBytes':4096},"
                "{'Id':'a/1','Class':'gpu','Name':'Part','Parent':'a','MemoryTotalBytes':2048},"
                "{'Id':'cpu','Class':'cpu','Name':'Chip'}]}}");
        lines = ald_view_lines(&view);
        if (rows > 0)
                g_assert_cmpuint(lines->len, ==, rows);
        for (guint i = 0; i < lines->len; i++) {
                g_autofree char *line = ald_text_render(lines->pdata[i], false, true);

                g_string_append_printf(out, "%s\n", line);
        }
        return g_string_free(out, FALSE);
}

/* The name of a device is below that of its node and indented, in whatever column that is. */
static void test_devices(void)
{
        g_autofree char *first = draw_rig("name,cpu,memory", 0), *last = draw_rig("cpu,memory,name", 0),
                        *without = draw_rig("memory,cpu", 0);

        g_assert_nonnull(strstr(first, "\nrig             7 %              –\n"
                                       "  Card                  –/4.00 KiB\n"
                                       "  Part                  –/2.00 KiB\n"));
        g_assert_nonnull(strstr(last, "\n  7 %              –  rig\n"
                                      "          –/4.00 KiB    Card\n"
                                      "          –/2.00 KiB    Part\n"));
        g_assert_nonnull(strstr(without, "\n            –    7 %\n\n"));
}

/* An instance has a row of its own as well. */
static void test_devices_fit(void)
{
        for (unsigned rows = 5; rows < 20; rows++) {
                g_autofree char *text = draw_rig(NULL, rows);

                g_assert_true(!strstr(text, "Card") == !strstr(text, "Part"));
        }
}

static void test_scroll(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        AldView view = { .model = model, .now_usec = NOW, .columns = 80, .rows = 20, .first = 5000 };

        for (unsigned i = 1; i <= 100; i++)
                model_put_node(model, i, model_atlas);
        g_ptr_array_unref(ald_view_lines(&view));
        g_assert_cmpuint(view.page, >, 3);
        g_assert_cmpuint(view.first + view.page, ==, 100);
        view.rows = 0;
        g_ptr_array_unref(ald_view_lines(&view));
        g_assert_cmpuint(view.first, ==, 0);
        g_assert_cmpuint(view.page, ==, 100);
        /* Too small for anything, and still no crash. */
        for (view.rows = 1; view.rows < 12; view.rows++)
                g_ptr_array_unref(ald_view_lines(&view));
}

static void assert_key(const char *bytes, size_t n, AldKey key, size_t used)
{
        AldKey found;

        g_assert_cmpuint(ald_terminal_parse_key(bytes, n, &found), ==, used);
        if (used > 0)
                g_assert_cmpint(found, ==, key);
}

static void test_keys(void)
{
        assert_key("q", 1, ALD_KEY_QUIT, 1);
        assert_key("d", 1, ALD_KEY_DEVICES, 1);
        assert_key("x", 1, ALD_KEY_OTHER, 1);
        assert_key("\033[A", 3, ALD_KEY_UP, 3);
        assert_key("\033OB", 3, ALD_KEY_DOWN, 3);
        assert_key("\033[5~q", 5, ALD_KEY_PAGE_UP, 4);
        assert_key("\033[6~", 4, ALD_KEY_PAGE_DOWN, 4);
        assert_key("\033[1;5A", 6, ALD_KEY_OTHER, 6);
        assert_key("\033[", 2, ALD_KEY_OTHER, 0);
        assert_key("\033", 1, ALD_KEY_OTHER, 0);
        assert_key("\033q", 2, ALD_KEY_OTHER, 1);
        assert_key("\033[0000000000000000000000000", 27, ALD_KEY_OTHER, 27);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl/view/absent", test_absent);
        g_test_add_func("/ctl/view/hostile", test_hostile);
        g_test_add_func("/ctl-view/known-to-have-no-gpu", test_known_to_have_no_gpu);
        g_test_add_func("/ctl-view/memory-of-devices", test_memory_of_devices);
        g_test_add_func("/ctl-view/chassis-without-a-model", test_chassis_without_a_model);
        g_test_add_func("/ctl/view/no-broker", test_no_broker);
        g_test_add_func("/ctl/view/fits", test_fits);
        g_test_add_func("/ctl-view/ages-of-records", test_ages_of_records);
        g_test_add_func("/ctl-view/ages-of-records-of-offline-nodes", test_ages_of_offline_nodes);
        g_test_add_func("/ctl-view/records-of-newer-peers", test_records_of_newer_peers);
        g_test_add_func("/ctl-view/devices", test_devices);
        g_test_add_func("/ctl-view/devices-fit", test_devices_fit);
        g_test_add_func("/ctl/view/scroll", test_scroll);
        g_test_add_func("/ctl/view/keys", test_keys);
        return g_test_run();
}
