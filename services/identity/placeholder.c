/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "services/identity/placeholder.h"

/* What vendors leave in fields that they forgot, as normalized by squeeze(). */
static const char *const of_hardware[] = {
        "0123456789",
        "123456789",
        "1234567890",
        "allseries",
        "baseboardproductname",
        "baseboardversion",
        "boardmanufacturer",
        "boardproductname",
        "chassismanufacturer",
        "default",
        "defaultstring",
        "empty",
        "filledbyoem",
        "invalid",
        "manufacturer",
        "na",
        "noenclosure",
        "none",
        "notapplicable",
        "notavailable",
        "notdefined",
        "notprovided",
        "notset",
        "notspecified",
        "null",
        "oem",
        "productname",
        "reserved",
        "sample",
        "sku",
        "standard",
        "systemmanufacturer",
        "systemname",
        "systemproductname",
        "systemversion",
        "tbd",
        "type1productconfigid",
        "type2boardmanufacturer",
        "type2boardproductname1",
        "undefined",
        "unknown",
        "unknownproduct",
        "unspecified",
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

/* Some add by whom: "To be filled by O.E.M. by More String". */
static bool is_to_be_filled(const char *squeezed)
{
        return g_str_has_prefix(squeezed, "tobefilledby");
}

bool ald_is_placeholder(const char *text)
{
        g_autofree char *squeezed = squeeze(text);

        return is_one_character(squeezed) || is_to_be_filled(squeezed) ||
               g_strv_contains(of_hardware, squeezed);
}

bool ald_is_placeholder_name(const char *text)
{
        g_autofree char *squeezed = squeeze(text);

        return !*squeezed || is_to_be_filled(squeezed) || g_strv_contains(of_machines, squeezed) ||
               g_ascii_strncasecmp(text, "localhost.", strlen("localhost.")) == 0;
}
