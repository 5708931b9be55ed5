"""What several formats are made of: the tags and tokens that announce a call."""

from __future__ import annotations

from callgate.gate.recovery.shapes import Block, Tags

BARS = ("｜", "|")
THINK = ("<think>", "</think>")

HERMES = Block(("<tool_call>",), "json", ("</tool_call>",))
PAIRS = Block(("<tool_call>",), "pairs", ("</tool_call>",))
TOOL_CALLS = Block(("<tool_calls>",), "json", ("</tool_calls>",))
FUNCTION_ELEMENT = Block(
    ("<function=",), "elements", tags=Tags("<function", ("</function>",), ("<parameter",), ("</parameter>",))
)
FUNCTOOLS = Block(("functools",), "json")
GEMMA_QUOTES = ('<|"|>', "<escape>")

M3_MARK = "]<]minimax[>[<"
M3_ELEMENT = Block((f"{M3_MARK}invoke ",), "nested", tags=Tags(f"{M3_MARK}invoke", (), (M3_MARK,), ()))

K3_TAGS = Tags(
    "<|open|>call", ("<|close|>call<|sep|>",), ("<|open|>argument",), ("<|close|>argument<|sep|>",), "<|sep|>"
)

MINICPM_TAGS = Tags("<function", ("</function>",), ("<param",), ("</param>",), cdata=True)
MINICPM_OPENERS = ("<function ", "<functionĠ", "<functionname=")
"""As it is meant, with a tokenizer's space, and with none."""

STEP_TAGS = Tags("<steptml:invoke", ("</steptml:invoke>",), ("<steptml:parameter",), ("</steptml:parameter>",))
STEP_OPENERS = (
    "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke ",
    "<｜tool_calls_begin｜><｜tool_call_begin｜><steptml:invoke ",
    "<｜tool_sep｜><｜tool_call_begin｜><steptml:invoke ",
)
"""One of these says that it is a call: within a section, or with its kind."""


def deepseek(*words: str) -> tuple[str, ...]:
    """A token of DeepSeek's, as it is written with either bar and several kinds of spaces."""
    ways = (("｜", "▁"), ("|", "▁"), ("｜", "_"), ("｜", " "))
    return tuple(f"<{bar}{space.join(words)}{bar}>" for bar, space in ways)


DEEPSEEK_CALL = Block(
    deepseek("tool", "call", "begin"), "named", deepseek("tool", "call", "end"), between=deepseek("tool", "sep")
)
DEEPSEEK_SECTIONS = tuple(zip(deepseek("tool", "calls", "begin"), deepseek("tool", "calls", "end"), strict=True))


def invoke(prefix: str = "") -> Block:
    """`<invoke name="…"><parameter name="…">…</parameter></invoke>`, with a prefix before each name of a tag."""
    tags = Tags(f"<{prefix}invoke", (f"</{prefix}invoke>",), (f"<{prefix}parameter",), (f"</{prefix}parameter>",))
    return Block((f"<{prefix}invoke ",), "elements", tags=tags)


DSML = tuple(invoke(f"{bar}DSML{bar}") for bar in BARS)


def dsml_sections(name: str) -> tuple[tuple[str, str], ...]:
    return tuple((f"<{bar}DSML{bar}{name}>", f"</{bar}DSML{bar}{name}>") for bar in BARS)
