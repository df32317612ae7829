/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/cluster/cluster-files.h"
#include "clients/cluster/command.h"
#include "clients/cluster/shown-names.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/fields.h"
#include "clients/command-line/print.h"
#include "clients/command-line/table.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/format.h"
#include "pki/certificate.h"
#include "pki/crl.h"
#include "state-client/value.h"

#define SOON_USEC (30 * 24 * 3600e6)
#define INDENT 4

static int read_properties(sd_bus *bus, json_t *into, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        json_t *properties = json_object();
        int r;

        json_object_set_new(into, "Cluster", properties);
        r = sd_bus_call_method(bus, ALD_CLUSTER_NAME, ALD_CLUSTER_PATH, "org.freedesktop.DBus.Properties",
                "GetAll", error, &reply, "s", ALD_CLUSTER_INTERFACE);
        return r < 0 ? r : ald_value_read_dict(reply, properties, NULL);
}

/* Adds the number of records that the state service refused; omits it if the service does not run. */
static void add_refused_records(sd_bus *bus, json_t *into)
{
        json_t *state = json_object();
        uint64_t refused;

        json_object_set_new(into, "State", state);
        if (ald_bus_await(bus, ALD_STATE_NAME, NULL) >= 0 &&
                sd_bus_get_property_trivial(bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE,
                        "RefusedRecords", NULL, 't', &refused) >= 0)
                json_object_set_new(state, "RefusedRecords", json_integer((json_int_t) refused));
}

static int read_rows(sd_bus *bus, const char *method, const char *name, json_t *into, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        json_t *rows = json_array();
        int r;

        json_object_set_new(into, name, rows);
        r = sd_bus_call_method(
                bus, ALD_CLUSTER_NAME, ALD_CLUSTER_PATH, ALD_CLUSTER_INTERFACE, method, error, &reply, NULL);
        if (r >= 0)
                r = sd_bus_message_has_signature(reply, "aa{sv}") > 0 ? 0 : -EBADMSG;
        return r < 0 ? r : ald_value_read_rows(reply, rows);
}

static void add_names(sd_bus *bus, json_t *nodes)
{
        json_t *names = ald_shown_names_read(bus), *node;
        size_t i;

        json_array_foreach(nodes, i, node) {
                const char *id = ald_field_text(node, "Id");
                json_t *name = id ? json_object_get(names, id) : NULL;

                if (name)
                        json_object_set(node, "FriendlyName", name);
        }
        json_decref(names);
}

/*
 * Reads {"Cluster": properties, "Brokers": rows, "Nodes": rows} of org.alidade.Cluster1, with the
 * FriendlyName of nodes that the state service knows. Returns an exit code; *ret_problem says why it cannot
 * be read.
 */
static int read_service(const AldCtl *ctl, json_t **ret, char **ret_problem)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        json_t *object;
        int r;

        r = ald_bus_open(ctl, &bus);
        if (r != ALD_EXIT_OK) {
                *ret_problem = g_strdup("cannot connect to the bus");
                return r;
        }
        object = json_object();
        r = ald_bus_await(bus, ALD_CLUSTER_NAME, &error);
        if (r >= 0)
                r = read_properties(bus, object, &error);
        if (r >= 0)
                r = read_rows(bus, "GetBrokers", "Brokers", object, &error);
        if (r >= 0)
                r = read_rows(bus, "GetNodes", "Nodes", object, &error);
        if (r < 0) {
                json_decref(object);
                if (!sd_bus_error_is_set(&error))
                        (void) sd_bus_error_set_errno(&error, r);
                *ret_problem = g_strdup(error.message ? error.message : error.name);
                return ald_bus_exit_code(&error);
        }
        add_names(bus, json_object_get(object, "Nodes"));
        add_refused_records(bus, object);
        *ret = object;
        return ALD_EXIT_OK;
}

static void add_expiry(json_t *local, const AldClusterFiles *files, const char *file, const char *key)
{
        g_autofree char *path = g_build_filename(files->folder, file, NULL);
        g_autoptr(X509) certificate = NULL;
        AldPkiFacts facts;

        if (ald_pki_certificate_load(path, &certificate, NULL) < 0)
                return;
        ald_pki_certificate_facts(certificate, &facts);
        json_object_set_new(local, key, json_integer((json_int_t) facts.not_after));
}

