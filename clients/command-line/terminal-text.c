/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include "clients/command-line/terminal-text.h"
#include "record/character.h"

static bool is_style(gunichar c)
{
        return c >= 1 && c < ALD_N_STYLES;
}

unsigned ald_char_width(gunichar c)
{
        if (is_style(c) || g_unichar_iszerowidth(c))
                return 0;
        return g_unichar_iswide(c) ? 2 : 1;
}

unsigned ald_text_width(const char *text)
{
        size_t plain = ald_characters_plain(text);
        unsigned width = (unsigned) plain;

        /* Most of what follows is ASCII, too. */
        for (const char *p = text + plain; *p; p = g_utf8_next_char(p))
                width += *p >= ' ' && *p < 0x7f ? 1 : ald_char_width(g_utf8_get_char(p));
        return width;
}

char *ald_text_cut(const char *text, unsigned columns)
{
        g_autoptr(GString) out = NULL;
        unsigned width = 0;
        bool cut = false;

        if (ald_text_width(text) <= columns)
                return g_strdup(text);
        if (columns == 0)
                return g_strdup("");
        out = g_string_new(NULL);
        for (const char *p = text; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (!is_style(c)) {
                        if (cut)
                                continue;
                        width += ald_char_width(c);
                        if (width > columns - 1) {
                                g_string_append(out, "…");
                                cut = true;
                                continue;
                        }
                }
                g_string_append_unichar(out, c);
        }
        return g_string_free(g_steal_pointer(&out), FALSE);
}

char *ald_text_fit(const char *text, unsigned columns, bool right)
{
        unsigned width = ald_text_width(text), padding;
        g_autofree char *cut = NULL;
        char *out;
        size_t n;

        if (width > columns) {
                text = cut = ald_text_cut(text, columns);
                width = ald_text_width(cut);
        }
        padding = width < columns ? columns - width : 0;
        n = strlen(text);
        out = g_malloc(n + padding + 1);
        memcpy(out + (right ? padding : 0), text, n);
        memset(out + (right ? 0 : n), ' ', padding);
        out[n + padding] = '\0';
        return out;
}

/* Appends a word that is longer than a line, broken wherever the line is full; returns the column in which it
 * ends. */
static unsigned break_word(GString *out, const char *word, unsigned columns, unsigned indent, unsigned at)
{
        for (const char *p = word; *p; p = g_utf8_next_char(p)) {
                unsigned width = ald_char_width(g_utf8_get_char(p));

                if (at + width > columns) {
                        g_string_append_printf(out, "\n%*s", (int) indent, "");
                        at = indent;
                }
                g_string_append_len(out, p, g_utf8_next_char(p) - p);
                at += width;
        }
        return at;
}

void ald_text_wrap(GString *out, const char *text, unsigned columns, unsigned indent)
{
        g_auto(GStrv) words = g_strsplit(text, " ", -1);
        bool limited = columns > indent + 1;
        unsigned at = indent;

        for (char **word = words; *word; word++) {
                unsigned width = ald_text_width(*word);

                if (word != words && limited && at + 1 + width > columns && at > indent) {
                        g_string_append_printf(out, "\n%*s", (int) indent, "");
                        at = indent;
                } else if (word != words) {
                        g_string_append_c(out, ' ');
                        at++;
                }
                if (limited && at + width > columns)
                        at = break_word(out, *word, columns, indent, at);
                else {
                        g_string_append(out, *word);
                        at += width;
                }
        }
}

const char *ald_tone_style(AldTone tone)
{
        switch (tone) {
        case ALD_TONE_FAINT:
                return ALD_STYLE_DIM;
        case ALD_TONE_GOOD:
                return ALD_STYLE_GOOD;
        case ALD_TONE_WARNING:
                return ALD_STYLE_WARNING;
        case ALD_TONE_ERROR:
                return ALD_STYLE_ERROR;
        default:
                return "";
        }
}

char *ald_text_toned(AldTone tone, const char *text)
{
        return tone == ALD_TONE_PLAIN ? g_strdup(text)
                                      : g_strconcat(ald_tone_style(tone), text, ALD_STYLE_NORMAL, NULL);
}

const char *ald_style_sequence(char marker)
{
        static const char *const sequences[ALD_N_STYLES] = {
                [1] = "\033[0m",
                [2] = "\033[0;1m",
                [3] = "\033[0;2m",
                [4] = "\033[0;32m",
                [5] = "\033[0;33m",
                [6] = "\033[0;31m",
                [7] = "\033[0;4m",
        };

        return sequences[(unsigned char) marker];
}

const char *ald_char_ascii(gunichar c)
{
        static const struct {
                gunichar c;
                const char *ascii;
        } map[] = {
                { 0x2013, "-" }, /* – */
                { 0x2026, "." }, /* … */
                { 0x00B0, " " }, /* ° */
                { 0x00B7, "," }, /* · */
                { 0x00B1, "+" }, /* ± */
                { 0x00B5, "u" }, /* µ */
                { 0x00D7, "x" }, /* × */
                { 0x2581, "_" }, /* ▁ */
                { 0x2582, "." }, /* ▂ */
                { 0x2583, "-" }, /* ▃ */
                { 0x2584, "=" }, /* ▄ */
                { 0x2585, "+" }, /* ▅ */
                { 0x2586, "*" }, /* ▆ */
                { 0x2587, "%" }, /* ▇ */
                { 0x2588, "#" }, /* █ */
                { 0x2591, "." }, /* ░ */
                { 0x2191, "^" }, /* ↑ */
                { 0x2193, "v" }, /* ↓ */
                { 0x2192, ">" }, /* → */
                { 0x2190, "<" }, /* ← */
                { 0x2194, "=" }, /* ↔ */
                { 0x2260, "!" }, /* ≠ */
                { 0x2500, "-" }, /* ─ */
                { 0x2502, "|" }, /* │ */
                { 0x253C, "+" }, /* ┼ */
                { 0x25B2, "^" }, /* ▲ */
                { 0x25BC, "v" }, /* ▼ */
                { 0x25C6, "*" }, /* ◆ */
        };

        for (size_t i = 0; i < G_N_ELEMENTS(map); i++)
                if (map[i].c == c)
                        return map[i].ascii;
        switch (ald_char_width(c)) {
        case 0:
                return "";
        case 1:
                return "?";
        default:
                return "??";
        }
}

char *ald_text_render(const char *text, bool colours, bool utf8)
{
        GString *out = g_string_new(NULL);

        for (const char *p = text; *p;) {
                size_t plain = ald_characters_plain(p);
                gunichar c = g_utf8_get_char(p + plain);

                g_string_append_len(out, p, (gssize) plain);
                p += plain;
                if (!*p)
                        break;
                p = g_utf8_next_char(p);
                if (is_style(c))
                        g_string_append(out, colours ? ald_style_sequence((char) c) : "");
                else if (c < 0x80 || utf8)
                        g_string_append_unichar(out, c);
                else
                        g_string_append(out, ald_char_ascii(c));
        }
        return g_string_free(out, FALSE);
}
