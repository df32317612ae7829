/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "services/common/container.h"
#include "services/common/firmware-text.h"
#include "services/common/sysroot.h"

/* Checks the environment of process 1, which is separated by NUL bytes and readable by root only. */
static bool has_container_variable(int root)
{
        g_autofree char *environment = NULL;
        ssize_t n = ald_bytes_try_read(root, "proc/1/environ", &environment);

        for (ssize_t i = 0; i < n; i += (ssize_t) strlen(environment + i) + 1)
                if (g_str_has_prefix(environment + i, "container="))
                        return true;
        return false;
}

/* The initial cgroup namespace, in which the control groups of a whole machine are visible. */
#define FIRST_GROUP_NAMESPACE "cgroup:[4026531835]"

static bool has_group_namespace(int root)
{
        g_autofree char *namespace = NULL;

        return ald_sysroot_link_target(root, "proc/self/ns/cgroup", &namespace) >= 0 &&
               !g_str_equal(namespace, FIRST_GROUP_NAMESPACE);
}

/* Without a namespace of its own, a container of Kubernetes shows by the path of its group. */
static bool is_group_of_pod(int root, const char *path)
{
        g_autofree char *groups = NULL;

        return ald_bytes_try_read(root, path, &groups) >= 0 && strstr(groups, "/kubepods");
}

bool ald_root_is_container(int root)
{
        /* Kubernetes creates none of the first four. The root group of a machine has no cgroup.type, in
         * contrast to that of a namespace. */
        static const char *const marks[] = { "run/systemd/container", "run/host/container-manager",
                "run/.containerenv", ".dockerenv", "run/secrets/kubernetes.io",
                "var/run/secrets/kubernetes.io", "sys/fs/cgroup/cgroup.type" };

        for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
                if (ald_sysroot_exists(root, marks[i]))
                        return true;
        return has_container_variable(root) || has_group_namespace(root) ||
               is_group_of_pod(root, "proc/1/cgroup") || is_group_of_pod(root, "proc/self/cgroup");
}
