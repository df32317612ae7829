/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "services/identity/placeholder.h"

/* The words of which makers form placeholders: "To be set by OEM", "System Product Version", "TBD". A text
 * without any other word names nothing. */
static const char *const words[] = {
        /* what has the field */
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
        "information",
        "manufacture",
        "manufacturer",
        "model",
        "name",
        "number",
        "part",
        "serial",
        "series",
        "sku",
        "string",
        "tag",
        "text",
        "value",
        "vendor",
        "version",
        /* who should fill it */
        "customer",
        "odm",
        "oem",
        "user",
        /* phrases for a missing value */
        "all",
        "applicable",
        "available",
        "be",
        "been",
        "by",
        "change",
        "default",
        "defined",
        "determined",
        "empty",
        "enter",
        "fill",
        "filled",
        "has",
        "here",
        "in",
        "invalid",
        "is",
        "me",
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

static const char *const machine_names[] = {
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

/* Returns the text in lower case, without blanks and ASCII punctuation. Other characters are kept. */
static char *squeeze_text(const char *text)
{
        GString *squeezed = g_string_new(NULL);

        for (; *text; text++)
                if (g_ascii_isalnum(*text) || (unsigned char) *text >= 0x80)
                        g_string_append_c(squeezed, g_ascii_tolower(*text));
        return g_string_free(squeezed, FALSE);
}

/* Returns whether text repeats one character, or had only punctuation: "0000", "xxxx", "....". */
static bool is_one_character(const char *squeezed)
{
        size_t n = strlen(squeezed), first = 1;

        while (first < n && ((unsigned char) squeezed[first] & 0xc0) == 0x80)
                first++;
        if (first > 1 && first == n)
                return false; /* a letter of a script in which single letters may be words */
        for (size_t i = first; i < n; i++)
                if (squeezed[i] != squeezed[i - first])
                        return false;
        return true;
}

/* Returns whether text counts up from 0 or 1: "123456", "0123456789ABCDEF". */
static bool is_counting(const char *squeezed)
{
        size_t n = strlen(squeezed);

        if (n < 6 || (squeezed[0] != '0' && squeezed[0] != '1'))
                return false;
        for (size_t i = 1; i < n; i++)
                if (squeezed[i] != (squeezed[i - 1] == '9' ? '0' : squeezed[i - 1] + 1))
                        return g_str_has_suffix(squeezed, "9abcdef") && i + strlen("abcdef") == n;
        return true;
}

/* Returns whether text is a zero in hexadecimal: "0x0000". */
static bool is_zero(const char *squeezed)
{
        return g_str_has_prefix(squeezed, "0x") && is_one_character(squeezed + 2) &&
               (squeezed[2] == '0' || squeezed[2] == '\0');
}

/* Returns whether text begins like this placeholder. Some makers add a name: "To be filled by O.E.M. by More
 * String". */
static bool is_to_be_filled(const char *squeezed)
{
        return g_str_has_prefix(squeezed, "tobefilledby") || g_str_has_prefix(squeezed, "tobesetby");
}

/* Drops the number that counts several fields of one name: "Type2 - Board Product Name1", "Vendor1". */
static void drop_count(GString *word)
{
        static const char *const counted[] = { "manufacturer", "name", "string", "type", "vendor",
                "version" };
        size_t letters = strcspn(word->str, "0123456789");

        if (letters + strspn(word->str + letters, "0123456789") != word->len)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(counted); i++)
                if (strlen(counted[i]) == letters && g_str_has_prefix(word->str, counted[i]))
                        g_string_truncate(word, letters);
}

/* Returns whether a new word begins here, as in "Type1ProductConfigId" or "SKUNumber". */
static bool begins_word(const char *text, char before)
{
        return g_ascii_isupper(*text) && (g_ascii_islower(before) || g_ascii_isdigit(before) ||
                                                 (g_ascii_isupper(before) && g_ascii_islower(text[1])));
}

/* Returns whether text consists of placeholder words. Words end at blanks, hyphens and underscores, and where
 * a capital letter begins the next one. Other punctuation is left out: "O.E.M." A number may follow two
 * words, "Product Name 1", but not a single one: "System 7". */
static bool has_placeholder_words_only(const char *text)
{
        g_autoptr(GString) word = g_string_new(NULL);
        unsigned n_words = 0;
        bool has_number = false;
        char before = ' ';

        for (;; before = *text++) {
                if (*text == '\0' || strchr(" \t\n-_", *text) || begins_word(text, before)) {
                        bool is_number = word->len > 0 && strspn(word->str, "0123456789") == word->len;

                        drop_count(word);
                        if (word->len > 0 && !is_number && !g_strv_contains(words, word->str))
                                return false;
                        has_number |= is_number;
                        n_words += word->len > 0 && !is_number;
                        g_string_truncate(word, 0);
                }
                if (*text == '\0')
                        return !has_number || n_words >= 2;
                if (g_ascii_isalnum(*text) || (unsigned char) *text >= 0x80)
                        g_string_append_c(word, g_ascii_tolower(*text));
        }
}

/* Replaces characters that only look different from ASCII letters and blanks by these. Text that is not UTF-8
 * is kept. */
static char *normalize_text(const char *text)
{
        char *simple = g_utf8_validate(text, -1, NULL) ? g_utf8_normalize(text, -1, G_NORMALIZE_ALL_COMPOSE)
                                                       : NULL;

        return simple ? simple : g_strdup(text);
}

bool ald_is_placeholder(const char *text)
{
        g_autofree char *simple = normalize_text(text), *squeezed = squeeze_text(simple);

        return is_one_character(squeezed) || is_counting(squeezed) || is_zero(squeezed) ||
               is_to_be_filled(squeezed) || g_strv_contains(words, squeezed) ||
               has_placeholder_words_only(simple);
}

bool ald_is_placeholder_name(const char *text)
{
        g_autofree char *squeezed = squeeze_text(text);

        return !*squeezed || is_to_be_filled(squeezed) || g_strv_contains(machine_names, squeezed) ||
               g_ascii_strncasecmp(text, "localhost.", strlen("localhost.")) == 0;
}
