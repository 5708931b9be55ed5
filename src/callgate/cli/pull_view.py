"""How `callgate pull` shows what it does, and what came of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from callgate.backends import Loading, free_memory
from callgate.cli.screen import LiveLine, Screen, in_bytes, print_json, printable
from callgate.hub import Choice, HubFile, Looked, Pulled, Repository, fits
from callgate.runtime import Candidate, candidates_in, evidence_as_json, projector_in

REDRAW_SECONDS = 0.1
SAY_SECONDS = 10.0
"""Between two lines about it, where no line can change."""
SPEED_SECONDS = 5.0
"""Over which the speed is measured."""
_BAR = 24
_LONGEST_ANSWER = 1024


class PullView:
    """On standard error while it goes on, for people; the result is on standard output."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._aside = Screen(sys.stderr)
        self._live = LiveLine(hidden=quiet)
        self._drawn_at = 0.0
        self._said_at = time.monotonic()
        self._pace: list[tuple[float, int]] = []

    def found(self, repository: Repository) -> None:
        gated = f", gated ({repository.gated})" if repository.gated else ""
        private = ", private" if repository.private else ""
        self._line("", f"{repository.id} at {repository.revision} ({repository.commit[:12]}){gated}{private}")
        if count := repository.left_out:
            why = (
                "its name can't be a file's here" if count == 1 else "their names can't be files' here, or are too many"
            )
            self.note(f"{_files(count)} left out: {why}")

    def chosen(self, repository: Repository, choice: Choice) -> None:  # noqa: ARG002
        parts = f" in {len(choice.model_files)} parts" if len(choice.model_files) > 1 else ""
        self._line("file     ", f"{choice.candidate.name}{parts}, {in_bytes(choice.size)}")
        if choice.projector:
            self._line("projector", f"{choice.projector.name}, {in_bytes(choice.projector.size)}, for pictures")

    def choose(self, repository: Repository, candidates: Sequence[Candidate]) -> Candidate | None:
        if self._quiet or not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        show_files(self._aside, repository, candidates=candidates, numbered=True)
        while True:
            print("which one? ", end="", file=sys.stderr, flush=True)
            # Not through `sys.stdin`, whose lock an interrupted question would hold to the end.
            answer = os.read(sys.stdin.fileno(), _LONGEST_ANSWER).decode(errors="replace").strip()
            if not answer:
                return None
            if chosen := chosen_by(answer, candidates):
                return chosen

    def looked(self, looked: Looked, free: int) -> None:
        known = looked.finding.capabilities if looked.finding else None
        if known is None:
            self._line("tools    ", f"{looked.hint.word}, by the hub's own summary: {looked.hint.why}")
            if looked.context_length:
                self._line("context  ", f"{looked.context_length:,} tokens, by the same")
            return
        why = next((piece.detail for piece in known.evidence if piece.claim == "tools"), "")
        self._line("tools    ", f"{known.tools}: {why}")
        if (looked.hint.word, known.tools) in (("likely", "no"), ("perhaps", "yes")):
            self._line("         ", f"the hub's own summary let expect: {looked.hint.word}, for {looked.hint.why}")
        if looked.context_length:
            self._line("context  ", f"{looked.context_length:,} tokens")
        if looked.memory:
            self._line("memory   ", f"about {in_bytes(looked.memory)}, of {in_bytes(free)} that are free")
        if looked.header_bytes:
            self._line("looked at", f"{in_bytes(looked.header_bytes)} of it")

    def fetching(self, name: str, done: int, total: int, fetched: int) -> None:
        now = time.monotonic()
        if self._pace and fetched < self._pace[-1][1]:  # another file, or the same from the start
            self._pace.clear()
        self._pace.append((now, fetched))
        if now - self._drawn_at < REDRAW_SECONDS and done < total:
            return
        while len(self._pace) > 2 and now - self._pace[0][0] > SPEED_SECONDS:
            del self._pace[0]
        since, before = self._pace[0]
        speed = (fetched - before) / (now - since) if now > since else 0.0
        left = f", {_duration((total - done) / speed)} left" if speed > 0 and done < total else ""
        self._draw(name, done, total, f"{speed / 1e6:,.1f} MB/s{left}")
        if not self._quiet and not sys.stderr.isatty() and now - self._said_at >= SAY_SECONDS:
            self._said_at = now
            said = f"{in_bytes(done)} of {in_bytes(total)}, {speed / 1e6:,.1f} MB/s{left}"
            self._line("fetching ", f"{name}: {said}")

    def checking(self, name: str, done: int, total: int) -> None:
        if time.monotonic() - self._drawn_at >= REDRAW_SECONDS:
            self._draw(name, done, total, "checking its hash")

    def loading(self, how_far: Loading) -> None:
        self._show(f"loading it in llama.cpp … {how_far.seconds:.0f} s")

    def note(self, text: str) -> None:
        self.end()
        self._aside.line(self._aside.styled("note: ", "doubt") + printable(text))

    def end(self) -> None:
        """The line that changes is wiped."""
        self._live.end()

    def done(self, pulled: Pulled) -> None:
        screen = Screen()
        if pulled.fetched is None or pulled.verified is None:
            screen.line(f"{screen.styled('not fetched', 'doubt')}: --dry-run")
            return
        for piece in pulled.verified.probed[:1]:
            self._line("probe    ", piece.detail)
        if pulled.verified.engine:
            self._line("llama.cpp", f"loads it; {pulled.verified.engine.detail}")
        if pulled.fetched.projector:
            self._line("projector", f"{pulled.fetched.projector.path} (for pictures: CALLGATE_LLAMACPP_PROJECTOR)")
        fetched = sum(file.bytes_fetched for file in pulled.fetched.all)
        resumed = sum(file.bytes_resumed for file in pulled.fetched.all)
        here = "all of it was here" if not fetched else f"{in_bytes(fetched)} fetched"
        was_checked = all(file.hash_checked for file in pulled.fetched.all)
        label = "verified " if was_checked else "unchecked"
        self._line(label, f"sha256 {pulled.fetched.files[0].sha256[:16]}…; {here}" + _resumed(resumed))
        screen.line(printable(pulled.fetched.path))

    def _line(self, label: str, text: str) -> None:
        if not self._quiet:
            self.end()
            start = self._aside.styled(label + "  ", "dim") if label else ""
            self._aside.line(start + printable(text))

    def _draw(self, name: str, done: int, total: int, more: str) -> None:
        filled = _BAR * done // total if total else _BAR
        share = f"{100 * done // total if total else 100:3} %"
        bar = "█" * filled + "░" * (_BAR - filled)
        self._show(f"{bar} {share}  {in_bytes(done)} of {in_bytes(total)}, {more}  {name}")

    def _show(self, text: str) -> None:
        self._drawn_at = time.monotonic()
        self._live.show(text)


