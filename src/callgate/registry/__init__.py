"""What the user said of models and what was observed of them, kept on disk; and what was derived, kept for speed.

This room stores and decides nothing: `runtime` makes evidence of what is kept here.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.registry.derived import Derived, DerivedCache
    from callgate.registry.keys import key_of
    from callgate.registry.locking import locked
    from callgate.registry.notes import Note, SessionNotes
    from callgate.registry.records import Fields, ModelRecord, as_moment, moment_of
    from callgate.registry.store import Registry
    from callgate.registry.telling import tell, told_to
    from callgate.registry.whole_files import make_folder, read_whole, write_whole

__all__ = [
    "Derived",
    "DerivedCache",
    "Fields",
    "ModelRecord",
    "Note",
    "Registry",
    "SessionNotes",
    "as_moment",
    "key_of",
    "locked",
    "make_folder",
    "moment_of",
    "read_whole",
    "tell",
    "told_to",
    "write_whole",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "Derived": "derived",
        "DerivedCache": "derived",
        "Fields": "records",
        "ModelRecord": "records",
        "Note": "notes",
        "Registry": "store",
        "SessionNotes": "notes",
        "as_moment": "records",
        "key_of": "keys",
        "locked": "locking",
        "make_folder": "whole_files",
        "moment_of": "records",
        "read_whole": "whole_files",
        "tell": "telling",
        "told_to": "telling",
        "write_whole": "whole_files",
    },
)
