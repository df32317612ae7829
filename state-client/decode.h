/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "state-client/model.h"

/*
 * Applies messages of the state service to the model. A message of the wrong shape returns -EBADMSG and
 * changes nothing. Records beyond ALD_RECORD_MAX are ignored, and so are objects and interfaces without
 * records. A message that would make the model larger than ald_model_limit() allows returns -EDQUOT.
 */

/* Applies the reply of GetAll() for org.alidade.State1. */
int ald_decode_totals(sd_bus_message *m, AldModel *model);

/* Applies the reply of GetManagedObjects(). */
int ald_decode_managed_objects(sd_bus_message *m, AldModel *model);

/* Applies the reply of GetRecords(). The cursor is "" at the end. */
int ald_decode_records(sd_bus_message *m, AldModel *model, char **ret_cursor);

/* Read the reply of DescribeRecords(): the cursor, then its records. The latter returns -EOPNOTSUPP if a
 * record has keys that only a newer version knows, since the model would lack them. */
int ald_decode_descriptions_cursor(sd_bus_message *m, char **ret);
int ald_decode_descriptions(sd_bus_message *m, AldModel *model);

/* Applies the reply of GetFindings(). */
int ald_decode_findings(sd_bus_message *m, AldModel *model);

/* Applies the reply of GetTopology(), or of GetPairs() if `of_pairs`, to a model that has a graph. `first` is
 * true for the first page. *ret_next is After for the next page, or 0 if this was the last one. Returns
 * -ESTALE like ald_topology_apply_page(). */
int ald_decode_topology(sd_bus_message *m, AldModel *model, bool of_pairs, bool first, uint64_t *ret_next);

int ald_decode_interfaces_added(sd_bus_message *m, AldModel *model);
int ald_decode_interfaces_removed(sd_bus_message *m, AldModel *model);

/* Returns 1 if properties were invalidated without new values, so that everything must be read again. */
int ald_decode_properties_changed(sd_bus_message *m, AldModel *model);
