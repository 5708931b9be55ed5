"""Runs `callgate` as if this were Windows, as far as callgate itself can tell.

What others wrote is imported before, as it is here: that it works on Windows is known. What callgate imports then has
neither POSIX's modules nor its signals, sockets, flags and calls.
"""

from __future__ import annotations

import asyncio
import importlib
import ssl
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

MISSING_MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty", "uvloop")
MISSING_NAMES = {
    "os": (
        *(
            "chown",
            "fchmod",
            "fork",
            "forkpty",
            "getegid",
            "geteuid",
            "getgid",
            "getpgid",
            "getuid",
            "killpg",
            "mkfifo",
        ),
        *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "pread", "pwrite", "sched_getaffinity", "setpgid"),
        *("setsid", "statvfs", "sysconf", "uname", "wait", "waitpid"),
    ),
    "signal": (
        *("ITIMER_PROF", "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2"),
        *("SIGWINCH", "alarm", "pthread_kill", "pthread_sigmask", "set_wakeup_fd", "setitimer", "sigwait"),
    ),
    "socket": ("AF_UNIX", "SO_REUSEPORT", "socketpair"),
    "select": ("epoll", "poll", "select"),  # it has one, but not for pipes
}
OTHERS = (
    *(
        "aiohttp",
        "argparse",
        "dataclasses",
        "email.message",
        "http.client",
        "http.cookies",
        "httptools",
        "jinja2.sandbox",
    ),
    *("json", "jsonschema_rs", "logging", "minijinja", "msgspec", "multiprocessing", "pathlib", "pickle", "platform"),
    *(
        "secrets",
        "selectors",
        "shutil",
        "statistics",
        "tempfile",
        "textwrap",
        "tomllib",
        "unicodedata",
        "urllib.request",
    ),
    *("uvicorn", "uvicorn.lifespan.on", "uvicorn.loops.asyncio", "uvicorn.protocols.http.httptools_impl", "zoneinfo"),
)
_START = (
    "import sys; sys.path[:] = [{here!r}, *sys.argv[1:]]; import as_on_windows; as_on_windows.pretend(('msgspec',)); "
)


def pretend(others: Iterable[str] = OTHERS) -> None:
    for name in others:
        with suppress(ImportError):  # an extra, or a module that is no more
            importlib.import_module(name)
    lock = _lock_of_windows()
    for name in MISSING_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # which is how an import is made to fail
    for name, without in MISSING_NAMES.items():
        sys.modules[name] = _less(importlib.import_module(name), without)
    sys.modules["msvcrt"] = lock
    vars(sys.modules["os"])["name"] = "nt"
    ssl.SSLContext._windows_cert_stores = ()  # type: ignore[attr-defined]  # certificates would come from these
    asyncio.SelectorEventLoop.add_signal_handler = _not_there  # type: ignore[assignment, method-assign]
    vars(asyncio)["ProactorEventLoop"] = asyncio.SelectorEventLoop
    subprocess.Popen.__init__ = _without_posix(subprocess.Popen.__init__)  # type: ignore[method-assign]
    sys.platform = "win32"


def _less(module: ModuleType, without: Iterable[str]) -> ModuleType:
    copy = ModuleType(module.__name__)
    vars(copy).update({name: value for name, value in vars(module).items() if name not in set(without)})
    return copy


def _lock_of_windows() -> ModuleType:
    import fcntl

    def locking(handle: int, mode: int, _: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB if mode else fcntl.LOCK_UN)

    module = ModuleType("msvcrt")
    vars(module).update(LK_UNLCK=0, LK_NBLCK=2, locking=locking)
    return module


def _not_there(*_: object) -> NoReturn:
    raise NotImplementedError


def _without_posix(start: Any) -> Any:
    def init(self: Any, *words: Any, **more: Any) -> None:
        if more.get("preexec_fn") or more.get("pass_fds"):
            raise ValueError("not on Windows")
        start(self, *words, **more)

    return init


def main() -> NoReturn:
    pretend()
    from callgate.detect.template import sandbox

    here = str(Path(__file__).parent)
    sandbox._START = _START.format(here=here) + sandbox._START.partition("; ")[2].partition("; ")[2]
    from callgate.cli import main

    sys.exit(main())


if __name__ == "__main__":
    main()
