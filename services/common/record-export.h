/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/common/service.h"

/*
 * Records of one kind that a service measures, shown as their D-Bus interface on objects of the service: on
 * one, or on any number below it. The interface is there from the first update on. Changes below
 * their thresholds wait; everything is sent again every 30 s.
 */
typedef struct AldRecordExport AldRecordExport;

#define ALD_RESEND_USEC (UINT64_C(30) * 1000 * 1000)

/* `path` is the object, or that below which all are. */
int ald_record_export_new(AldService *service, const char *path, AldKind kind, AldRecordExport **ret);
void ald_record_export_free(AldRecordExport *export);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldRecordExport, ald_record_export_free)

/* Takes a struct of the kind, copies it, and sends what changed. Logs and returns its error. */
int ald_record_export_update(AldRecordExport *export, const void *fields);

/* The same for the object of this name below; of one that is new InterfacesAdded tells. */
int ald_record_export_put(AldRecordExport *export, const char *name, const void *fields);

/* Takes the object of this name away, if it is there. */
void ald_record_export_drop(AldRecordExport *export, const char *name);
