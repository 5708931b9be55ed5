"""The formats, as data."""

from __future__ import annotations

from collections.abc import Mapping

from callgate.gate.recovery.shapes import Block, Format, Tags

# fmt: off
THINK = ("<think>", "</think>")
HERMES = Block(("<tool_call>",), "json", ("</tool_call>",))
FUNCTION = Tags("<function", ("</function>",), ("<parameter",), ("</parameter>",))
INVOKE = Tags("<invoke", ("</invoke>",), ("<parameter",), ("</parameter>",))
FUNCTION_ELEMENT = Block(("<function=",), "elements", tags=FUNCTION)
INVOKE_ELEMENT = Block(("<invoke ",), "elements", tags=INVOKE)
PAIRS = Block(("<tool_call>",), "pairs", ("</tool_call>",))
TOOL_CALLS = Block(("<tool_calls>",), "json", ("</tool_calls>",))
BARS = ("｜", "|")


def _deepseek(name: str, *words: str) -> tuple[str, ...]:
    """A token as it is written with either bar, and with several kinds of spaces."""
    return tuple(f"<{bar}{space.join(words)}{bar}>" for bar, space in (("｜", "▁"), ("|", "▁"), ("｜", "_"), ("｜", " ")))


DEEPSEEK_CALL = Block(
    _deepseek("call", "tool", "call", "begin"), "named", _deepseek("end", "tool", "call", "end"), between=_deepseek("sep", "tool", "sep"))
DEEPSEEK_SECTION = tuple(zip(_deepseek("calls", "tool", "calls", "begin"), _deepseek("end", "tool", "calls", "end"), strict=True))


def _prefixed(prefix: str, call: str = "invoke", parameter: str = "parameter") -> Block:
    tags = Tags(f"<{prefix}{call}", (f"</{prefix}{call}>",), (f"<{prefix}{parameter}",), (f"</{prefix}{parameter}>",))
    return Block((f"<{prefix}{call} ",), "elements", tags=tags)


def _dsml(bar: str) -> Block:
    return _prefixed(f"{bar}DSML{bar}")


DSML = tuple(_dsml(bar) for bar in BARS)
M3_MARK = "]<]minimax[>[<"

