"""The JSON of a call as it streams, read by LangChain's parser for that."""

from importlib.metadata import version

from langchain_core.output_parsers import JsonOutputParser

from bench.measure import emit, timed
from bench.sides.recovery_texts import CALL_CHUNKS, CALL_NAME


def read() -> object:
    last: object = None
    for found in JsonOutputParser().transform(iter(CALL_CHUNKS)):
        last = found
    return last


call = read()
assert isinstance(call, dict)
assert call["name"] == "write_file"
emit(CALL_NAME, timed(read, rounds=3) * 1e3, "ms", f"langchain-core {version('langchain-core')}")
