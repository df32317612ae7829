# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the desktop program under Xvfb, as a screen reader sees it. ALIDADE_BUILD names the build under test."""

import os
import sys
from pathlib import Path

import pytest

for folder in ("bed", "bus"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))

from bedlib.fixtures import make_cluster, make_host  # noqa: E402,F401
from desktop_session import DesktopSession, why_not  # noqa: E402
from played_cluster import Played  # noqa: E402

FAILED_HERE = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """So that a screen can be kept of a failure."""
    report = (yield).get_result()
    if report.failed:
        item.stash[FAILED_HERE] = True


@pytest.fixture(scope="session")
def session():
    """The desktop of this worker."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with DesktopSession() as found:
        yield found


def keep_picture(session, request):
    """Beside what pytest keeps of a failure, or in the folder that ALIDADE_SCREENSHOTS names."""
    folder = Path(os.environ.get("ALIDADE_SCREENSHOTS") or os.environ.get("TMPDIR") or "/tmp")
    path = folder / f"failed-{request.node.name.replace('/', '_')[:100]}.png"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        session.screen.picture().savev(str(path), "png", [], [])
    except Exception as error:  # it must not hide what failed
        return f"no picture: {error}"
    return f"the screen is in {path}"


@pytest.fixture
def desktop(session, request):
    """The desktop for one test: what it starts ends with it and must have printed no warning."""
    session.screen.put_pointer_aside()
    yield session
    if request.node.stash.get(FAILED_HERE, False):
        print(keep_picture(session, request), file=sys.stderr)
    problems = session.end_programs()
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.fixture
def play(make_host, desktop):
    """play(…): a played cluster, and the program that looks at it; see Played."""
    played = []

    def make(*args, **options):
        fresh = Played(make_host(), desktop, *args, **options)
        played.append(fresh)
        fresh.start()
        return fresh

    yield make
    for one in played:
        one.close()