/* Reads the files of this machine. */
static json_t *read_local(const AldClusterFiles *files)
{
        g_autofree char *path = g_build_filename(files->folder, "crl.pem", NULL);
        json_t *local = json_object(), *brokers = json_array();
        g_autoptr(X509_CRL) crl = NULL;

        json_object_set_new(local, "NodeId", json_string(files->id));
        if (*files->name)
                json_object_set_new(local, "ClusterName", json_string(files->name));
        for (char **broker = files->brokers; *broker; broker++)
                json_array_append_new(brokers, json_string(*broker));
        json_object_set_new(local, "Brokers", brokers);
        add_expiry(local, files, "ca.crt", "AuthorityExpiryUSec");
        add_expiry(local, files, "node.crt", "CertificateExpiryUSec");
        add_expiry(local, files, "broker/broker.crt", "BrokerCertificateExpiryUSec");
        if (ald_pki_crl_load(path, &crl, NULL) >= 0) {
                json_object_set_new(local, "CrlNumber", json_integer((json_int_t) ald_pki_crl_number(crl)));
                json_object_set_new(
                        local, "RevokedCertificates", json_integer((json_int_t) ald_pki_crl_count(crl)));
        }
        return local;
}

/* Returns "until 2027-12-23"; if that is soon, the remaining time as a warning. */
static char *describe_expiry(double expiry)
{
        double now = ald_now();
        g_autofree char *date = NULL, *left = NULL;

        if (isnan(expiry))
                return g_strdup(ALD_ABSENT_TEXT);
        date = ald_format_date(expiry);
        if (expiry < now)
                return g_strdup_printf(ALD_STYLE_ERROR "expired on %s" ALD_STYLE_NORMAL, date);
        if (expiry - now >= SOON_USEC)
                return g_strdup_printf("until %s", date);
        left = ald_format_expiry(expiry, now);
        return g_strdup_printf(ALD_STYLE_WARNING "until %s" ALD_STYLE_NORMAL, left);
}

static void add_line(GString *out, const char *label, const char *text)
{
        g_string_append_printf(out, ALD_STYLE_BOLD "%-12s" ALD_STYLE_NORMAL " %s\n", label, text);
}

static void add_text_line(GString *out, const char *label, const json_t *fields, const char *name)
{
        g_autofree char *safe = ald_text_safe(ald_field_text(fields, name) ?: "");

        if (*safe)
                add_line(out, label, safe);
}

static void add_expiry_line(GString *out, const char *label, const json_t *local, const char *name)
{
        g_autofree char *text = describe_expiry(ald_field_number(local, name));

        if (json_object_get(local, name))
                add_line(out, label, text);
}

static void describe_local(GString *out, const json_t *local)
{
        g_autofree char *list = NULL;

        add_text_line(out, "This node", local, "NodeId");
        add_expiry_line(out, "Certificate", local, "CertificateExpiryUSec");
        add_expiry_line(out, "Broker's", local, "BrokerCertificateExpiryUSec");
        add_expiry_line(out, "Authority", local, "AuthorityExpiryUSec");
        if (!json_object_get(local, "CrlNumber"))
                return;
        list = g_strdup_printf("number %.0f, %.0f revoked", ald_field_number(local, "CrlNumber"),
                ald_field_number(local, "RevokedCertificates"));
        add_line(out, "Revocations", list);
}

static char *cell_text(const json_t *row, const char *name)
{
        return ald_text_safe(ald_field_text(row, name) ?: "");
}

static char *styled_state(const json_t *row)
{
        g_autofree char *state = cell_text(row, "State");
        bool good = strcmp(state, "online") == 0 || strcmp(state, "connected") == 0;
        bool soft = strcmp(state, "stale") == 0 || strcmp(state, "connecting") == 0;

        return g_strconcat(good   ? ALD_STYLE_GOOD
                           : soft ? ALD_STYLE_WARNING
                                  : ALD_STYLE_ERROR,
                state, ALD_STYLE_NORMAL, NULL);
}

/* Makes a table of rows. Problems are sentences; if a column has no room for them, they are printed below
 * their rows. */
typedef AldTable *(*MakeTable)(const json_t *rows, bool problems);

static bool fits_columns(AldTable *table, unsigned columns)
{
        ald_table_layout(table, 0, NULL);
        for (int row = -1; columns > 0 && row < (int) ald_table_rows(table); row++) {
                g_autofree char *line = ald_table_line(table, row);

                if (ald_text_width(line) > columns)
                        return false;
        }
        return true;
}