_ALL = (
    Format("hermes_json", (HERMES,), families=("hermes", "qwen2", "qwen3"), markers=("<tool_call>",), bare=("json",)),
    Format("granite4_hermes_json", (HERMES,)),
    Format("ernie4.5", (HERMES,), sections=(("<response>", "</response>"),)),
    Format("granite3", (Block(("<|tool_call|>", "<tool_call>"), "json", ("</tool_call>",)),)),
    Format("granite_20b_fc", (Block(("<function_call>",), "json", ("</function_call>",)),)),
    Format("qwen3_coder_xml", (FUNCTION_ELEMENT, HERMES), sections=(("<tool_call>", "</tool_call>"),), markers=("<function=",)),
    Format("step3.5_xml", (FUNCTION_ELEMENT,), sections=(("<tool_call>", "</tool_call>"),)),
    Format("seed_oss", (FUNCTION_ELEMENT,), sections=(("<seed:tool_call>", "</seed:tool_call>"),), thinking=(("<seed:think>", "</seed:think>"), THINK)),
    Format("glm4.5+_xml", (PAIRS,), bare=("pairs",), markers=("<arg_key>",)),
    Format("laguna", (PAIRS,)),
    Format("ling3", (PAIRS,)),
    Format("hunyuan_v3", (PAIRS, TOOL_CALLS), sections=(("<tool_calls>", "</tool_calls>"),)),
    Format("hunyuan_a13b", (TOOL_CALLS, PAIRS), sections=(("<tool_calls>", "</tool_calls>"),)),
    Format("deepseek_v3.1", (DEEPSEEK_CALL,), sections=DEEPSEEK_SECTION, bare=("named",)),
    Format("deepseek_v3_fenced_json", (DEEPSEEK_CALL,), sections=DEEPSEEK_SECTION, bare=("named",)),
    Format("cogito", (DEEPSEEK_CALL,), sections=DEEPSEEK_SECTION, bare=("named",)),
    Format("deepseek_v3.2_dsml", DSML, sections=tuple((f"<{b}DSML{b}function_calls>", f"</{b}DSML{b}function_calls>") for b in BARS)),
    Format("deepseek_v4_dsml", DSML, sections=tuple((f"<{b}DSML{b}tool_calls>", f"</{b}DSML{b}tool_calls>") for b in BARS)),
    Format("minimax_m2", (INVOKE_ELEMENT,), sections=(("<minimax:tool_call>", "</minimax:tool_call>"),)),
    Format("dots", (INVOKE_ELEMENT,), sections=(("<dots_function_call>", "</dots_function_call>"),)),
    Format("minimax_m3", (Block((f"{M3_MARK}invoke ",), "nested", tags=Tags(f"{M3_MARK}invoke", (), (M3_MARK,), ())),),
           sections=((f"{M3_MARK}tool_call>", f"{M3_MARK}/tool_call>"),), thinking=(("<mm:think>", "</mm:think>"), THINK)),
    Format("step3", (Block(("<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke ", "<｜tool_calls_begin｜><｜tool_call_begin｜><steptml:invoke ",
                            "<｜tool_sep｜><｜tool_call_begin｜><steptml:invoke "), "elements", ("<｜tool_call_end｜>",),
                           tags=Tags("<steptml:invoke", ("</steptml:invoke>",), ("<steptml:parameter",), ("</steptml:parameter>",))),),
           sections=(("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"), ("<｜tool_call_begin｜>", "<｜tool_call_end｜>"))),
    Format("kimi_k2", (Block(("<|tool_call_begin|>",), "named", ("<|tool_call_end|>",), between=("<|tool_call_argument_begin|>",), numbered=True),),
           sections=(("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"), ("<|tool_call_section_begin|>", "<|tool_call_section_end|>"))),
    Format("kimi_k3", (Block(("<|open|>call ",), "elements",
                             tags=Tags("<|open|>call", ("<|close|>call<|sep|>",), ("<|open|>argument",), ("<|close|>argument<|sep|>",), "<|sep|>")),),
           sections=(("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),),
           thinking=(("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
           marks=("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>")),
    Format("mistral", (Block(("[TOOL_CALLS]",), "mistral", ("[/TOOL_CALLS]",), between=("[ARGS]", "[CALL_ID]"), joined=True),), thinking=(("[THINK]", "[/THINK]"), THINK)),
    Format("llama3_json", (Block(("<|python_tag|>",), "json"),), bare=("json",)),
    Format("llama4_pythonic", (Block(("<|python_start|>",), "pythonic", ("<|python_end|>",)),), bare=("pythonic",)),
    Format("pythonic", bare=("pythonic",)),
    Format("lfm2_pythonic", (Block(("<|tool_call_start|>",), "pythonic", ("<|tool_call_end|>",)),), bare=("pythonic",)),
    Format("olmo3_pythonic", (Block(("<function_calls>",), "pythonic", ("</function_calls>",)),)),
    Format("functionary_v3.1", (FUNCTION_ELEMENT,)),
    Format("functionary_v3.2", (Block((">>>",), "named"),), bare=("named",)),
    Format("gpt_oss_harmony", channels="harmony", thinking=()),
    Format("muse_glimmer", (_prefixed("atem:"),), sections=(("<atem:function_calls>", "</atem:function_calls>"),), channels="glimmer", thinking=()),
    Format("phi4_mini_functools", (Block(("functools",), "json"),)),
    Format("firefunction_v2", (Block(("functools",), "json"),)),
    Format("gemma4", (Block(("<|tool_call>",), "gemma", ("<tool_call|>",), quotes=('<|"|>', "<escape>")),), thinking=(("<|channel>", "<channel|>"),)),
    Format("functiongemma", (Block(("<start_function_call>",), "gemma", ("<end_function_call>",), quotes=("<escape>", '<|"|>')),)),
    Format("gigachat3", (Block(("<|message_sep|>\n\nfunction call<|role_sep|>", "function call<|role_sep|>", "<|function_call|>"), "json"),)),
    Format("internlm2", (Block(("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"), "json", ("<|action_end|>",)),)),
    Format("jamba", (TOOL_CALLS,)),
    Format("apriel", (TOOL_CALLS,), marks=("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]")),
    Format("xlam", (HERMES, Block(("[TOOL_CALLS]",), "json")), bare=("json", "fenced")),
    Format("longcat", (Block(("<longcat_tool_call>",), "json", ("</longcat_tool_call>",)),), thinking=(("<longcat_think>", "</longcat_think>"), THINK)),
    Format("nemotron_nano_v2", (Block(("<TOOLCALL>",), "json", ("</TOOLCALL>",)),)),
    Format("apertus", (Block(("<|tools_prefix|>",), "json", ("<|tools_suffix|>",), keyed=True),), thinking=(("<|inner_prefix|>", "<|inner_suffix|>"),)),
    Format("cohere_command_actions", (Block(("<|START_ACTION|>",), "json", ("<|END_ACTION|>",)),), thinking=(("<|START_THINKING|>", "<|END_THINKING|>"),),
           marks=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>")),
    Format("command_r_plus_action", (Block(("Action:",), "json"),)),
    Format("minicpm5_xml", (Block(("<function ", "<functionĠ", "<functionname="), "elements", strict=True,
                                 tags=Tags("<function", ("</function>",), ("<param",), ("</param>",), cdata=True)),)),
    Format("plain_no_tools"),
)
# fmt: on

FORMATS: Mapping[str, Format] = {format.name: format for format in _ALL}
FORMATS = {**FORMATS, "ollama_generic": Format("ollama_generic")}
