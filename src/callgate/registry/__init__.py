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
    "moment_of",
    "tell",
    "told_to",
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
        "moment_of": "records",
        "tell": "telling",
        "told_to": "telling",
    },
)
