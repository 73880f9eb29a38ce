"""The published environment in HUD's own words: a small module with bugs, a workspace with a shell, pytest as the judge."""

import os
import shutil
import tempfile
from pathlib import Path

from hud import Environment
from hud.graders import BashGrader, combine

env = Environment("calc", version="1.0.0")
root = Path(tempfile.mkdtemp(prefix="hud-calc-"))
workspace = env.workspace(root, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
PYTEST = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider test_calc.py"

MEAN = "def mean(xs):\n    return sum(xs) / {count}\n"
SPREAD = "def spread(xs):\n    return {low} - min(xs)\n"
TESTS = """from calc import mean, spread


def test_mean():
    assert mean([1, 2, 6]) == 3


def test_spread():
    assert spread([5, 2, 9]) == 7
"""


@env.shutdown
async def remove():
    shutil.rmtree(root, ignore_errors=True)


@env.template(description="Repair a small Python module until its tests pass.")
async def fix_calc(variant: int):
    count = "2" if variant in (0, 1) else "len(xs)"
    low = "xs[0]" if variant in (0, 2) else "max(xs)"
    (root / "calc.py").write_text(MEAN.format(count=count) + "\n\n" + SPREAD.format(low=low))
    (root / "test_calc.py").write_text(TESTS)
    yield "Running pytest in your workspace fails. Fix calc.py so that every test passes. Do not edit test_calc.py."
    yield await combine(
        BashGrader.grade(weight=0.5, name="mean", command=f"{PYTEST} -k mean", cwd=str(root)),
        BashGrader.grade(weight=0.5, name="spread", command=f"{PYTEST} -k spread", cwd=str(root)),
    )


@env.template()
async def look():
    """Tells what the environment's side sees of its workspace."""
    (root / "note.txt").write_text("as it was staged\n")
    answer = yield "Write `seen` into the file `answer`, with what `id -u` says."
    written = root / "answer"
    yield {"score": 1.0, "content": written.read_text(), "info": {"found": answer, "owner": os.stat(written).st_uid}}
