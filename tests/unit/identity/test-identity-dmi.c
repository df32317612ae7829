/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "services/identity/dmi.h"
#include "services/identity/placeholder.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define DMI "sys/class/dmi/id/"

typedef struct Case {
        const char *name;
        const char *sys_vendor, *product_name, *product_version, *board_vendor, *board_name;
        const char *vendor, *model;
} Case;

static const Case cases[] = {
        { "thinkpad", "LENOVO", "20XW0055GE", "ThinkPad X1 Carbon Gen 9", "LENOVO", "20XW0055GE", "LENOVO",
                "ThinkPad X1 Carbon Gen 9" },
        { "thinksystem", "LENOVO", "ThinkSystem SR650 V2", "05", "LENOVO", "7Z73", "LENOVO",
                "ThinkSystem SR650 V2" },
        { "lenovo-without-version", "LENOVO", "20XW0055GE", "Not Available", NULL, NULL, "LENOVO",
                "20XW0055GE" },
        { "lenovo-product", "LENOVO", "10AXS0Y600", "Lenovo Product", NULL, NULL, "LENOVO", "10AXS0Y600" },
        { "others-version", "Dell Inc.", "XPS 13 9310", "Not LENOVO", NULL, NULL, "Dell Inc.",
                "XPS 13 9310" },
        { "hp", "HP", "HP Z8 G4 Workstation", "", "HP", "81C7", "HP", "HP Z8 G4 Workstation" },
        { "self-built", "System manufacturer", "System Product Name", "System Version",
                "ASUSTeK COMPUTER INC.", "ROG STRIX X670E-E GAMING WIFI", "ASUSTeK COMPUTER INC.",
                "ROG STRIX X670E-E GAMING WIFI" },
        { "to-be-filled", "To Be Filled By O.E.M.", "To Be Filled By O.E.M.", "To Be Filled By O.E.M.",
                "ASRock", "B650M Pro RS", "ASRock", "B650M Pro RS" },
        { "default-string", "Default string", "default STRING", "Default string", "Default string",
                "Default string", NULL, NULL },
        { "none", "None", "Not Specified", "N/A", "Unknown", "Undefined", NULL, NULL },
        { "none-in-brackets", "(none)", "To be filled by O.E.M. by More String", NULL, "[Not Specified]",
                "to_be_filled-by OEM", NULL, NULL },
        { "numbers", "0123456789", "System-Product-Name", NULL, "N / A", "UNKNOWN.", NULL, NULL },
        { "like-one", "Standard Computers", "Default 2000", NULL, NULL, NULL, "Standard Computers",
                "Default 2000" },
        { "by-oem", "By O.E.M.", "TBD by OEM", "To be set by OEM", "Gigabyte", "Z690 UD", "Gigabyte",
                "Z690 UD" },
        { "system-product", "System Product", "System Product Version", NULL, "OEM Product",
                "Type2 - Board Product Name", NULL, NULL },
        { "glued", "Type1ProductConfigId", "BaseBoardProductName", NULL, "Chassis Manufacture", "OEM_Default",
                NULL, NULL },
        { "more-of-them", "Unknow", "$(DEFAULT_STRING)", NULL, "To be supplied by ODM", "0x0000", NULL,
                NULL },
        { "counting", "123456", "0123456789", NULL, "1234567890123", "Please fill in", NULL, NULL },
        { "with-a-number", "Product Name 1", "Type 1 Product", NULL, "Vendor1", "Default string000", NULL,
                NULL },
        { "glued-capitals", "SKUNumber", "OEMDefault", NULL, "No Asset Information", "To Be Determined", NULL,
                NULL },
        { "hexadecimal", "0123456789ABCDEF", "Please change me", NULL, NULL, NULL, NULL, NULL },
        /* A no-break space, letters of full width, and what an empty memory reads as. */
        { "unicode", "Default\u00a0string", "\uff33\uff59\uff53\uff54\uff45\uff4d", NULL,
                "\u00ff\u00ff\u00ff", "\u3000", NULL, NULL },
        { "swapped-board", "LENOVO", "INVALID", "INVALID", "LENOVO", "3140", "LENOVO", "3140" },
        /* Names with such words, or like them. */
        { "chinese", "\u8054\u60f3", "\u542f\u5929", NULL, NULL, NULL, "\u8054\u60f3", "\u542f\u5929" },
        { "system-7", "System 76", "Model 100", NULL, NULL, NULL, "System 76", "Model 100" },
        { "system76", "System76", "Thelio Mega", NULL, NULL, NULL, "System76", "Thelio Mega" },
        { "with-a-name", "Product Works", "System x3650 M5", NULL, NULL, NULL, "Product Works",
                "System x3650 M5" },
        { "number", "Type 7 Ltd.", "12345", NULL, NULL, NULL, "Type 7 Ltd.", "12345" },
        { "one-character", "0000000", "x", "........", "-", "  ", NULL, NULL },
        { "empty", "", "\n", NULL, NULL, NULL, NULL, NULL },
        { "absent", NULL, NULL, NULL, NULL, NULL, NULL, NULL },
        { "blanks", " Framework \n", "  Desktop  (AMD Ryzen AI Max 300 Series) \n", NULL, NULL, NULL,
                "Framework", "Desktop (AMD Ryzen AI Max 300 Series)" },
        { "binary", "\xff\xfe\xfd", "\x80", NULL, NULL, NULL, NULL, NULL },
};

