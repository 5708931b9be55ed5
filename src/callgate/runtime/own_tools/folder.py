"""Tools that read the files below one folder, and change nothing."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from callgate.runtime.own_tools.inside import NotInside, is_hidden, opened, parts_of
from callgate.runtime.tool_source import Outcome

MOST_ENTRIES = 500
MOST_LINES = 500
MOST_CHARACTERS = 50_000
MOST_FOUND = 100
MOST_LOOKED_AT = 5_000
"""Files that one search opens."""
LARGEST_FILE = 5_000_000
_LONGEST_LINE = 500


class Folder:
    """Its methods are the tools."""

    def __init__(self, root: str) -> None:
        self._root = root

    def list_files(self, path: str = ".") -> Outcome:
        """List the files and folders in a folder. Folders end in a slash; files are followed by their size in bytes.

        Args:
            path: The folder, such as . or docs/pictures.
        """
        try:
            entries = sorted(self._entries(parts_of(path)))
        except (OSError, NotInside) as error:
            return _failed(path, error)
        lines = [f"{name}/" if is_folder else f"{name}  {size}" for name, is_folder, size in entries[:MOST_ENTRIES]]
        if len(entries) > MOST_ENTRIES:
            lines.append(f"… and {len(entries) - MOST_ENTRIES:,} more")
        return Outcome("\n".join(lines) or "(the folder is empty)")

    def read_file(self, path: str, first_line: int = 1, lines: int = 200) -> Outcome:
        """Read a text file, or some lines of it.

        Args:
            path: The file, such as docs/plan.md.
            first_line: The first line to read, counted from 1.
            lines: How many lines to read, 500 at most.
        """
        try:
            text = self._text(parts_of(path))
        except (OSError, NotInside) as error:
            return _failed(path, error)
        every = text.splitlines()
        start = max(first_line, 1) - 1
        chosen = every[start : start + max(1, min(lines, MOST_LINES))]
        shown = "\n".join(chosen)
        rest = len(every) - start - len(chosen)
        if len(shown) > MOST_CHARACTERS:
            return Outcome(f"{shown[:MOST_CHARACTERS]}\n… (cut off)")
        if start and not chosen:
            return Outcome(f"error: {path[:200]!r} has {len(every)} lines", is_error=True)
        if start or rest > 0:
            shown += f"\n(lines {start + 1} to {start + len(chosen)} of {len(every)})"
        return Outcome(shown or "(the file is empty)")

    def search_files(self, text: str, path: str = ".") -> Outcome:
        """Search the text files below a folder for a text, letter by letter but without regard to case.

        Args:
            text: What to look for.
            path: The folder, such as . or docs.
        """
        wanted = text.casefold()
        if not wanted.strip():
            return Outcome("error: there is nothing to look for", is_error=True)
        found: list[str] = []
        try:
            for parts in self._files(parts_of(path)):
                found += self._found(parts, wanted)
                if len(found) >= MOST_FOUND:
                    return Outcome("\n".join([*found[:MOST_FOUND], "… (there may be more)"]))
        except (OSError, NotInside) as error:
            return _failed(path, error)
        return Outcome("\n".join(found) or "(nothing found)")

    def _found(self, parts: list[str], wanted: str) -> list[str]:
        try:
            lines = self._text(parts).splitlines()
        except (OSError, NotInside):  # one that can't be read has nothing to say
            return []
        name = "/".join(parts)
        hits = ((number, line) for number, line in enumerate(lines, start=1) if wanted in line.casefold())
        return [f"{name}:{number}: {line.strip()[:_LONGEST_LINE]}" for number, line in hits][:MOST_FOUND]

    def _files(self, parts: list[str]) -> Iterator[list[str]]:
        waiting = [parts]
        looked_at = 0
        while waiting and looked_at < MOST_LOOKED_AT:
            here = waiting.pop()
            try:
                entries = sorted(self._entries(here))
            except (OSError, NotInside):
                if here is parts:
                    raise
                continue
            looked_at += len(entries)
            yield from ([*here, name] for name, is_folder, _ in entries if not is_folder)
            waiting += [[*here, name] for name, is_folder, _ in reversed(entries) if is_folder]

    def _entries(self, parts: list[str]) -> Iterator[tuple[str, bool, int]]:
        with opened(self._root, parts, folder=True) as handle:
            listed = os.scandir(handle if os.scandir in os.supports_fd else os.path.join(self._root, *parts))
            with listed:
                for entry in listed:
                    if is_hidden(entry.name) or not entry.name.isprintable() or entry.is_symlink():
                        continue
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if is_folder or entry.is_file(follow_symlinks=False):
                        yield entry.name, is_folder, entry.stat(follow_symlinks=False).st_size

    def _text(self, parts: list[str]) -> str:
        with opened(self._root, parts, folder=False) as handle:
            if os.fstat(handle).st_size > LARGEST_FILE:
                raise NotInside(f"the file is larger than {LARGEST_FILE:,} bytes")
            pieces: list[bytes] = []
            while sum(map(len, pieces)) <= LARGEST_FILE and (piece := os.read(handle, 1 << 20)):
                pieces.append(piece)
        content = b"".join(pieces)
        if b"\0" in content[:8192]:
            raise NotInside("the file is no text")
        return content.decode("utf-8", "replace")


def _failed(path: str, error: Exception) -> Outcome:
    reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
    if isinstance(error, OSError) and error.errno in (errno.ELOOP, errno.EMLINK):
        reason = "links aren't followed"
    return Outcome(f"error: {path[:200]!r}: {reason}", is_error=True)
