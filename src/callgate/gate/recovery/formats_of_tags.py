"""Formats in which a call is an element, and each parameter an element in it."""

from __future__ import annotations

from callgate.gate.recovery.blocks import (
    DSML,
    FUNCTION_ELEMENT,
    HERMES,
    K3_TAGS,
    M3_ELEMENT,
    M3_MARK,
    MINICPM_OPENERS,
    MINICPM_TAGS,
    PAIRS,
    STEP_OPENERS,
    STEP_TAGS,
    THINK,
    TOOL_CALLS,
    dsml_sections,
    invoke,
)
from callgate.gate.recovery.shapes import Block, Format

_TOOL_CALL = (("<tool_call>", "</tool_call>"),)
_TOOL_CALLS = (("<tool_calls>", "</tool_calls>"),)

TAG_FORMATS = (
    Format(
        "qwen3_coder_xml",
        (FUNCTION_ELEMENT, HERMES),
        sections=_TOOL_CALL,
        markers=("<function=", "<parameter="),
        families=("qwen3-coder", "qwen3.5", "nemotron-3"),
        example="<tool_call><function=get_weather><parameter=city>Paris</parameter></function></tool_call>",
    ),
    Format(
        "step3.5_xml",
        (FUNCTION_ELEMENT,),
        sections=_TOOL_CALL,
        families=("step-3.5",),
        example="<tool_call><function=get_weather><parameter=city>Paris</parameter></function></tool_call>",
    ),
    Format(
        "glm4.5+_xml",
        (PAIRS, HERMES),
        bare=("named",),
        markers=("<arg_key>",),
        families=("glm", "glm4"),
        example="<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>",
    ),
    Format(
        "laguna",
        (PAIRS, HERMES),
        families=("laguna", "poolside"),
        example="<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>",
    ),
    Format("ling3", (PAIRS, HERMES), families=("ling", "ring"), example="<tool_call>get_time</tool_call>"),
    Format(
        "hunyuan_v3",
        (PAIRS, TOOL_CALLS),
        sections=_TOOL_CALLS,
        markers=("<tool_sep>",),
        example="<tool_calls><tool_call>get_weather<tool_sep><arg_key>city</arg_key><arg_value>Paris</arg_value>"
        "</tool_call></tool_calls>",
    ),
    Format(
        "deepseek_v3.2_dsml",
        DSML,
        sections=dsml_sections("function_calls"),
        markers=("DSML", "function_calls"),
        example='<｜DSML｜function_calls><｜DSML｜invoke name="get_weather"><｜DSML｜parameter name="city" string='
        '"true">'
        "Paris</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
    ),
    Format(
        "deepseek_v4_dsml",
        DSML,
        sections=dsml_sections("tool_calls"),
        markers=("DSML", "tool_calls"),
        example='<｜DSML｜tool_calls><｜DSML｜invoke name="get_time"/></｜DSML｜tool_calls>',
    ),
    Format(
        "minimax_m2",
        (invoke(),),
        sections=(("<minimax:tool_call>", "</minimax:tool_call>"), ("<function_calls>", "</function_calls>")),
        markers=("<minimax:tool_call>",),
        families=("minimax",),
        example='<minimax:tool_call><invoke name="get_weather"><parameter name="city">Paris</parameter></invoke>'
        "</minimax:tool_call>",
    ),
    Format(
        "minimax_m3",
        (M3_ELEMENT,),
        sections=((f"{M3_MARK}tool_call>", f"{M3_MARK}/tool_call>"),),
        thinking=(("<mm:think>", "</mm:think>"), THINK),
        markers=("]<]minimax[>[",),
        example=f'{M3_MARK}tool_call>{M3_MARK}invoke name="get_weather">{M3_MARK}city>Paris{M3_MARK}/city>'
        f"{M3_MARK}/invoke>{M3_MARK}/tool_call>",
    ),
    Format(
        "dots",
        (invoke(),),
        sections=(("<dots_function_call>", "</dots_function_call>"),),
        markers=("<dots_function_call>",),
        families=("dots",),
        example='<dots_function_call><invoke name="get_weather"><parameter name="city">Paris</parameter></invoke>'
        "</dots_function_call>",
    ),
    Format(
        "seed_oss",
        (FUNCTION_ELEMENT,),
        sections=(("<seed:tool_call>", "</seed:tool_call>"),),
        thinking=(("<seed:think>", "</seed:think>"), THINK),
        markers=("<seed:tool_call>",),
        families=("seed",),
        example="<seed:tool_call><function=get_weather><parameter=city>Paris</parameter></function></seed:tool_call>",
    ),
    Format(
        "minicpm5_xml",
        (Block(MINICPM_OPENERS, "elements", tags=MINICPM_TAGS, strict=True),),
        markers=("<function name=", "<param name="),
        families=("minicpm",),
        example='<function name="get_weather"><param name="city">Paris</param></function>',
    ),
    Format(
        "step3",
        (Block(STEP_OPENERS, "elements", ("<｜tool_call_end｜>",), tags=STEP_TAGS),),
        sections=(("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"), ("<｜tool_call_begin｜>", "<｜tool_call_end｜>")),
        markers=("<steptml:invoke",),
        example='<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather"><steptml:parameter '
        'name="city">Paris</steptml:parameter></steptml:invoke><｜tool_call_end｜>',
    ),
    Format(
        "kimi_k3",
        (Block(("<|open|>call ",), "elements", tags=K3_TAGS),),
        sections=(("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),),
        thinking=(("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
        marks=("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>"),
        markers=("<|open|>", "<|close|>"),
        example='<|open|>tools<|sep|><|open|>call tool="get_weather"<|sep|><|open|>argument key="city" type="string"'
        "<|sep|>Paris<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
    ),
)
