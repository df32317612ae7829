/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/owner.h"

#include <string.h>

#include <glib.h>

/* Characters of the id or name of a container that are shown. */
#define CONTAINER_ID_SHOWN 12

/* Ids of containers have 64 hexadecimal digits; a prefix of them still cannot be mistaken for a name. */
#define ID_DIGITS_MIN 32u

/* One part of the path between two slashes, and what is known of those before it. */
typedef struct Part {
        const char *text;
        const char *parent; /* the part before it, or "" */
        bool in_slurm, in_kubernetes;
} Part;

/* Sets the owner, with characters that are in no name of systemd replaced. */
static void set_owner(AldOwner *ret, AldHolderOwnerKind kind, const char *name)
{
        ret->kind = kind;
        g_strlcpy(ret->name, name, sizeof ret->name);
        for (char *c = ret->name; *c; c++)
                if (!g_ascii_isalnum(*c) && !strchr("@:._\\-", *c))
                        *c = '_';
}

static void set_container(AldOwner *ret, const char *runtime, const char *id, size_t length)
{
        g_autofree char *name = g_strdup_printf(
                "%s:%.*s", runtime, (int) MIN(length, CONTAINER_ID_SHOWN), id);

        set_owner(ret, ALD_HOLDER_OWNER_KIND_CONTAINER, name);
}

static bool is_id(const char *text)
{
        size_t n = strspn(text, "0123456789abcdefABCDEF");

        return n >= ID_DIGITS_MIN && (text[n] == '\0' || g_str_equal(text + n, ".scope"));
}

/* Finds a container whose unit or folder is named after its id: docker-ID.scope, libpod-ID. */
static bool find_by_id(const Part *part, AldOwner *ret)
{
        static const struct {
                const char *prefix, *runtime;
        } known[] = {
                { "docker-", "docker" },
                { "libpod-", "podman" },
                { "crio-", "crio" },
                { "cri-containerd-", "containerd" },
                { "nerdctl-", "containerd" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
                size_t length = strlen(known[i].prefix);

                if (!g_str_has_prefix(part->text, known[i].prefix) || !is_id(part->text + length))
                        continue;
                set_container(ret, known[i].runtime, part->text + length, CONTAINER_ID_SHOWN);
                return true;
        }
        if (!is_id(part->text) || (!part->in_kubernetes && !g_str_equal(part->parent, "docker")))
                return false;
        set_container(ret, part->in_kubernetes ? "kubernetes" : "docker", part->text, CONTAINER_ID_SHOWN);
        return true;
}

/* Finds a container or virtual machine that is named by people. */
static bool find_by_name(const Part *part, AldOwner *ret)
{
        size_t length = strlen(part->text);

        if (g_str_has_prefix(part->text, "lxc.payload."))
                set_container(ret, "lxc", part->text + strlen("lxc.payload."), length);
        else if (g_str_equal(part->parent, "lxc") || g_str_equal(part->parent, "lxc.payload"))
                set_container(ret, "lxc", part->text, length);
        else if (g_str_has_prefix(part->text, "machine-") && g_str_has_suffix(part->text, ".scope") &&
                 length > strlen("machine-.scope"))
                set_container(
                        ret, "machine", part->text + strlen("machine-"), length - strlen("machine-.scope"));
        else
                return false;
        return true;
}

static bool find_job(const Part *part, AldOwner *ret)
{
        const char *number = part->text + strlen("job_");

        if (!part->in_slurm || !g_str_has_prefix(part->text, "job_") || *number == '\0' ||
                number[strspn(number, "0123456789")] != '\0')
                return false;
        set_owner(ret, ALD_HOLDER_OWNER_KIND_JOB, number);
        return true;
}

static bool is_unit(const char *text)
{
        return *text != '.' && (g_str_has_suffix(text, ".service") || g_str_has_suffix(text, ".scope"));
}

/* A path that is relative to the reader's own control group may lack the folders above these, and a slice may
 * hold the control groups of a whole system. */
static bool is_session(const char *text)
{
        return g_str_equal(text, "user.slice") ||
               (g_str_has_prefix(text, "user-") && g_str_has_suffix(text, ".slice")) ||
               (g_str_has_prefix(text, "user@") && g_str_has_suffix(text, ".service")) ||
               (g_str_has_prefix(text, "session-") && g_str_has_suffix(text, ".scope"));
}

static bool find_owner(const Part *part, AldOwner *ret)
{
        if (is_session(part->text)) {
                set_owner(ret, ALD_HOLDER_OWNER_KIND_SESSION, "");
                return true;
        }
        if (find_by_id(part, ret) || find_by_name(part, ret) || find_job(part, ret))
                return true;
        if (part->in_slurm || !is_unit(part->text))
                return false;
        set_owner(ret, ALD_HOLDER_OWNER_KIND_UNIT, part->text);
        return true;
}

void ald_owner_parse(const char *path, AldOwner *ret)
{
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);
        Part part = { .text = "" };

        set_owner(ret, ALD_HOLDER_OWNER_KIND_NONE, "");
        for (char **text = parts; *text; text++) {
                /* A path begins with ".." if it is outside of the reader's namespace. */
                if (**text == '\0' || g_str_equal(*text, ".."))
                        continue;
                part.parent = part.text;
                part.text = *text;
                /* Slurm's own scope holds its jobs. */
                part.in_slurm |= g_str_has_suffix(*text, "slurmstepd.scope") || g_str_equal(*text, "slurm") ||
                                 g_str_has_prefix(*text, "slurm_");
                part.in_kubernetes |= g_str_has_prefix(*text, "kubepods");
                if (find_owner(&part, ret))
                        return;
        }
}
