/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/checked-plan.h"

/* The table of engines names these, which write the commands of each. */
extern const AldExportFormat ald_dllama_format;
extern const AldExportFormat ald_llama_format;
extern const AldExportFormat ald_mpi_format;
extern const AldExportFormat ald_sglang_format;
extern const AldExportFormat ald_torchrun_format;
extern const AldExportFormat ald_vllm_format;

/* This one writes any plan, so that no engine names it. */
extern const AldExportFormat ald_plan_dot_format;
