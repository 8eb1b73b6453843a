# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT

# Only this line: without the feature the recipe's signature must not change.
require ${@bb.utils.contains('DISTRO_FEATURES', 'rtperf', 'recipes-kernel/lttng/lttng-modules-rtperf.inc', '', d)}
