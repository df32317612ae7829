/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clients/command-line/pager.h"
#include "clients/command-line/print.h"
#include "clients/command-line/terminal-text.h"
#include "record/character.h"
#include "record/closest-name.h"

#define REAL_DIGITS 15 /* digits that every double keeps: 0.1 is not 0.10000000000000001 */
#define COLUMNS_LEAST 20
#define SHOWN_HEAD 800 /* characters of a long error message */
#define SHOWN_TAIL 400
#define COLUMNS_MOST 10000

static unsigned number_from_environment(const char *name)
{
        const char *text = getenv(name);
        guint64 value;

        if (!text || !g_ascii_string_to_unsigned(text, 10, 1, COLUMNS_MOST, &value, NULL))
                return 0;
        return (unsigned) value;
}

static bool wants_colours(void)
{
        const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

        return !(no_color && no_color[0]) && term && term[0] && strcmp(term, "dumb") != 0;
}

AldStyleInfo ald_style_info(void)
{
        AldStyleInfo info = { .terminal = isatty(STDOUT_FILENO) };
        struct winsize size = { 0 };

        info.colours = info.terminal && wants_colours();
        info.utf8 = g_get_charset(NULL);
        if (info.terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
                size = (struct winsize){ 0 };
        info.columns = number_from_environment("COLUMNS");
        if (info.columns == 0)
                info.columns = size.ws_col > 0 ? size.ws_col : info.terminal ? 80 : 0;
        if (info.columns > 0)
                info.columns = MAX(info.columns, COLUMNS_LEAST);
        info.rows = number_from_environment("LINES");
        if (info.rows == 0)
                info.rows = size.ws_row;
        return info;
}

static unsigned count_lines(const char *text)
{
        unsigned n = 0;

        for (; (text = strchr(text, '\n')); text++)
                n++;
        return n;
}

int ald_print_finish(void)
{
        if (fflush(stdout) == 0 && !ferror(stdout))
                return ALD_EXIT_OK;
        /* The reader of the output has seen enough. */
        if (errno == EPIPE)
                return ALD_EXIT_OK;
        ald_print_error("Cannot write the output: %s", strerror(errno));
        return ALD_EXIT_ERROR;
}

int ald_print(const AldCtl *ctl, const AldStyleInfo *info, const char *styled)
{
        g_autofree char *text = ald_text_render(styled, info->colours, info->utf8);

        if (ctl->pager && info->terminal && info->rows > 0 && count_lines(text) >= info->rows &&
                ald_pager_show(text) >= 0)
                return ALD_EXIT_OK;
        fputs(text, stdout);
        return ald_print_finish();
}

/* jansson escapes characters below U+0020; all others that are unsafe occur only in strings, since the rest
 * of the text is ASCII. */
static char *escape_unsafe(const char *text)
{
        GString *out = g_string_new(NULL);

        for (const char *p = text; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (c < 0x20 || !ald_character_is_unsafe(c))
                        g_string_append_unichar(out, c);
                else if (c < 0x10000)
                        g_string_append_printf(out, "\\u%04X", c);
                else
                        g_string_append_printf(
                                out, "\\u%04X\\u%04X", 0xD7C0 + (c >> 10), 0xDC00 + (c & 0x3FF));
        }
        return g_string_free(out, FALSE);
}

char *ald_json_text(const json_t *value, AldJsonMode mode)
{
        size_t layout = mode == ALD_JSON_PRETTY ? JSON_INDENT(2) : JSON_COMPACT;
        char *text = json_dumps(value, layout | JSON_REAL_PRECISION(REAL_DIGITS));
        char *escaped = escape_unsafe(text ? text : "null");

        free(text);
        return escaped;
}

int ald_json_parse_mode(const char *mode, AldJsonMode *ret)
{
        static const struct {
                const char *name;
                AldJsonMode mode;
        } modes[] = { { "short", ALD_JSON_SHORT }, { "pretty", ALD_JSON_PRETTY }, { "off", ALD_JSON_OFF } };

        for (size_t i = 0; i < G_N_ELEMENTS(modes); i++)
                if (!mode || strcmp(mode, modes[i].name) == 0) {
                        *ret = modes[i].mode;
                        return 0;
                }
        ald_print_error("--json=%s: must be short, pretty or off", mode);
        return -EINVAL;
}

int ald_print_json(const AldCtl *ctl, json_t *value)
{
        g_autofree char *text = ald_json_text(value, ctl->json);

        puts(text);
        return ald_print_finish();
}

char *ald_did_you_mean(const char *word, const char *const *names)
{
        const char *closest = ald_closest_name(word, names);

        return closest ? g_strdup_printf("did you mean \"%s\"? See", closest) : g_strdup("see");
}

/* Returns the names of the options that begin with this prefix. */
static GStrv list_options(const struct option *options, const char *prefix)
{
        g_autoptr(GStrvBuilder) names = g_strv_builder_new();

        for (; options->name; options++) {
                g_autofree char *name = g_strconcat("--", options->name, NULL);

                if (g_str_has_prefix(name, prefix))
                        g_strv_builder_add(names, name);
        }
        return g_strv_builder_end(names);
}

/* getopt_long() reports an abbreviated name as an error only if several options begin with it. */
static void print_unknown_option(const char *word, const struct option *options)
{
        g_autofree char *name = g_strndup(word, strcspn(word, "=")), *text = NULL;
        g_auto(GStrv) all = list_options(options, "--"), possible = list_options(options, name);

        if (possible[0]) {
                text = g_strjoinv(", ", possible);
                ald_print_error("%s: ambiguous option; it may be one of %s", word, text);
        } else {
                text = ald_did_you_mean(name, (const char *const *) all);
                ald_print_error("%s: unknown option; %s --help", word, text);
        }
}

int ald_print_option_error(char **argv, int c, const struct option *options)
{
        const char *word = argv[optind - 1];
        g_autofree char *letter = NULL;

        if (optopt > ' ' && optopt < 0x7f && !g_str_has_prefix(word, "--"))
                word = letter = g_strdup_printf("-%c", optopt);
        if (c == ':')
                ald_print_error("%s needs a value; see --help", word);
        else if (optopt != 0 && !letter)
                ald_print_error("%s: this option takes no value; see --help", word);
        else
                print_unknown_option(word, options);
        return ALD_EXIT_USAGE;
}

/* Text that a person typed, or another machine sent, may be very long; the reason of an error comes last. */
static char *shorten_middle(char *text)
{
        glong n = g_utf8_strlen(text, -1);
        const char *head = g_utf8_offset_to_pointer(text, MIN(n, SHOWN_HEAD));
        const char *tail = g_utf8_offset_to_pointer(text, n - MIN(n, SHOWN_TAIL));
        char *shortened;

        if (n <= SHOWN_HEAD + SHOWN_TAIL)
                return text;
        shortened = g_strdup_printf("%.*s … %s", (int) (head - text), text, tail);
        g_free(text);
        return shortened;
}

void ald_print_error(const char *format, ...)
{
        g_autofree char *text = NULL, *safe = NULL, *rendered = NULL;
        va_list list;

        va_start(list, format);
        text = g_strdup_vprintf(format, list);
        va_end(list);
        safe = shorten_middle(ald_text_safe(text));
        rendered = ald_text_render(safe, false, g_get_charset(NULL));
        fprintf(stderr, "alidadectl: %s\n", rendered);
}

int ald_print_done(const char *format, ...)
{
        g_autofree char *text = NULL, *safe = NULL, *rendered = NULL;
        va_list list;

        va_start(list, format);
        text = g_strdup_vprintf(format, list);
        va_end(list);
        safe = ald_text_safe(text);
        rendered = ald_text_render(safe, false, g_get_charset(NULL));
        puts(rendered);
        return ald_print_finish();
}
