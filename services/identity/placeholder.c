/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "services/identity/placeholder.h"

/* The words of which makers form placeholders: "To be set by OEM", "System Product Version", "TBD". A text
 * that has no other word names nothing. */
static const char *const words[] = {
        /* what the field is of */
        "base",
        "baseboard",
        "board",
        "chassis",
        "enclosure",
        "mainboard",
        "motherboard",
        "product",
        "system",
        "type",
        /* what the field is */
        "asset",
        "config",
        "family",
        "field",
        "id",
        "identifier",
        "manufacture",
        "manufacturer",
        "model",
        "name",
        "number",
        "serial",
        "series",
        "sku",
        "string",
        "tag",
        "text",
        "value",
        "vendor",
        "version",
        /* who was to fill it */
        "customer",
        "odm",
        "oem",
        "user",
        /* that nobody has */
        "all",
        "applicable",
        "available",
        "be",
        "been",
        "by",
        "default",
        "defined",
        "empty",
        "enter",
        "fill",
        "filled",
        "has",
        "here",
        "in",
        "invalid",
        "is",
        "more",
        "na",
        "no",
        "none",
        "not",
        "null",
        "please",
        "present",
        "provided",
        "reserved",
        "sample",
        "set",
        "specified",
        "standard",
        "supplied",
        "tba",
        "tbd",
        "the",
        "this",
        "to",
        "undefined",
        "unknow",
        "unknown",
        "unset",
        "unspecified",
        "updated",
        NULL,
};

static const char *const of_machines[] = {
        "defaultstring",
        "localhost",
        "localhost4",
        "localhost6",
        "none",
        "notset",
        "notspecified",
        "systemproductname",
        "undefined",
        "unknown",
        "unspecified",
        NULL,
};

/* In lower case, without blanks and punctuation; what is not ASCII stays. */
static char *squeeze(const char *text)
{
        GString *squeezed = g_string_new(NULL);

        for (; *text; text++)
                if (g_ascii_isalnum(*text) || (unsigned char) *text >= 0x80)
                        g_string_append_c(squeezed, g_ascii_tolower(*text));
        return g_string_free(squeezed, FALSE);
}

/* "0000", "xxxx", "....": one character over and over, or nothing but punctuation. */
static bool is_one_character(const char *squeezed)
{
        return strspn(squeezed, (const char[]){ *squeezed, '\0' }) == strlen(squeezed);
}

/* "123456", "0123456789": counting, from the first digit of either way. */
static bool is_counting(const char *squeezed)
{
        size_t n = strlen(squeezed);

        if (n < 6 || (squeezed[0] != '0' && squeezed[0] != '1'))
                return false;
        for (size_t i = 1; i < n; i++)
                if (squeezed[i] != (squeezed[i - 1] == '9' ? '0' : squeezed[i - 1] + 1))
                        return false;
        return true;
}

/* "0x0000" */
static bool is_zero(const char *squeezed)
{
        return g_str_has_prefix(squeezed, "0x") && is_one_character(squeezed + 2) &&
               (squeezed[2] == '0' || squeezed[2] == '\0');
}

/* Some add by whom: "To be filled by O.E.M. by More String". */
static bool is_to_be_filled(const char *squeezed)
{
        return g_str_has_prefix(squeezed, "tobefilledby") || g_str_has_prefix(squeezed, "tobesetby");
}

/* A digit counts the fields of one name: "Type2 - Board Product Name1". */
static bool is_placeholder_word(GString *word)
{
        if (word->len > 1 && g_ascii_isdigit(word->str[word->len - 1]) &&
                (g_str_has_prefix(word->str, "type") || g_str_has_prefix(word->str, "name")))
                g_string_truncate(word, word->len - 1);
        return word->len == 0 || g_strv_contains(words, word->str);
}

/* Words end at blanks, hyphens and underscores, and before a capital letter after a small one or a digit:
 * "Type1ProductConfigId". Other punctuation is left out: "O.E.M." */
static bool has_placeholder_words_only(const char *text)
{
        g_autoptr(GString) word = g_string_new(NULL);
        char before = ' ';

        for (;; before = *text++) {
                bool ends = *text == '\0' || strchr(" \t\n-_", *text) ||
                            (g_ascii_isupper(*text) && (g_ascii_islower(before) || g_ascii_isdigit(before)));

                if (ends && !is_placeholder_word(word))
                        return false;
                if (ends)
                        g_string_truncate(word, 0);
                if (*text == '\0')
                        return true;
                if (g_ascii_isalnum(*text) || (unsigned char) *text >= 0x80)
                        g_string_append_c(word, g_ascii_tolower(*text));
        }
}

bool ald_is_placeholder(const char *text)
{
        g_autofree char *squeezed = squeeze(text);

        return is_one_character(squeezed) || is_counting(squeezed) || is_zero(squeezed) ||
               is_to_be_filled(squeezed) || g_strv_contains(words, squeezed) ||
               has_placeholder_words_only(text);
}

bool ald_is_placeholder_name(const char *text)
{
        g_autofree char *squeezed = squeeze(text);

        return !*squeezed || is_to_be_filled(squeezed) || g_strv_contains(of_machines, squeezed) ||
               g_ascii_strncasecmp(text, "localhost.", strlen("localhost.")) == 0;
}
