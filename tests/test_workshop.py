"""The workshop does what CONTRIBUTING.md says: pins, house rules, benchmark rows, fuzzing, ./dev itself."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

from bench.harness import Bench, BenchError, Measurement, Row, Side
from fuzz import harness as fuzzing
from fuzz.mutate import LONGEST, mutate
from workshop import house_rules

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)
WANTED: dict[str, list[str]] = {"base": PROJECT["project"]["dependencies"], **PROJECT["dependency-groups"]}


def dev(*words: str, path: str = "", python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PATH": path or os.environ["PATH"]}
    return subprocess.run([python, ROOT / "dev", *words], env=environ, capture_output=True, text=True, check=False)


# --- requirements ---


@pytest.mark.parametrize("group", [group for group, wanted in WANTED.items() if wanted])
def test_every_direct_dependency_is_pinned_within_its_bounds(group: str) -> None:
    pins = dict(PIN.findall((ROOT / "requirements" / f"{group}.txt").read_text("utf-8")))
    for requirement in map(Requirement, WANTED[group]):
        assert requirement.name in pins, f"{requirement} is not in requirements/{group}.txt: run ./dev lock"
        assert requirement.specifier.contains(pins[requirement.name], prereleases=True), requirement


def test_requirements_carry_hashes_and_no_index() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text("utf-8")
        assert "://" not in text, path.name
        assert all(line.endswith("\\") for line in text.splitlines() if PIN.match(line)), path.name


def test_the_extra_all_has_every_other_extra() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])
    assert everything.extras == set(extras) - {"all"}


# --- ./dev ---


def test_dev_parses_on_a_python_that_is_too_old() -> None:
    ast.parse((ROOT / "dev").read_text("utf-8"), feature_version=(3, 7))


def test_dev_names_its_tasks_and_shows_examples() -> None:
    done = dev("--help")
    assert done.returncode == 0
    for task in ("demo", "test", "check", "bench", "fuzz", "lock"):
        assert f"./dev {task}" in done.stdout


@pytest.mark.parametrize("words", [(), ("nonsense",), ("check", "--nonsense"), ("env", "no-such-environment")])
def test_dev_answers_wrong_usage_with_2(words: tuple[str, ...]) -> None:
    done = dev(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_dev_finds_the_python_that_it_runs_on() -> None:
    done = dev("python", f"{sys.version_info[0]}.{sys.version_info[1]}")
    assert done.returncode == 0
    assert Path(done.stdout.strip()).samefile(sys.executable)


def test_dev_says_when_there_is_no_such_python() -> None:
    done = dev("python", "3.99")
    assert done.returncode == 1
    assert "no Python 3.99 found" in done.stderr


# --- house rules ---


def package(tmp_path: Path, **files: str) -> Path:
    root = tmp_path / "src" / "callgate"
    for name, text in {
        "detect/__init__": '__all__ = ["find"]',
        "detect/names": "",
        "gate/__init__": "",
        **files,
    }.items():
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


@pytest.mark.parametrize(
    "line",
    [
        "from callgate.detect.names import x",
        "import callgate.detect.names",
        "from callgate.detect import names",
        "def f():\n    from callgate.detect.names import x",
    ],
)
def test_a_room_is_not_entered_by_the_window(tmp_path: Path, line: str) -> None:
    assert any("by the window" in problem for problem in house_rules.doors(package(tmp_path, **{"runtime/x": line})))


@pytest.mark.parametrize("line", ["from callgate.detect import find", "from callgate.detect import Anything"])
def test_a_room_is_entered_by_the_door(tmp_path: Path, line: str) -> None:
    assert not list(house_rules.doors(package(tmp_path, **{"runtime/x": line})))


def test_a_room_may_use_its_own_files(tmp_path: Path) -> None:
    assert not list(house_rules.doors(package(tmp_path, **{"detect/x": "from callgate.detect.names import y"})))


@pytest.mark.parametrize(("room", "other"), [("gate", "detect"), ("backends", "gate")])
def test_some_rooms_keep_to_few_neighbours(tmp_path: Path, room: str, other: str) -> None:
    problems = list(house_rules.doors(package(tmp_path, **{f"{room}/x": f"from callgate.{other} import y"})))
    assert [problem for problem in problems if f"{room} must not import {other}" in problem]


@pytest.mark.parametrize(
    "text",
    [
        "see /" + "home/alice/notes",
        "/" + "root/x",
        "/" + "workspace/x",
        "--index-" + "url http://x",
        "files.pythonhosted" + ".org",
    ],
)
def test_what_is_nobodys_business_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.md").write_text(f"first line\n{text}\n", "utf-8")
    (problem,) = house_rules.privacy(tmp_path, [tmp_path / "notes.md"])
    assert problem.startswith("notes.md:2: ")


@pytest.mark.parametrize("text", ["~/.cache", "$HOME/models", "https://example.org/home/alice/", "tests/rooted/x"])
def test_harmless_paths_are_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.md").write_text(text, "utf-8")
    assert not list(house_rules.privacy(tmp_path, [tmp_path / "notes.md"]))


def test_a_file_with_two_ideas_is_found(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("\n" * (house_rules.LONGEST_FILE + 1), "utf-8")
    assert list(house_rules.sizes(tmp_path, [tmp_path / "long.py"]))


# --- bench ---


def side(*values: float, name: str = "x", unit: str = "ms") -> Side:
    left = list(values)
    return Side("side", lambda: [Measurement(name, left.pop(0), unit, "peer 1.0")])


def test_a_ratio_says_how_many_times_better_we_are() -> None:
    assert Row("x", 2.0, 10.0, "peer 1.0", "ms").ratio == 5.0
    assert Row("x", 10.0, 2.0, "peer 1.0", "MB/s").ratio == 5.0


def test_sides_are_compared_by_their_medians(tmp_path: Path) -> None:
    (row,) = Bench(tmp_path).compare(side(1.0, 9.0, 2.0), side(4.0, 6.0, 90.0), repeats=3, at_least=3.5)
    assert (row.ours, row.peer, row.ratio, row.kept) == (2.0, 6.0, 3.0, False)
    assert json.loads(row.as_json()) == {
        "name": "x",
        "ours": 2.0,
        "peer": 6.0,
        "peer_version": "peer 1.0",
        "ratio": 3.0,
        "unit": "ms",
    }


def test_sides_that_measure_different_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="same name"):
        Bench(tmp_path).compare(side(1.0, name="a"), side(1.0, name="b"), repeats=1)
    with pytest.raises(BenchError, match="measured in"):
        Bench(tmp_path).compare(side(1.0, unit="ms"), side(1.0, unit="s"), repeats=1)


def test_a_side_that_fails_tells_why(tmp_path: Path) -> None:
    script = tmp_path / "side.py"
    script.write_text("raise SystemExit('no such peer')", "utf-8")
    with pytest.raises(BenchError, match="no such peer"):
        Bench(tmp_path).script(str(script)).measure()


def test_a_script_measures_itself(tmp_path: Path) -> None:
    script = tmp_path / "side.py"
    script.write_text("from bench.measure import emit, timed\nemit('x', timed(lambda: None), 's', 'us 2')", "utf-8")
    (measurement,) = Bench(tmp_path).script(str(script)).measure()
    assert (measurement.name, measurement.unit, measurement.version) == ("x", "s", "us 2")


# --- fuzz ---


def target(tmp_path: Path, body: str) -> fuzzing.Target:
    path = tmp_path / "sample.py"
    path.write_text(f"def seeds():\n    return [b'seed']\n\n\n{body}", "utf-8")
    spec = importlib.util.spec_from_file_location("sample", path)
    assert spec
    assert spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return fuzzing.Target.of(module)


def test_mutations_follow_from_the_seed_alone() -> None:
    pool = [b"", b"abc", bytes(range(256))]

    def some(seed: int) -> list[bytes]:
        rng = random.Random(seed)
        return [mutate(rng.choice(pool), pool, rng) for _ in range(500)]

    assert some(1) == some(1) != some(2)
    assert max(map(len, some(3))) <= LONGEST
    assert len(set(some(4))) > 300


def test_expected_errors_are_outcomes_and_others_are_findings(tmp_path: Path) -> None:
    body = (
        "EXPECTED = (ValueError,)\n\n\ndef one_input(data):\n"
        "    if len(data) > 4: raise ValueError\n    if len(data) < 4: raise KeyError('short')\n"
    )
    report = fuzzing.fuzz(target(tmp_path, body), 0.3, 1, tmp_path / "found")
    assert any(what.startswith("ValueError") for what in report.outcomes)
    ((what, path),) = report.findings.items()
    assert what.startswith("KeyError at sample.py")
    assert len(path.read_bytes()) < 4
    assert report.executions == sum(report.outcomes.values())


def test_a_slow_input_is_a_finding(tmp_path: Path) -> None:
    body = "SLOW_S = 0.05\n\n\ndef one_input(data):\n    while data != b'seed':\n        pass\n"
    report = fuzzing.fuzz(target(tmp_path, body), 0.3, 1, tmp_path / "found")
    assert any(what.startswith("slow") for what in report.findings)


def test_an_input_that_kills_the_process_is_kept(tmp_path: Path) -> None:
    body = "import os, signal\n\n\ndef one_input(data):\n    if data != b'seed': os.kill(os.getpid(), signal.SIGKILL)\n"
    report = fuzzing.fuzz(target(tmp_path, body), 0.5, 1, tmp_path / "found")
    ((what, path),) = report.findings.items()
    assert "status -9" in what
    assert path.read_bytes() != b"seed"


# --- fixtures ---


def test_no_test_sees_the_users_home(home: Path) -> None:
    assert Path.home() == home
    assert os.environ["CALLGATE_HOME"].startswith(str(home))
    assert "OLLAMA_HOST" not in os.environ


@pytest.mark.ollama
def test_the_real_ollama_has_the_shipped_model(ollama_url: str) -> None:
    with urllib.request.urlopen(f"{ollama_url}/api/tags", timeout=10) as response:
        names = [entry["name"] for entry in json.load(response)["models"]]
    assert "tiny:latest" in names
