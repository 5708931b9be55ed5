"""The functions of a Python file as tools: `--tools module.py`."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from callgate.runtime.function_tools import FunctionTools
from callgate.vocabulary import NotFound, UsageError

_HINT = "def add(a: int, b: int) -> int: … in a file of its own is enough"


def read_tool_file(path: str) -> FunctionTools:
    """The file is run, and its public functions are tools: those that `__all__` names, or else those defined in it.

    They ask before they run, unless the file has `HARMLESS = True`, or the names of those that are.

    Raises: NotFound, if there is no such file; UsageError, which says what is wrong with it.
    """
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(path):
        raise NotFound(f"there is no file {path!r} with tools", hint=_HINT)
    module = _run(path)
    functions = _functions(module, path)
    if not functions:
        raise UsageError(f"the file {path!r} has no public function that could be a tool", hint=_HINT)
    name = os.path.splitext(os.path.basename(path))[0]
    return FunctionTools(functions, name=name, harmless=_harmless(module, path))


def _run(path: str) -> ModuleType:
    # A name of its own, so that it stands in no other module's place.
    name = f"callgate_tools_{hashlib.sha256(path.encode(errors='surrogateescape')).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"the file {path!r} is no Python file", hint="its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where type hints look for their names
    folder = os.path.dirname(path)
    sys.path.insert(0, folder)  # as if it were run: it may import what lies beside it
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the user's own
        sys.modules.pop(name, None)
        line = _line(error, path)
        raise UsageError(
            f"the file {path!r} with tools can't be run{line}: {type(error).__name__}: {error}", hint=_HINT
        ) from None
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    return module


def _line(error: BaseException, path: str) -> str:
    trace = error.__traceback__
    found = error.lineno if isinstance(error, SyntaxError) and error.filename == path else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = trace.tb_lineno
        trace = trace.tb_next
    return f" (line {found})" if found else ""


def _functions(module: ModuleType, path: str) -> list[Callable[..., Any]]:
    named = getattr(module, "__all__", None)
    if named is not None:
        wanted = [getattr(module, str(name), None) for name in named]
        bad = [str(name) for name, value in zip(named, wanted, strict=True) if not inspect.isroutine(value)]
        if bad:
            raise UsageError(f"the file {path!r} has {bad[0]!r} in its __all__, which is no function")
        return [value for value in wanted if callable(value)]
    return [
        value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and not name.startswith("_") and value.__module__ == module.__name__
    ]


def _harmless(module: ModuleType, path: str) -> bool | frozenset[str]:
    said = getattr(module, "HARMLESS", False)
    if isinstance(said, bool):
        return said
    if isinstance(said, list | tuple | set | frozenset) and all(isinstance(name, str) for name in said):
        return frozenset(said)
    raise UsageError(f"HARMLESS in the file {path!r} is neither True nor names of functions")
