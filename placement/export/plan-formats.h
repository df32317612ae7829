/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/checked-plan.h"

/* Formats of the commands of engines, to which the table of engines refers. */
extern const AldExportFormat ald_dllama_format;
extern const AldExportFormat ald_llama_format;
extern const AldExportFormat ald_mpi_format;
extern const AldExportFormat ald_sglang_format;
extern const AldExportFormat ald_torchrun_format;
extern const AldExportFormat ald_vllm_format;

/* Writes any plan, so no engine refers to it. */
extern const AldExportFormat ald_plan_dot_format;
