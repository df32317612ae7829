/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/opencl/cards.h"

#define CLASS_DISPLAY 0x03u
#define CLASS_ACCELERATOR 0x12u
#define CARDS_MAX 256u

static void card_free(void *pointer)
{
        AldCard *card = pointer;

        g_free(card->id);
        g_free(card);
}

GPtrArray *ald_cards_new(void)
{
        return g_ptr_array_new_with_free_func(card_free);
}

void ald_cards_add(GPtrArray *cards, const char *id, unsigned vendor)
{
        AldCard *card = g_new0(AldCard, 1);

        card->id = g_strdup(id);
        card->vendor = vendor;
        if (cards->len < CARDS_MAX)
                g_ptr_array_add(cards, card);
        else
                card_free(card);
}

/* Reads a file like "0x10de\n"; returns 0 if there is none. */
static unsigned read_hex(const char *folder, const char *name, const char *file)
{
        g_autofree char *path = g_build_filename(folder, name, file, NULL), *text = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return 0;
        return (unsigned) g_ascii_strtoull(text, NULL, 16);
}

static void read_pci(GPtrArray *cards, const char *root)
{
        g_autofree char *folder = g_build_filename(root, "sys/bus/pci/devices", NULL);
        g_autoptr(GDir) names = g_dir_open(folder, 0, NULL);

        for (const char *name; names && (name = g_dir_read_name(names));) {
                unsigned class = read_hex(folder, name, "class") >> 16;

                if (class == CLASS_DISPLAY || class == CLASS_ACCELERATOR)
                        ald_cards_add(cards, name, read_hex(folder, name, "vendor"));
        }
}

/* Reads GPUs that are part of the chip, which the device of their render node shows. */
static void read_platform(GPtrArray *cards, const char *root)
{
        g_autofree char *folder = g_build_filename(root, "sys/class/drm", NULL);
        g_autoptr(GDir) names = g_dir_open(folder, 0, NULL);

        for (const char *name; names && (name = g_dir_read_name(names));) {
                g_autofree char *device = g_build_filename(folder, name, "device", NULL);
                g_autofree char *subsystem = g_build_filename(device, "subsystem", NULL);
                g_autofree char *bus = g_file_read_link(subsystem, NULL),
                                *target = g_file_read_link(device, NULL);

                if (g_str_has_prefix(name, "renderD") && target && bus && g_str_has_suffix(bus, "/platform"))
                        ald_cards_add(cards, strrchr(target, '/') ? strrchr(target, '/') + 1 : target, 0);
        }
}

GPtrArray *ald_cards_read(const char *root)
{
        GPtrArray *cards = ald_cards_new();

        read_pci(cards, root);
        read_platform(cards, root);
        return cards;
}
