#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a text of ours with the directories of a build: directories.py INPUT OUTPUT SYSCONFDIR LIBEXECDIR DATADIR

The source names those of Debian, so that manual pages can be read in the tree. Below /var/lib and /run systemd makes
the directories of services, wherever they are installed.
"""

import re
import sys


def main(source, output, sysconfdir, libexecdir, datadir):
    places = {"/etc/alidade": f"{sysconfdir}/alidade", "/usr/libexec/alidade": libexecdir,
              "/usr/share/doc/alidade": f"{datadir}/doc/alidade", "/usr/share/alidade": f"{datadir}/alidade"}
    with open(source, encoding="utf-8") as file:
        text = file.read()
    if re.search(r"\.[1-8]$", source):
        # A hyphen of a manual page is not a minus.
        places = {usual: place.replace("-", r"\-") for usual, place in places.items()}
    text = re.sub("|".join(places), lambda found: places[found[0]], text)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
