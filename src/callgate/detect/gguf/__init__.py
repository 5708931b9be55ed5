"""Reads the header of a GGUF file: its metadata, its chat templates and the size of its model, and no weights.

`read_header` reads a file on disk, `read_header_from` blocks that come over the wire, `HeaderReader` is the parser
under both. `facts_of` and `header_evidence` say what follows.
"""

from callgate.detect.gguf.evidence import facts_of, header_evidence
from callgate.detect.gguf.files import read_header, read_header_from
from callgate.detect.gguf.header import Header, Shard, Skipped
from callgate.detect.gguf.reader import HeaderReader

__all__ = [
    "Header",
    "HeaderReader",
    "Shard",
    "Skipped",
    "facts_of",
    "header_evidence",
    "read_header",
    "read_header_from",
]
