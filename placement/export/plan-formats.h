/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/export-plan.h"

/* The formats of ald_plan_export(): AldExportWrite. */
int ald_export_write_llama(const AldExportPlan *plan, GString *out, char **ret_reason);
int ald_export_write_dllama(const AldExportPlan *plan, GString *out, char **ret_reason);
int ald_export_write_vllm(const AldExportPlan *plan, GString *out, char **ret_reason);
int ald_export_write_sglang(const AldExportPlan *plan, GString *out, char **ret_reason);
int ald_export_write_mpi(const AldExportPlan *plan, GString *out, char **ret_reason);
int ald_export_write_torchrun(const AldExportPlan *plan, GString *out, char **ret_reason);
int ald_export_write_plan_dot(const AldExportPlan *plan, GString *out, char **ret_reason);
