"""One conversation, which is written down while it goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from callgate.chat.holding import Held
from callgate.chat.items import Begun, Item, Line, Said, Shown, System, TakenBack, read_item, without_last, write_item
from callgate.registry import make_folder, moment_of
from callgate.vocabulary import Message, StorageError

LARGEST_FILE = 256 << 20
LONGEST_LINE = 64 << 20


class OpenElsewhere(StorageError):
    """Another chat holds its lock, or nobody can."""


class Conversation:
    """Belongs to one process: whoever has it open holds a lock. What can't be written goes on in memory.

    The file is made with the first message, so that nobody who says nothing leaves one.
    """

    def __init__(self, path: str, told: Callable[[str], None]) -> None:
        """`told` hears once if it can't be written."""
        self.path = path
        self._told = told
        self._shown: list[Shown] = []
        self.system = ""
        self._unwritten: list[Item] = []
        self._handle: int | None = None
        self._held: Held | None = None
        self._is_lost = False

    @classmethod
    def opened(cls, path: str, told: Callable[[str], None]) -> Conversation:
        """One that there is, to go on with. Raises: StorageError, if it can't be read; OpenElsewhere."""
        conversation = cls(path, told)
        try:
            conversation._take_lock()
        except StorageError as error:
            raise OpenElsewhere(error.message) from None
        try:
            conversation.read()
        except OSError as error:
            conversation.close()
            raise StorageError(f"{path!r} can't be read: {error.strerror}") from None
        return conversation

    @property
    def name(self) -> str:
        return os.path.basename(self.path).removesuffix(".jsonl")

    @property
    def is_kept(self) -> bool:
        """Whether there is a file of it."""
        return os.path.exists(self.path)

    @property
    def shown(self) -> tuple[Shown, ...]:
        """All of it in order, with what the chat told in between."""
        return tuple(self._shown)

    @property
    def messages(self) -> tuple[Message, ...]:
        """As a model gets them."""
        said = tuple(item.message for item in self._shown if isinstance(item, Said))
        return (Message(role="system", content=self.system), *said) if self.system else said

    @property
    def count(self) -> int:
        return sum(isinstance(item, Said) for item in self._shown)

    @property
    def model(self) -> str | None:
        """The last that was turned to. One that took over for a single answer isn't it."""
        last = list(reversed(self._shown))
        turned_to = (item.model for item in last if isinstance(item, Line) and item.model)
        return next(turned_to, None) or next((item.model for item in last if item.model), None)

    @property
    def last_question(self) -> Message | None:
        return next((m for m in reversed(self.messages) if m.role == "user"), None)

    def say(self, message: Message, model: str | None = None) -> None:
        item = Said(message=message, model=model, at=_now())
        self._shown.append(item)
        self._write(item)

    def note(self, line: Line) -> None:
        item = Line(text=line.text, kind=line.kind, model=line.model, at=_now())
        self._shown.append(item)
        self._write(item)

    def set_system(self, text: str) -> None:
        self.system = text
        self._write(System(text=text))

    def take_back(self, messages: int) -> None:
        self._shown = without_last(self._shown, messages)
        self._write(TakenBack(messages=messages))

    def messages_since_question(self) -> int:
        """How many there are from the user's last one on; 0 if there is none."""
        said = [item.message.role for item in self._shown if isinstance(item, Said)]
        return said[::-1].index("user") + 1 if "user" in said else 0

    def copy_from(self, other: Conversation) -> None:
        """The same words again, in a file of its own."""
        self.system = other.system
        self._unwritten = [System(text=other.system), *other.shown] if other.system else list(other.shown)
        self._shown = list(other.shown)

    def rename(self, path: str) -> None:
        """Raises: StorageError, if there is such a file already, or it can't be written."""
        self._write_all()
        make_folder(path)
        _refuse_existing(path)
        new = Held(path)
        try:
            _refuse_existing(path)  # somebody may have made it just now; from here on nobody does
            if self._handle is not None:
                os.rename(self.path, path)
        except (OSError, StorageError) as error:
            new.release()
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"{path!r} can't be written: {error.strerror}") from None
        self._let_go()
        self._held, self.path = new, path

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        self._let_go()

    def read(self) -> None:
        """What the file has. Raises: OSError."""
        with open(self.path, "rb") as file:
            read = 0
            while read < LARGEST_FILE and (line := file.readline(LONGEST_LINE)):
                read += len(line)
                self._replay(read_item(line))

    def _replay(self, item: Item | None) -> None:
        match item:
            case Said() | Line():
                self._shown.append(item)
            case System(text=text):
                self.system = text
            case TakenBack(messages=messages):
                self._shown = without_last(self._shown, messages)

    def _write(self, item: Item) -> None:
        self._unwritten.append(item)
        if self._handle is not None or isinstance(item, Said):
            self._write_all()

    def _write_all(self) -> None:
        if self._is_lost or not self._unwritten:
            return
        try:
            if self._handle is None:
                self._open()
            assert self._handle is not None
            content = b"".join(map(write_item, self._unwritten))
            while content:
                content = content[os.write(self._handle, content) :]
            self._unwritten.clear()
        except (OSError, StorageError) as error:
            self._is_lost = True
            self._told(f"this conversation isn't saved: {getattr(error, 'strerror', None) or error}")

    def _open(self) -> None:
        make_folder(self.path)
        self._take_lock()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(self.path, flags, 0o600)
        size = os.fstat(handle).st_size
        if size == 0:
            os.write(handle, write_item(Begun(at=_now())))
        else:
            os.lseek(handle, size - 1, os.SEEK_SET)
            if os.read(handle, 1) != b"\n":  # a writer was killed
                os.write(handle, b"\n")
        self._handle = handle

    def _take_lock(self) -> None:
        make_folder(self.path)
        if self._held is None:
            self._held = Held(self.path)

    def _let_go(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.release()


def _now() -> str:
    return moment_of(time.time())


def _refuse_existing(path: str) -> None:
    if os.path.exists(path):
        name = os.path.basename(path).removesuffix(".jsonl")
        raise StorageError(f"there is a conversation {name!r} already", hint="take another name")
