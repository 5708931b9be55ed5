"""`./dev stress registry`: several processes write the registry at once, and are killed in the middle of it, for ever.

It ends with status 0 if the file was whole whenever somebody looked, and nothing is missing that a writer had been told
is on disk.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from callgate.registry import Registry
from callgate.vocabulary import ModelRef

MODELS_EACH = 20
"""Entries that a writer changes in turn, so that the file stays small."""
LONGEST_LIFE_S = 0.03
STUCK_S = 60.0
BEGUN, DONE = 0, 1
KILLED = -9 if os.name == "posix" else 1


@dataclass
class Outcome:
    kills: int = 0
    """Of writers that were in the middle of an update."""
    between: int = 0
    """Of writers that weren't: these don't count."""
    unfinished: int = 0
    """Kills after which a file lay there that somebody hadn't finished."""
    acknowledged: int = 0
    looks: int = 0
    problems: list[str] = field(default_factory=list)

    def told(self) -> str:
        return (
            f"{self.kills} writers killed in the middle of an update ({self.unfinished} times a half-written file lay "
            f"beside the real one), {self.between} between two; {self.acknowledged:,} updates acknowledged, "
            f"{self.looks:,} looks at the file: {'; '.join(self.problems[:5]) or 'always whole, nothing lost'}"
        )


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["gateway"]:
        from workshop.stress_gateway import main as of_gateway

        return of_gateway(words[1:])
    if words[:1] == ["scaleout"]:
        from workshop.stress_scaleout import main as of_scaleout

        return of_scaleout(words[1:])
    parser = argparse.ArgumentParser(prog="./dev stress", description=__doc__)
    choices = ["registry", "gateway", "scaleout"]
    parser.add_argument("what", choices=choices, help="`gateway --help` and `scaleout --help` say more")
    parser.add_argument("--kills", type=int, default=500, help="in the middle of updates (%(default)s)")
    parser.add_argument("--writers", type=int, default=4, help="at once (%(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="of when they are killed")
    args = parser.parse_args(words)
    seed = random.randrange(1 << 32) if args.seed is None else args.seed  # noqa: S311
    print(f"{args.writers} writers, {args.kills} kills in the middle of updates (--seed {seed}) …", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="callgate-stress-") as folder:
        outcome = stress(Path(folder), kills=args.kills, writers=args.writers, seed=seed, say=_show)
    print(f"\r{outcome.told()} ({time.monotonic() - started:.0f} s)")
    return 1 if outcome.problems else 0


def stress(
    folder: Path, *, kills: int, writers: int, seed: int, say: Callable[[Outcome], None] = lambda _: None
) -> Outcome:
    chance, outcome = random.Random(seed), Outcome()  # noqa: S311
    if "fork" in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("fork", force=True)  # which starts the fastest
    running: dict[int, multiprocessing.Process] = {}

    def start(writer: int) -> None:
        running[writer] = multiprocessing.Process(target=write, args=(folder, writer), daemon=True)
        running[writer].start()

    for writer in range(writers):
        start(writer)
    progressed = time.monotonic()
    try:
        while outcome.kills < kills and not outcome.problems:
            until = time.monotonic() + chance.random() * LONGEST_LIFE_S
            while time.monotonic() < until:
                look(folder, outcome)
            victim = chance.randrange(writers)
            running[victim].kill()
            running[victim].join()
            last = last_of(folder, victim)
            if last[1] == BEGUN and last[0]:
                outcome.kills += 1
                outcome.unfinished += (folder / "user_models.json.new").exists()
                progressed = time.monotonic()
            else:
                outcome.between += 1
            if running[victim].exitcode != KILLED:
                outcome.problems.append(f"writer {victim} ended by itself, with {running[victim].exitcode}")
            if time.monotonic() - progressed > STUCK_S:
                outcome.problems.append("nobody gets to write any more")
            start(victim)
            say(outcome)
    finally:
        for process in running.values():
            process.kill()
            process.join()
    if not outcome.problems:
        check(folder, writers, outcome)
    return outcome


def write(folder: Path, writer: int) -> None:
    """Changes one entry after another, and notes before and after each that it does."""
    registry = Registry.in_folder(str(folder))
    journal = os.open(folder / f"journal-{writer}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    number = last_of(folder, writer)[0]
    while True:
        number += 1
        os.write(journal, _noted(number, BEGUN))
        now = number
        registry.update(model(writer, number), lambda _: {"manual_context": now})  # noqa: B023
        os.write(journal, _noted(number, DONE))


def model(writer: int, number: int) -> ModelRef:
    return ModelRef("ollama", f"writer-{writer}:{number % MODELS_EACH}")


def look(folder: Path, outcome: Outcome) -> None:
    """Reads the file as anybody would."""
    outcome.looks += 1
    try:
        content = (folder / "user_models.json").read_bytes()
    except FileNotFoundError:
        if outcome.acknowledged:
            outcome.problems.append("the file is gone")
        return
    try:
        found = json.loads(content)["user_models"]
    except (ValueError, KeyError) as error:
        outcome.problems.append(f"the file isn't whole: {error}")
        return
    outcome.acknowledged = max(outcome.acknowledged, len(found))


def check(folder: Path, writers: int, outcome: Outcome) -> None:
    """Everything that was acknowledged has to be there, and nothing that nobody began."""
    entries = json.loads((folder / "user_models.json").read_bytes())["user_models"]
    found = {entry["id"]: entry["manual_context"] for entry in entries}
    outcome.acknowledged = 0
    for writer in range(writers):
        acknowledged: dict[str, int] = {}
        begun: dict[str, set[int]] = {}
        for number, state in journal_of(folder, writer):
            named = str(model(writer, number))
            if state == DONE:
                acknowledged[named] = number
                outcome.acknowledged += 1
            else:
                begun.setdefault(named, set()).add(number)
        for named, number in acknowledged.items():
            kept = found.get(named)
            if kept is None or kept < number:
                outcome.problems.append(f"{named} was told that {number} is on disk, and there is {kept}")
            elif kept not in begun[named]:
                outcome.problems.append(f"{named} has {kept}, which nobody wrote")
    aside = Counter(path.name.split("-")[0] for path in folder.glob("user_models.json.corrupt-*"))
    outcome.problems += [f"{count} files were set aside as damaged" for count in aside.values()]


def _noted(number: int, state: int) -> bytes:
    return number.to_bytes(7, "little") + bytes([state])


def journal_of(folder: Path, writer: int) -> list[tuple[int, int]]:
    try:
        content = (folder / f"journal-{writer}").read_bytes()
    except FileNotFoundError:
        return []
    return [(int.from_bytes(content[at : at + 7], "little"), content[at + 7]) for at in range(0, len(content), 8)]


def last_of(folder: Path, writer: int) -> tuple[int, int]:
    """The update that a writer was last about, and whether it was done."""
    path = folder / f"journal-{writer}"
    if not path.exists() or not (size := path.stat().st_size):
        return 0, DONE
    with path.open("rb") as file:
        file.seek(size - 8)
        note = file.read(8)
    return int.from_bytes(note[:7], "little"), note[7]


def _show(outcome: Outcome) -> None:
    if sys.stderr.isatty():
        print(f"\r{outcome.kills}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
