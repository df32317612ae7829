/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/common/service.h"

/*
 * Exports the records of one kind that a service measures as D-Bus interfaces: on one object, or on any
 * number of objects below it. The interface exists from the first update on. Changes below their thresholds
 * wait; everything is sent again every 30 s.
 */
typedef struct AldRecordExport AldRecordExport;

#define ALD_RESEND_USEC (UINT64_C(30) * 1000 * 1000)

/* `path` is the object, or the parent of all objects. */
int ald_record_export_new(AldService *service, const char *path, AldKind kind, AldRecordExport **ret);
void ald_record_export_free(AldRecordExport *export);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldRecordExport, ald_record_export_free)

/* Copies a struct of the kind, and sends what has changed. Logs and returns errors. */
int ald_record_export_update(AldRecordExport *export, const void *fields);

/* Updates the child object with this name in the same way, and emits InterfacesAdded if it is new. */
int ald_record_export_put(AldRecordExport *export, const char *name, const void *fields);

/* Removes the child object with this name, if it exists. */
void ald_record_export_drop(AldRecordExport *export, const char *name);
