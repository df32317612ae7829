/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/common/firmware-text.h"
#include "services/identity/host-facts.h"
#include "services/identity/identity-manager.h"
#include "services/identity/name-store.h"
#include "services/identity/placeholder.h"

struct AldIdentityManager {
        int root;
        char *state_directory;
        AldIdentityChanged changed;
        void *userdata;

        char *friendly_name; /* set by the user, or NULL */
        AldFacts facts;
        char *sources; /* checksum of the files that the facts were collected from */

        /* The last values of hostname1, kept while it is not running. */
        char *pretty_hostname, *static_hostname, *hostname;
        char *vendor, *model, *chassis;
};

typedef bool (*IsPlaceholder)(const char *text);

/* Returns the first value that is neither empty nor a placeholder. */
static const char *first_of(IsPlaceholder is_placeholder, const char *const *values, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (values[i] && *values[i] && !is_placeholder(values[i]))
                        return values[i];
        return NULL;
}

#define FIRST(is_placeholder, ...)                                     \
        first_of(is_placeholder, (const char *const[]){ __VA_ARGS__ }, \
                sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void publish_identity(AldIdentityManager *m)
{
        const AldFacts *facts = &m->facts;
        AldIdentity identity = {
                /* A name that the user has set is used unchanged. */
                .friendly_name = m->friendly_name
                                         ?: FIRST(ald_is_placeholder_name, m->pretty_hostname,
                                                    facts->host_name, m->hostname, m->static_hostname),
                .host_name = FIRST(
                        ald_is_placeholder_name, facts->host_name, m->hostname, m->static_hostname),
                .model_id = FIRST(ald_is_placeholder, m->model, facts->model),
                .chip_id = facts->chip,
                .vendor = FIRST(ald_is_placeholder, m->vendor, facts->vendor),
                .chassis = FIRST(ald_is_placeholder, m->chassis, facts->chassis),
                .hypervisor = facts->hypervisor,
                .operating_system = facts->operating_system,
                .kernel_release = facts->kernel_release,
                .alidade_version = ALD_VERSION,
                .architecture = facts->architecture,
                .boot_id = facts->boot_id,
        };

        if (m->changed)
                m->changed(&identity, m->userdata);
}

void ald_identity_manager_watch(AldIdentityManager *manager, AldIdentityChanged changed, void *userdata)
{
        manager->changed = changed;
        manager->userdata = userdata;
        publish_identity(manager);
}

AldIdentityManager *ald_identity_manager_new(int root, const char *state_directory)
{
        AldIdentityManager *manager = g_new0(AldIdentityManager, 1);

        manager->root = root;
        manager->state_directory = g_strdup(state_directory);
        manager->friendly_name = ald_name_store_load(state_directory);
        ald_identity_manager_reload(manager);
        return manager;
}

static void clear_hostname1(AldIdentityManager *manager)
{
        g_clear_pointer(&manager->pretty_hostname, g_free);
        g_clear_pointer(&manager->static_hostname, g_free);
        g_clear_pointer(&manager->hostname, g_free);
        g_clear_pointer(&manager->vendor, g_free);
        g_clear_pointer(&manager->model, g_free);
        g_clear_pointer(&manager->chassis, g_free);
}

void ald_identity_manager_free(AldIdentityManager *manager)
{
        if (!manager)
                return;
        clear_hostname1(manager);
        ald_facts_clear(&manager->facts);
        g_free(manager->sources);
        g_free(manager->friendly_name);
        g_free(manager->state_directory);
        g_free(manager);
}

void ald_identity_manager_reload(AldIdentityManager *manager)
{
        g_free(manager->sources);
        manager->sources = ald_facts_sum_sources(manager->root);
        ald_facts_clear(&manager->facts);
        ald_facts_collect(manager->root, &manager->facts);
        publish_identity(manager);
}

bool ald_identity_manager_refresh(AldIdentityManager *manager)
{
        g_autofree char *sources = ald_facts_sum_sources(manager->root);

        if (g_strcmp0(sources, manager->sources) == 0)
                return false;
        ald_identity_manager_reload(manager);
        return true;
}

bool ald_identity_manager_reload_host_name(AldIdentityManager *manager)
{
        g_autofree char *name = ald_facts_read_host_name(manager->root);

        if (g_strcmp0(name, manager->facts.host_name) == 0)
                return false;
        g_free(manager->facts.host_name);
        manager->facts.host_name = g_steal_pointer(&name);
        publish_identity(manager);
        return true;
}

static char *tidy_value(const char *value)
{
        return value ? ald_firmware_text_normalize(value, strlen(value)) : NULL;
}

void ald_identity_manager_set_hostname1(AldIdentityManager *manager, const AldHostname1 *values)
{
        clear_hostname1(manager);
        manager->pretty_hostname = tidy_value(values->pretty_hostname);
        manager->static_hostname = tidy_value(values->static_hostname);
        manager->hostname = tidy_value(values->hostname);
        manager->vendor = tidy_value(values->vendor);
        manager->model = tidy_value(values->model);
        manager->chassis = tidy_value(values->chassis);
        publish_identity(manager);
}

int ald_identity_manager_set_friendly_name(AldIdentityManager *manager, const char *name)
{
        int r = ald_name_store_save(manager->state_directory, name);

        if (r < 0)
                return r;
        g_free(manager->friendly_name);
        manager->friendly_name = *name ? g_strdup(name) : NULL;
        publish_identity(manager);
        return 0;
}