static void append_problem(GString *out, const json_t *row, unsigned columns)
{
        g_autofree char *problem = cell_text(row, "Problem");

        if (*problem == '\0')
                return;
        g_string_append_printf(out, "%*s", INDENT, "");
        ald_text_wrap(out, problem, columns, INDENT);
        g_string_append_c(out, '\n');
}

static void append_table(GString *out, MakeTable make, const json_t *rows, unsigned columns)
{
        g_autoptr(AldTable) table = make(rows, true);
        bool beside = fits_columns(table, columns);

        if (json_array_size(rows) == 0)
                return;
        if (!beside) {
                g_clear_pointer(&table, ald_table_free);
                table = make(rows, false);
                ald_table_layout(table, columns, NULL);
        }
        g_string_append_c(out, '\n');
        for (int row = -1; row < (int) ald_table_rows(table); row++) {
                g_autofree char *line = ald_table_line(table, row);

                g_string_append_printf(out, "%s\n", line);
                if (row >= 0 && !beside)
                        append_problem(out, json_array_get(rows, (size_t) row), columns);
        }
}

static AldTable *make_broker_table(const json_t *rows, bool problems)
{
        static const AldColumn names[] = { { "BROKER" }, { "STATE" }, { "FOUND BY", .priority = 2 },
                { "CERTIFICATE", .priority = 1 }, { "PROBLEM", .priority = 3 } };
        AldTable *table = ald_table_new(names, G_N_ELEMENTS(names) - !problems);
        const json_t *row;
        size_t i;

        json_array_foreach(rows, i, row) {
                bool publishing = json_is_true(json_object_get(row, "Publishing"));
                g_autofree char *address = cell_text(row, "Address");

                ald_table_add(table, g_strconcat(address, publishing ? " *" : "", NULL));
                ald_table_add(table, styled_state(row));
                ald_table_add(table, cell_text(row, "Source"));
                ald_table_add(table, describe_expiry(ald_field_number(row, "CertificateExpiryUSec")));
                if (problems)
                        ald_table_add(table, cell_text(row, "Problem"));
        }
        return table;
}

static AldTable *make_node_table(const json_t *rows, bool problems)
{
        static const AldColumn names[] = { { "NODE" },
                { "NAME", .flexible = true, .least = 8, .priority = 1 }, { "STATE" },
                { "SINCE", .priority = 2 }, { "LAG", .right = true, .priority = 3 },
                { "CLOCK", .right = true, .priority = 5 }, { "REFUSED", .right = true, .priority = 4 },
                { "PROBLEM", .priority = 6 } };
        AldTable *table = ald_table_new(names, G_N_ELEMENTS(names) - !problems);
        double now = ald_now();
        const json_t *row;
        size_t i;

        json_array_foreach(rows, i, row) {
                double refused = ald_field_number(row, "RefusedMessages");

                ald_table_add(table, cell_text(row, "Id"));
                ald_table_add(table, cell_text(row, "FriendlyName"));
                ald_table_add(table, styled_state(row));
                ald_table_add(table, ald_format_age(ald_field_number(row, "SinceUSec"), now));
                ald_table_add(table, ald_format_duration(ald_field_number(row, "LagUSec")));
                ald_table_add(table, ald_format_offset(ald_field_number(row, "ClockOffsetUSec")));
                ald_table_add(table, refused > 0 ? ald_format_count(refused) : NULL);
                if (problems)
                        ald_table_add(table, cell_text(row, "Problem"));
        }
        return table;
}

static int compare_by_name(const void *a, const void *b)
{
        const json_t *const *one = a, *const *other = b;
        const char *name = ald_field_text(*one, "FriendlyName"),
                   *other_name = ald_field_text(*other, "FriendlyName");
        int r = g_strcmp0(name, other_name);

        /* Nodes without a name come last. */
        if (!name != !other_name)
                return name ? -1 : 1;
        return r != 0 ? r : g_strcmp0(ald_field_text(*one, "Id"), ald_field_text(*other, "Id"));
}

static json_t *sort_nodes(const json_t *rows)
{
        g_autoptr(GPtrArray) sorted = g_ptr_array_new();
        json_t *result = json_array(), *row;
        size_t i;

        json_array_foreach(rows, i, row)
                g_ptr_array_add(sorted, row);
        g_ptr_array_sort(sorted, compare_by_name);
        for (guint n = 0; n < sorted->len; n++)
                json_array_append(result, sorted->pdata[n]);
        return result;
}