def show_files(
    screen: Screen,
    repository: Repository,
    *,
    candidates: Sequence[Candidate] | None = None,
    numbered: bool = False,
    as_lines: bool = False,
) -> None:
    """Each GGUF file of a repository, a model's parts as one, with its size, its quantisation and whether it fits."""
    candidates = candidates_in(repository.names) if candidates is None else candidates
    free = free_memory()
    rows = []
    for number, candidate in enumerate(candidates, 1):
        sizes = [repository.file(name).size for name in candidate.files]
        size = None if None in sizes else sum(size for size in sizes if size is not None)
        does_fit = None if size is None else fits(size, free)
        if as_lines:
            print_json(
                {
                    "repo": repository.id,
                    "revision": repository.commit,
                    "file": candidate.name,
                    "files": len(candidate.files),
                    "size": size,
                    "quant": candidate.quant,
                    "fits": does_fit,
                    "kind": "model",
                    "missing": candidate.missing,
                }
            )
            continue
        parts = f" (in {len(candidate.files)} parts)" if len(candidate.files) > 1 else ""
        lacking = f", {_parts(candidate.missing)} missing" if candidate.missing else ""
        rows.append(
            [
                *([(str(number), "")] if numbered else []),
                (candidate.quant or "", "strong"),
                (in_bytes(size), ""),
                _fits(does_fit),
                (f"{candidate.name}{parts}{lacking}", ""),
            ]
        )
    for file in _beside(repository, candidates) if not numbered else ():
        kind = "projector" if projector_in((file.name,)) else "other"
        if as_lines:
            about = {"repo": repository.id, "revision": repository.commit, "file": file.name, "files": 1}
            print_json({**about, "size": file.size, "quant": None, "fits": None, "kind": kind, "missing": 0})
            continue
        what = f"{file.name} ({'a projector, for pictures' if kind == 'projector' else 'no model by itself'})"
        rows.append([("", ""), (in_bytes(file.size), ""), ("", ""), (what, "")])
    if as_lines:
        return
    headings = [*(["#"] if numbered else []), "QUANT", "SIZE", "FITS", "FILE"]
    screen.table([[(heading, "dim") for heading in headings], *rows])
    if projector := projector_in(repository.names):
        screen.line(screen.styled(f"with each comes its projector, {printable(projector)}", "dim"))


