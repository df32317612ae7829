/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define ALD_LINK_PROBE_PATH "/org/alidade/LinkProbe1"
#define ALD_LINK_PROBE_LINK_PATH ALD_LINK_PROBE_PATH "/link"
#define ALD_LINK_PROBE_JOB_PATH ALD_LINK_PROBE_PATH "/job"

#define ALD_LINK_PROBE_ACTION "org.alidade.link-probe.probe"
