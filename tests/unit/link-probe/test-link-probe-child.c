/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <sys/wait.h>

#include "services/link-probe/probe/probe-child.h"

#define PATIENT_MSEC 20000u

typedef struct Told {
        AldProbeChild *child;
        GString *lines;
        char *output, *failure;
        bool ended;
} Told;

static void on_line(const char *line, void *userdata)
{
        g_string_append_printf(((Told *) userdata)->lines, "%s|", line);
}

static void on_ended(const char *output, const char *failure, void *userdata)
{
        Told *told = userdata;

        told->output = g_strdup(output);
        told->failure = g_strdup(failure);
        told->ended = true;
        g_clear_pointer(&told->child, ald_probe_child_free);
}

static const AldProbeChildHandler handler = { .line = on_line, .ended = on_ended };

static void start(Told *told, const char *script, unsigned msec)
{
        const char *const arguments[] = { "-c", script, NULL };

        *told = (Told){ .lines = g_string_new(NULL) };
        g_assert_cmpint(
                ald_probe_child_new("/bin/sh", arguments, -1, msec, &handler, told, &told->child), ==, 0);
}

static void finish(Told *told)
{
        while (!told->ended)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1);
}

static void told_clear(Told *told)
{
        g_string_free(told->lines, TRUE);
        g_free(told->output);
        g_free(told->failure);
}

static unsigned count_files(void)
{
        DIR *dir = opendir("/proc/self/fd");
        unsigned n = 0;

        while (readdir(dir))
                n++;
        closedir(dir);
        return n;
}

static void assert_end(
        const char *script, unsigned msec, const char *lines, const char *output, const char *failure)
{
        unsigned files;
        Told told;

        start(&told, "exit 0", PATIENT_MSEC);
        finish(&told);
        told_clear(&told);
        files = count_files();
        start(&told, script, msec);
        finish(&told);
        g_assert_cmpstr(told.failure, ==, failure);
        if (lines)
                g_assert_cmpstr(told.lines->str, ==, lines);
        if (output)
                g_assert_cmpstr(told.output, ==, output);
        g_assert_cmpuint(count_files(), ==, files);
        told_clear(&told);
}

static void test_ends(void)
{
        assert_end("echo one >&3; echo two >&3; echo result", PATIENT_MSEC, "one|two|", "result\n", NULL);
        assert_end("echo result; exit 1", PATIENT_MSEC, "", "result\n", NULL);
        assert_end("exit 2", PATIENT_MSEC, "", "", "failed: it ended with status 2");
        assert_end("kill -SEGV $$", PATIENT_MSEC, NULL, NULL,
                "failed: it was ended by signal 11 (Segmentation fault)");
        assert_end("printf half >&3", PATIENT_MSEC, "", "", NULL);
}

static void test_hangs(void)
{
        assert_end("echo one >&3; while :; do :; done", 50, NULL, "", "did not finish in time");
        assert_end("trap '' TERM; exec >&- 3>&-; sleep 1000", 50, NULL, "", "did not finish in time");
}

static void test_says_too_much(void)
{
        assert_end("yes", PATIENT_MSEC, "", NULL, "sent too much output");
        assert_end("yes | tr -d '\\n' >&3", PATIENT_MSEC, "", "", "sent too much output");
}

static void test_many_lines(void)
{
        Told told;

        start(&told, "seq 5000 >&3", PATIENT_MSEC);
        finish(&told);
        g_assert_null(told.failure);
        g_assert_true(g_str_has_prefix(told.lines->str, "1|2|3|"));
        told_clear(&told);
}

/* What it has started goes with it, or reading to the end would never end. */
static void test_family(void)
{
        assert_end("sleep 1000 & echo result", PATIENT_MSEC, "", "result\n", NULL);
}

static void test_freed_while_it_runs(void)
{
        Told told;

        start(&told, "while :; do :; done", PATIENT_MSEC);
        g_clear_pointer(&told.child, ald_probe_child_free);
        g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1);
        told_clear(&told);
}

static void test_ended_for_a_reason(void)
{
        Told told;

        start(&told, "echo result; while :; do :; done", PATIENT_MSEC);
        ald_probe_child_end(told.child, "was canceled");
        ald_probe_child_end(told.child, "another");
        finish(&told);
        g_assert_cmpstr(told.failure, ==, "was canceled");
        told_clear(&told);
}

/* The last is the folder that ls reads. */
static void test_what_it_has_open(void)
{
        assert_end("exec ls /proc/self/fd", PATIENT_MSEC, "", "0\n1\n2\n3\n4\n", NULL);
}

static void test_missing_program(void)
{
        const char *const arguments[] = { NULL };
        AldProbeChild *child;
        unsigned files = count_files();

        g_assert_cmpint(ald_probe_child_new("/no/such", arguments, -1, 1, &handler, NULL, &child), ==, -2);
        g_assert_cmpuint(count_files(), ==, files);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-child/ends", test_ends);
        g_test_add_func("/link-probe-child/hangs", test_hangs);
        g_test_add_func("/link-probe-child/says-too-much", test_says_too_much);
        g_test_add_func("/link-probe-child/many-lines", test_many_lines);
        g_test_add_func("/link-probe-child/family", test_family);
        g_test_add_func("/link-probe-child/freed-while-it-runs", test_freed_while_it_runs);
        g_test_add_func("/link-probe-child/ended-for-a-reason", test_ended_for_a_reason);
        g_test_add_func("/link-probe-child/what-it-has-open", test_what_it_has_open);
        g_test_add_func("/link-probe-child/missing-program", test_missing_program);
        return g_test_run();
}
