/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/holders/owner.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

/* Characters of the id or name of a container that are shown. */
#define CONTAINER_ID_SHOWN 12

/* Ids of containers have 64 hexadecimal digits; a shorter one still is no name that people give. */
#define ID_DIGITS_MIN 32u

/* One part of the path between two slashes, and what is known of those before it. */
typedef struct Part {
        const char *text;
        size_t length;
        const char *parent; /* the part before it, as long as `parent_length` */
        size_t parent_length;
        bool in_slurm, in_kubernetes;
} Part;

static bool is(const char *text, size_t length, const char *name)
{
        return length == strlen(name) && memcmp(text, name, length) == 0;
}

static bool starts_with(const Part *part, const char *prefix)
{
        size_t length = strlen(prefix);

        return part->length > length && memcmp(part->text, prefix, length) == 0;
}

static bool ends_with(const Part *part, const char *suffix)
{
        size_t length = strlen(suffix);

        return part->length > length && memcmp(part->text + part->length - length, suffix, length) == 0;
}

/* Sets the owner, with characters that are in no name of systemd replaced. */
static void set_owner(
        AldOwner *ret, AldHolderOwnerKind kind, const char *prefix, const char *name, size_t length)
{
        int n = snprintf(ret->name, sizeof ret->name, "%s", prefix);

        ret->kind = kind;
        for (size_t i = 0; i < length && (size_t) n + 1 < sizeof ret->name; i++, n++)
                ret->name[n] = g_ascii_isalnum(name[i]) || (name[i] && strchr("@:._\\-", name[i])) ? name[i]
                                                                                                   : '_';
        ret->name[n] = '\0';
}

static void set_container(AldOwner *ret, const char *runtime, const char *id, size_t length)
{
        g_autofree char *prefix = g_strdup_printf("%s:", runtime);

        set_owner(ret, ALD_HOLDER_OWNER_KIND_CONTAINER, prefix, id, MIN(length, CONTAINER_ID_SHOWN));
}

/* Returns the number of hexadecimal digits at the beginning of a part. */
static size_t count_digits(const char *text, size_t length)
{
        size_t n = 0;

        while (n < length && g_ascii_isxdigit(text[n]))
                n++;
        return n;
}

static bool is_id(const char *text, size_t length)
{
        size_t n = count_digits(text, length);

        return n >= ID_DIGITS_MIN && (n == length || is(text + n, length - n, ".scope"));
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

                if (!starts_with(part, known[i].prefix) || !is_id(part->text + length, part->length - length))
                        continue;
                set_container(ret, known[i].runtime, part->text + length, part->length - length);
                return true;
        }
        if (!is_id(part->text, part->length) ||
                (!part->in_kubernetes && !is(part->parent, part->parent_length, "docker")))
                return false;
        set_container(ret, part->in_kubernetes ? "kubernetes" : "docker", part->text, part->length);
        return true;
}

/* Finds a container or virtual machine that is named by people. */
static bool find_by_name(const Part *part, AldOwner *ret)
{
        size_t machine = strlen("machine-"), scope = strlen(".scope"), payload = strlen("lxc.payload.");

        if (starts_with(part, "lxc.payload."))
                set_container(ret, "lxc", part->text + payload, part->length - payload);
        else if (is(part->parent, part->parent_length, "lxc") ||
                 is(part->parent, part->parent_length, "lxc.payload"))
                set_container(ret, "lxc", part->text, part->length);
        else if (starts_with(part, "machine-") && ends_with(part, ".scope") && part->length > machine + scope)
                set_container(ret, "machine", part->text + machine, part->length - machine - scope);
        else
                return false;
        return true;
}

static bool find_job(const Part *part, AldOwner *ret)
{
        size_t prefix = strlen("job_");

        if (!part->in_slurm || !starts_with(part, "job_"))
                return false;
        for (size_t i = prefix; i < part->length; i++)
                if (!g_ascii_isdigit(part->text[i]))
                        return false;
        set_owner(ret, ALD_HOLDER_OWNER_KIND_JOB, "", part->text + prefix, part->length - prefix);
        return true;
}

/* Slurm's own scope holds its jobs. */
static bool is_of_slurm(const Part *part)
{
        return ends_with(part, "slurmstepd.scope") || is(part->text, part->length, "slurmstepd.scope") ||
               is(part->text, part->length, "slurm") || starts_with(part, "slurm_");
}

static bool find_owner(const Part *part, AldOwner *ret)
{
        if (!part->parent && is(part->text, part->length, "user.slice")) {
                set_owner(ret, ALD_HOLDER_OWNER_KIND_SESSION, "", "", 0);
                return true;
        }
        if (find_by_id(part, ret) || find_by_name(part, ret) || find_job(part, ret))
                return true;
        if (part->in_slurm || (!ends_with(part, ".service") && !ends_with(part, ".scope")))
                return false;
        set_owner(ret, ALD_HOLDER_OWNER_KIND_UNIT, "", part->text, part->length);
        return true;
}

void ald_owner_parse(const char *path, AldOwner *ret)
{
        Part part = { 0 };

        set_owner(ret, ALD_HOLDER_OWNER_KIND_NONE, "", "", 0);
        for (const char *at = path; *at; at += strspn(at, "/")) {
                if (*at == '/')
                        continue;
                part.text = at;
                part.length = strcspn(at, "/");
                part.in_slurm = part.in_slurm || is_of_slurm(&part);
                part.in_kubernetes = part.in_kubernetes || starts_with(&part, "kubepods") ||
                                     is(part.text, part.length, "kubepods");
                if (find_owner(&part, ret))
                        return;
                part.parent = part.text;
                part.parent_length = part.length;
                at += part.length;
        }
}