/* Describes what is mirrored of other nodes, and how to get more. */
static void describe_mirror(GString *out, const json_t *cluster)
{
        static const char *const explained[][2] = {
                { "self", "self: only presence, names and addresses; set mirror=all in alidade.conf for "
                          "everything" },
                { "on-demand",
                        "on-demand: presence, names and addresses; everything while a client watches" },
                { "none", "none: nothing from other nodes; set mirror=all in alidade.conf for everything" },
        };
        const char *mirror = ald_field_text(cluster, "Mirror") ?: "";

        if (json_is_true(json_object_get(cluster, "Mirroring"))) {
                add_line(out, "Mirror",
                        strcmp(mirror, "all") == 0 ? "all" : "everything, as requested by a client");
                return;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(explained); i++)
                if (strcmp(mirror, explained[i][0]) == 0) {
                        add_line(out, "Mirror", explained[i][1]);
                        return;
                }
        add_text_line(out, "Mirror", cluster, "Mirror");
}

/* Appends "3 messages", after what is there already. */
static void append_count(GString *text, const json_t *of, const char *key, const char *unit)
{
        double count = ald_field_number(of, key);

        if (!isnan(count))
                g_string_append_printf(text, "%s%.0f %s", text->len > 0 ? ", " : "", count, unit);
}

static void describe_service(GString *out, const json_t *status)
{
        const json_t *cluster = json_object_get(status, "Cluster");
        g_autofree char *name = cell_text(cluster, "ClusterName"), *state = cell_text(cluster, "State");
        g_autofree char *head = *name ? g_strdup_printf("%s (%s)", name, state) : g_strdup("none");
        g_autoptr(GString) refused = g_string_new(NULL);

        append_count(refused, cluster, "RefusedMessages", "messages");
        append_count(refused, json_object_get(status, "State"), "RefusedRecords", "records");
        append_count(refused, cluster, "RefusedSignals", "signals");
        add_line(out, "Cluster", head);
        add_text_line(out, "Problem", cluster, "Problem");
        describe_mirror(out, cluster);
        if (refused->len > 0)
                add_line(out, "Refused", refused->str);
}

static void append_advice(GString *out, unsigned columns)
{
        g_string_append_c(out, '\n');
        ald_text_wrap(out,
                "This machine is not in a cluster. To create one: alidadectl cluster init NAME. To join one: "
                "alidadectl cluster join USER@HOST, where HOST is the machine on which it was created.",
                columns, 0);
        g_string_append_c(out, '\n');
}

static int print_text(const AldCtl *ctl, const json_t *status, const char *problem, const json_t *local)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        g_autofree char *safe = ald_text_safe(problem ?: "");

        if (status)
                describe_service(out, status);
        else {
                g_string_append_printf(out,
                        "The cluster service does not answer (%s); this is read from the files of this "
                        "machine.\n",
                        safe);
                add_line(out, "Cluster", ald_field_text(local, "ClusterName") ?: "none");
        }
        if (local)
                describe_local(out, local);
        if (local && !json_object_get(local, "ClusterName"))
                append_advice(out, info.columns);
        for (size_t i = 0; !status && i < json_array_size(json_object_get(local, "Brokers")); i++)
                add_line(out, i == 0 ? "Brokers" : "",
                        json_string_value(json_array_get(json_object_get(local, "Brokers"), i)));
        if (status) {
                json_t *nodes = sort_nodes(json_object_get(status, "Nodes"));

                append_table(out, make_broker_table, json_object_get(status, "Brokers"), info.columns);
                append_table(out, make_node_table, nodes, info.columns);
                json_decref(nodes);
        }
        return ald_print(ctl, &info, out->str);
}

int ald_cluster_status(const AldClusterCommand *command)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_autofree char *problem = NULL;
        json_t *status = NULL, *local = NULL;
        int r;

        r = read_service(&command->ctl, &status, &problem);
        /* The files of this machine say nothing about another one. */
        if (r != ALD_EXIT_OK && command->ctl.host) {
                ald_print_error("Cannot read from org.alidade.Cluster1: %s", problem);
                return r;
        }
        if (!command->ctl.host && ald_files_open(&files, command->changes) == ALD_EXIT_OK)
                local = read_local(&files);
        if (command->ctl.json) {
                json_t *object = status ? json_incref(status) : json_object();

                json_object_set_new(object, "Running", json_boolean(status != NULL));
                if (local)
                        json_object_set(object, "Files", local);
                r = ald_print_json(&command->ctl, object);
                json_decref(object);
        } else
                r = print_text(&command->ctl, status, problem, local);
        json_decref(status);
        json_decref(local);
        return r;
}
