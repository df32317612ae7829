/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/export-plan.h"

/* Of the commands of engines, which name them. */
extern const AldExportFormat ald_dllama_format;
extern const AldExportFormat ald_llama_format;
extern const AldExportFormat ald_mpi_format;
extern const AldExportFormat ald_sglang_format;
extern const AldExportFormat ald_torchrun_format;
extern const AldExportFormat ald_vllm_format;

/* Of any plan. */
extern const AldExportFormat ald_plan_dot_format;