def as_json(pulled: Pulled) -> dict[str, Any]:
    fetched, repository = pulled.fetched, pulled.repository
    evidence = (*pulled.verified.evidence, pulled.looked.hint.evidence()) if pulled.verified else pulled.looked.evidence
    files = fetched.all if fetched else ()
    return {
        "repo": repository.id,
        "revision": repository.commit,
        "file": pulled.choice.candidate.name,
        "size": files[0].size if files else pulled.choice.files[0].size,
        "total_size": sum(file.size for file in files) if files else pulled.choice.total_size,
        "sha256": files[0].sha256 if files else pulled.choice.files[0].sha256,
        "hash_checked": bool(files) and all(file.hash_checked for file in files),
        "verdict": pulled.verdict,
        "evidence": evidence_as_json(evidence),
        "header_bytes": pulled.looked.header_bytes,
        "bytes_fetched": sum(file.bytes_fetched for file in files),
        "bytes_resumed": sum(file.bytes_resumed for file in files),
        "path": fetched.path if fetched else None,
        "hint": pulled.looked.hint.word,
        "memory": pulled.looked.memory,
        "files": [{"file": file.name, "size": file.size, "sha256": file.sha256, "path": file.path} for file in files],
    }


def chosen_by(answer: str, candidates: Sequence[Candidate]) -> Candidate | None:
    """By its number, its file's name or its quantisation."""
    if answer.isascii() and answer.isdigit() and 1 <= int(answer[:9]) <= len(candidates):
        return candidates[int(answer[:9]) - 1]
    wanted = answer.lower()
    for names in ("name", "quant"):
        found = [candidate for candidate in candidates if (getattr(candidate, names) or "").lower() == wanted]
        if len(found) == 1:
            return found[0]
    return None


def _beside(repository: Repository, candidates: Sequence[Candidate]) -> list[HubFile]:
    """The other GGUF files."""
    models = {name for candidate in candidates for name in candidate.files}
    return [file for file in repository.files if file.name.lower().endswith(".gguf") and file.name not in models]


def _fits(fits: bool | None) -> tuple[str, str]:
    return {None: ("?", "doubt"), True: ("yes", "good"), False: ("no", "bad")}[fits]


def _files(count: int) -> str:
    return "1 file is" if count == 1 else f"{count} files are"


def _parts(count: int) -> str:
    return "1 part is" if count == 1 else f"{count} parts are"


def _resumed(count: int) -> str:
    return f", {in_bytes(count)} were here from before" if count else ""


def _duration(seconds: float) -> str:
    whole = int(min(seconds, 10**7))
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {whole % 60:02} s" if minutes else f"{whole} s"