static void write_if(FakeRoot *root, const char *path, const char *content)
{
        if (content)
                fake_root_write(root, path, content);
}

static void test_names(gconstpointer data)
{
        const Case *c = data;
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldDmi) dmi = { 0 };

        write_if(root, DMI "sys_vendor", c->sys_vendor);
        write_if(root, DMI "product_name", c->product_name);
        write_if(root, DMI "product_version", c->product_version);
        write_if(root, DMI "board_vendor", c->board_vendor);
        write_if(root, DMI "board_name", c->board_name);
        ald_dmi_read(root->fd, &dmi);
        g_assert_cmpstr(ald_dmi_vendor(&dmi), ==, c->vendor);
        g_assert_cmpstr(ald_dmi_model(&dmi), ==, c->model);
}

static uint64_t read_chassis(const char *content)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldDmi) dmi = { 0 };

        write_if(root, DMI "chassis_type", content);
        ald_dmi_read(root->fd, &dmi);
        return dmi.chassis_type;
}

static void test_chassis_type(void)
{
        g_assert_cmpuint(read_chassis("10\n"), ==, 10);
        g_assert_cmpuint(read_chassis("ten\n"), ==, UINT64_MAX);
        g_assert_cmpuint(read_chassis("-3\n"), ==, UINT64_MAX);
        g_assert_cmpuint(read_chassis(""), ==, UINT64_MAX);
        g_assert_cmpuint(read_chassis(NULL), ==, UINT64_MAX);
}

/* Text that is not UTF-8, and that ends within a letter. What is behind it cannot be read. */
static void test_bytes(void)
{
        static const char *const texts[] = { "\xff\xfe", "Default \xfc", "\xe3\x80", "ThinkPad \xf0" };
        size_t page = (size_t) sysconf(_SC_PAGESIZE);
        char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        g_assert_true(pages != MAP_FAILED);
        g_assert_cmpint(mprotect(pages + page, page, PROT_NONE), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                size_t size = strlen(texts[i]) + 1;
                char *text = memcpy(pages + page - size, texts[i], size);

                g_assert_false(ald_is_placeholder(text));
                g_assert_false(ald_is_placeholder_name(text));
        }
        munmap(pages, 2 * page);
}

/* A broken file costs its own field, and one line. */
static void test_broken(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldDmi) dmi = { 0 };

        fake_root_mkdir(root, DMI "sys_vendor");
        fake_root_fifo(root, DMI "board_vendor");
        fake_root_link(root, DMI "product_version", "product_version");
        fake_root_write(root, DMI "product_name", "ProLiant DL380 Gen10\n");
        log_count_reset();
        ald_dmi_read(root->fd, &dmi);
        g_assert_null(ald_dmi_vendor(&dmi));
        g_assert_cmpstr(ald_dmi_model(&dmi), ==, "ProLiant DL380 Gen10");
        g_assert_cmpuint(log_count(""), ==, 3);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *path = g_strconcat("/identity/dmi/names/", cases[i].name, NULL);

                g_test_add_data_func(path, &cases[i], test_names);
        }
        g_test_add_func("/identity/dmi/chassis-type", test_chassis_type);
        g_test_add_func("/identity/dmi/bytes", test_bytes);
        g_test_add_func("/identity/dmi/broken", test_broken);
        return g_test_run();
}
