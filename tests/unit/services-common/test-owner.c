/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/owner.h"

#include <string.h>

#include <glib.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_owners(void)
{
        static const struct {
                const char *path, *kind, *name;
        } cases[] = {
                { "/", "none", "" },
                { "", "none", "" },
                { "/../../..", "none", "" },
                { "/system.slice/ollama.service", "unit", "ollama.service" },
                { "/system.slice/system-getty.slice/getty@tty1.service", "unit", "getty@tty1.service" },
                { "/system.slice/run-r12.scope", "unit", "run-r12.scope" },
                { "/init.scope", "unit", "init.scope" },
                { "/gpu.slice/vllm.service/workers", "unit", "vllm.service" },
                { "/system.slice", "none", "" },
                { "/user.slice/user-1000.slice/user@1000.service/app.slice/app-blender.scope", "session",
                        "" },
                { "/user.slice/user-1000.slice/session-3.scope", "session", "" },
                { "/user.slice", "session", "" },
                /* A rootless container belongs to who has started it. */
                { "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", "session",
                        "" },
                /* These are as a reader in a namespace sees them, or below the slice of a tenant. */
                { "/../../user.slice/user-1000.slice/user@1000.service/app.slice/app-blender.service",
                        "session", "" },
                { "/../user.slice", "session", "" },
                { "/../../user-1000.slice/session-9.scope", "session", "" },
                { "/../user@1000.service/app.slice/app-blender.scope", "session", "" },
                { "/../session-9.scope", "session", "" },
                { "/tenant.slice/user.slice/user-1000.slice/session-9.scope", "session", "" },
                { "/../../system.slice/ollama.service", "unit", "ollama.service" },
                { "/../docker-" ID ".scope", "container", "docker:0123456789ab" },
                { "/docker/" ID "/user.slice/user-1000.slice/session-9.scope", "container",
                        "docker:0123456789ab" },
                { "/lxc.payload.web/user.slice/user-1000.slice/session-9.scope", "container", "lxc:web" },
                { "/system.slice/x.service/user.slice/session-9.scope", "unit", "x.service" },
                /* These names are no session's. */
                { "/system.slice/user-runtime-dir@1000.service", "unit", "user-runtime-dir@1000.service" },
                { "/system.slice/session-cleanup.service", "unit", "session-cleanup.service" },
                { "/system.slice/docker-" ID ".scope", "container", "docker:0123456789ab" },
                { "/docker/" ID, "container", "docker:0123456789ab" },
                { "/docker/" ID "/system.slice/fake.service", "container", "docker:0123456789ab" },
                { "/machine.slice/libpod-" ID ".scope/container", "container", "podman:0123456789ab" },
                { "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/crio-" ID ".scope",
                        "container", "crio:0123456789ab" },
                { "/kubepods.slice/.../cri-containerd-" ID ".scope", "container", "containerd:0123456789ab" },
                { "/kubepods/besteffort/pod6d1/" ID, "container", "kubernetes:0123456789ab" },
                { "/lxc.payload.web/init.scope", "container", "lxc:web" },
                { "/lxc/a-rather-long-name/x", "container", "lxc:a-rather-lon" },
                { "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/emulator", "container",
                        "machine:qemu\\x2d1\\x2" },
                { "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "job", "4711" },
                { "/system.slice/node1_slurmstepd.scope/job_7/step_0", "job", "7" },
                { "/slurm/uid_1000/job_12", "job", "12" },
                { "/slurm_node1/uid_1000/job_12/step_batch", "job", "12" },
                /* Other programs may name folders like Slurm, but its jobs have numbers. */
                { "/system.slice/x.service/slurm/job_12", "unit", "x.service" },
                { "/system.slice/slurmstepd.scope/job_4711x", "none", "" },
                { "/system.slice/slurmstepd.scope/job_", "none", "" },
                { "/job_4711", "none", "" },
                /* Neither is an id. */
                { "/system.slice/docker-abc.scope", "unit", "docker-abc.scope" },
                { "/docker/compose", "none", "" },
                { "/" ID, "none", "" },
                { "/system.slice/evil\x01\x1b[31m\xff.service", "unit", "evil___31m_.service" },
                { "//system.slice///a.service//", "unit", "a.service" },
                { "/.service/.scope", "none", "" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldOwner owner;

                ald_owner_parse(cases[i].path, &owner);
                g_test_message("%s", cases[i].path);
                g_assert_cmpstr(ald_holder_owner_kind_to_string(owner.kind), ==, cases[i].kind);
                g_assert_cmpstr(owner.name, ==, cases[i].name);
        }
}

static void test_long_names(void)
{
        g_autofree char *name = g_strnfill(4096, 'x');
        g_autofree char *path = g_strdup_printf("/system.slice/%s.service", name);
        g_autofree char *job = g_strdup_printf("/slurm/job_%s", name);
        AldOwner owner;

        ald_owner_parse(path, &owner);
        g_assert_cmpint(owner.kind, ==, ALD_HOLDER_OWNER_KIND_UNIT);
        g_assert_cmpuint(strlen(owner.name), ==, ALD_OWNER_NAME_MAX - 1);
        memset(strchr(job, 'x'), '7', 4096);
        ald_owner_parse(job, &owner);
        g_assert_cmpint(owner.kind, ==, ALD_HOLDER_OWNER_KIND_JOB);
        g_assert_cmpuint(strlen(owner.name), ==, ALD_OWNER_NAME_MAX - 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/owner/owners", test_owners);
        g_test_add_func("/owner/long-names", test_long_names);
        return g_test_run();
}
