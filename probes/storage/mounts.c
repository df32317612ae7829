/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "probes/storage/mounts.h"

/* The fields of a line of mountinfo before the optional ones, and after the "-" that ends those. */
enum { FIELD_ID, FIELD_PARENT, FIELD_DEVICE, FIELD_ROOT, FIELD_POINT, FIELD_OPTIONS, N_FIELDS };
enum { FIELD_TYPE = 1, FIELD_SOURCE, FIELD_SUPER_OPTIONS, N_LAST_FIELDS };

static void mount_free(void *pointer)
{
        AldMount *mount = pointer;

        g_free(mount->point);
        g_free(mount->type);
        g_free(mount->source);
        g_free(mount);
}

/* Replaces escapes such as "\040", by which spaces, tabs, line feeds and backslashes are written. */
static char *unescape(const char *text)
{
        GString *plain = g_string_new(NULL);

        while (*text) {
                bool escaped = text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
                               text[2] <= '7' && text[3] >= '0' && text[3] <= '7';

                if (escaped)
                        g_string_append_c(
                                plain, (char) ((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0')));
                else
                        g_string_append_c(plain, *text);
                text += escaped ? 4 : 1;
        }
        return g_string_free(plain, FALSE);
}

/* Returns whether there is such an option, with or without a value. */
static bool has_option(const char *options, const char *name)
{
        g_auto(GStrv) each = g_strsplit(options, ",", -1);
        size_t length = strlen(name);

        for (char **option = each; *option; option++)
                if (strncmp(*option, name, length) == 0 &&
                        ((*option)[length] == '\0' || (*option)[length] == '='))
                        return true;
        return false;
}

/* A file system without a block device may be anywhere. The types that are known to be on this machine are
 * listed here, so that an unknown type is never taken for one that answers. */
static AldMountClass classify(const AldMount *mount)
{
        static const char *const local[] = { "bcachefs", "btrfs", "overlay", "ramfs", "tmpfs", "zfs", NULL };

        if (g_str_equal(mount->type, "autofs"))
                return ALD_MOUNT_AUTOMATIC;
        if (g_str_has_prefix(mount->type, "fuse"))
                return ALD_MOUNT_REMOTE;
        return mount->major != 0 || g_strv_contains(local, mount->type) ? ALD_MOUNT_LOCAL : ALD_MOUNT_REMOTE;
}

static AldMount *parse_line(const char *line)
{
        static const char *const network[] = { "ceph", "cifs", "nfs", "nfs4", "smb3", NULL };
        g_auto(GStrv) fields = g_strsplit(line, " ", -1);
        size_t n = g_strv_length(fields), dash = N_FIELDS;
        AldMount *mount;
        guint64 id;
        unsigned major, minor;

        while (dash < n && !g_str_equal(fields[dash], "-"))
                dash++;
        if (dash + N_LAST_FIELDS > n || *fields[FIELD_POINT] != '/' ||
                !g_ascii_string_to_unsigned(fields[FIELD_ID], 10, 0, G_MAXUINT64 - 1, &id, NULL) ||
                sscanf(fields[FIELD_DEVICE], "%5u:%7u", &major, &minor) != 2)
                return NULL;
        mount = g_new0(AldMount, 1);
        mount->id = id;
        mount->major = major;
        mount->minor = minor;
        mount->point = unescape(fields[FIELD_POINT]);
        mount->type = unescape(fields[dash + FIELD_TYPE]);
        mount->source = unescape(fields[dash + FIELD_SOURCE]);
        mount->class = classify(mount);
        mount->is_network = g_strv_contains(network, mount->type);
        mount->keeps_access_times = has_option(fields[FIELD_OPTIONS], "ro") ||
                                    has_option(fields[FIELD_OPTIONS], "noatime") ||
                                    has_option(fields[dash + FIELD_SUPER_OPTIONS], "ro");
        mount->compresses = has_option(fields[dash + FIELD_SUPER_OPTIONS], "compress") ||
                            has_option(fields[dash + FIELD_SUPER_OPTIONS], "compress-force");
        return mount;
}

GPtrArray *ald_mounts_parse(const char *text)
{
        GPtrArray *mounts = g_ptr_array_new_with_free_func(mount_free);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                AldMount *mount = parse_line(*line);

                if (mount)
                        g_ptr_array_add(mounts, mount);
        }
        return mounts;
}

static bool contains_path(const AldMount *mount, const char *path)
{
        size_t length = strlen(mount->point);

        return length == 1 ||
               (strncmp(mount->point, path, length) == 0 && (path[length] == '/' || path[length] == '\0'));
}

const AldMount *ald_mounts_find(const GPtrArray *mounts, const char *path)
{
        const AldMount *found = NULL;

        /* The last mount at the same place lies on top. */
        for (guint i = 0; i < mounts->len; i++) {
                const AldMount *mount = mounts->pdata[i];

                if (contains_path(mount, path) && (!found || strlen(mount->point) >= strlen(found->point)))
                        found = mount;
        }
        return found;
}

bool ald_mounts_is_point(const GPtrArray *mounts, const char *path)
{
        for (guint i = 0; i < mounts->len; i++)
                if (strcmp(((const AldMount *) mounts->pdata[i])->point, path) == 0)
                        return true;
        return false;
}
