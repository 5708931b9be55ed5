"""`./dev package`: builds the wheel and the sdist, looks into both, and tries them in empty environments.

The sdist must build the very wheel, to the byte. Each Python that is here gets environments of its own, with nothing of
this checkout in them.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from workshop.package_contents import problems_of
from workshop.package_trial import SUPPORTED, Failed, try_out
from workshop.release import unready_of

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = """\
examples:
  ./dev package                     into dist/, and tried on every supported Python that is here
  ./dev package --python 3.13       … on one of them
  ./dev package --no-try            … or not at all
  ./dev package --release           … only if version, changelog and tag agree and all is committed
"""


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="./dev package", description=__doc__, epilog=EXAMPLES, formatter_class=form)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER", help="where they go (dist)")
    parser.add_argument("--python", action="append", metavar="VERSION", help="try them on this one only (again)")
    parser.add_argument("--release", action="store_true", help="refuse what isn't committed, tagged and told of")
    parser.add_argument("--no-try", action="store_true", help="install them nowhere")
    args = parser.parse_args()
    if args.release and (unready := list(unready_of(ROOT))):
        say("it can't be released yet: " + "; ".join(unready))
        return 1
    with tempfile.TemporaryDirectory(prefix="callgate-package-") as folder:
        try:
            wheel, sdist = build(ROOT, args.out)
            say(f"built {shown(wheel)}, {shown(sdist)}")
            problems = [*problems_of(wheel, sdist, ROOT), *not_the_same(wheel, sdist, Path(folder))]
            for problem in problems:
                say(problem)
            if problems:
                return 1
            say("their contents are right, and the sdist builds the same wheel")
            if not args.no_try:
                try_out(os.environ["CALLGATE_DEV_UV"], wheel, sdist, args.python or SUPPORTED, Path(folder), say)
        except Failed as error:
            say(str(error))
            return 1
    return 0


def build(source: Path, out: Path, kinds: Sequence[str] = ("wheel", "sdist")) -> list[Path]:
    """The files made of `source`, in the order of `kinds`. Nothing is fetched: the builder is pinned and here.

    Raises: Failed.
    """
    return [_build(source, out, kind) for kind in kinds]


def _build(source: Path, out: Path, kind: str) -> Path:
    environ = {**os.environ, "SOURCE_DATE_EPOCH": time_of_the_source()}
    with tempfile.TemporaryDirectory(prefix="callgate-build-") as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-d", folder, "-t", kind]
        done = subprocess.run(command, cwd=source, env=environ, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"the {kind} can't be built:\n{done.stderr.strip()}")
        (made,) = Path(folder).iterdir()
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(made, out / made.name))


def time_of_the_source() -> str:
    """That of the last commit, so that whoever builds it later gets the same bytes."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    asked = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "1577836800"


def not_the_same(wheel: Path, sdist: Path, folder: Path) -> list[str]:
    """What is wrong with the wheel that `sdist` builds. Raises: Failed."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    (again,) = build(source, folder / "again", ["wheel"])
    if digest(again) == digest(wheel):
        return []
    return [f"the sdist builds another wheel: {again.name} isn't {wheel.name} to the byte"]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def shown(path: Path) -> str:
    return f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)"


def say(text: str) -> None:
    print(f"package: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
