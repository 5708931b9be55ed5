"""The tools that come with callgate: useful, and without harm."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from callgate.runtime.function_tools import FunctionTools
from callgate.runtime.own_tools.calculator import calculate
from callgate.runtime.own_tools.clock import current_time
from callgate.runtime.own_tools.folder import Folder
from callgate.vocabulary import NotFound

NAME = "callgate"


def built_in_tools(folder: str | None = None) -> FunctionTools:
    """A calculator and a clock; and, for a folder, tools that read what is below it.

    Raises: NotFound, if there is no such folder.
    """
    functions: list[Callable[..., Any]] = [calculate, current_time]
    if folder is not None:
        folder = os.path.abspath(os.path.expanduser(folder))
        if not os.path.isdir(folder):
            raise NotFound(f"there is no folder {folder!r}", hint="name one whose files may be read")
        files = Folder(folder)
        functions += [files.list_files, files.read_file, files.search_files]
    return FunctionTools(functions, name=NAME, harmless=True)
