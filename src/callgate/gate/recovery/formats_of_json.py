"""Formats in which the arguments of a call are JSON."""

from __future__ import annotations

from callgate.gate.recovery.blocks import (
    DEEPSEEK_CALL,
    DEEPSEEK_SECTIONS,
    FUNCTION_ELEMENT,
    FUNCTOOLS,
    HERMES,
    PAIRS,
    THINK,
    TOOL_CALLS,
)
from callgate.gate.recovery.shapes import Block, Format

_TOOL_CALLS = (("<tool_calls>", "</tool_calls>"),)

JSON_FORMATS = (
    Format(
        "hermes_json",
        (HERMES,),
        bare=("json",),
        markers=("<tool_call>",),
        families=("hermes", "qwen", "qwen2", "qwen3", "reka", "mimo"),
        example='<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>',
    ),
    Format(
        "hunyuan_a13b",
        (TOOL_CALLS, PAIRS),
        sections=_TOOL_CALLS,
        families=("hunyuan",),
        example='<tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>',
    ),
    Format(
        "deepseek_v3.1",
        (DEEPSEEK_CALL,),
        sections=DEEPSEEK_SECTIONS,
        bare=("named",),
        markers=("tool▁call▁begin",),
        families=("deepseek",),
        example='<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    Format(
        "deepseek_v3_fenced_json",
        (DEEPSEEK_CALL,),
        sections=DEEPSEEK_SECTIONS,
        bare=("named",),
        families=("deepseek",),
        example="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
        '{"city": "Paris"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ),
    Format(
        "cogito",
        (DEEPSEEK_CALL,),
        sections=DEEPSEEK_SECTIONS,
        bare=("named",),
        families=("cogito",),
        example="<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{}\n```<｜tool▁call▁end｜>",
    ),
    Format(
        "kimi_k2",
        (
            Block(
                ("<|tool_call_begin|>",),
                "named",
                ("<|tool_call_end|>",),
                between=("<|tool_call_argument_begin|>",),
                numbered=True,
            ),
        ),
        sections=(
            ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
            ("<|tool_call_section_begin|>", "<|tool_call_section_end|>"),
        ),
        markers=("<|tool_call_begin|>",),
        families=("kimi",),
        example="<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
        '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>',
    ),
    Format(
        "mistral",
        (Block(("[TOOL_CALLS]",), "mistral", ("[/TOOL_CALLS]",), between=("[ARGS]", "[CALL_ID]"), joined=True),),
        thinking=(("[THINK]", "[/THINK]"), THINK),
        markers=("[TOOL_CALLS]",),
        families=("mistral", "ministral", "devstral", "magistral"),
        example='[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}',
    ),
    Format(
        "llama3_json",
        (Block(("<|python_tag|>",), "json"), Block(("<|python_tag|>",), "pythonic")),
        bare=("json",),
        inline=True,
        markers=("<|python_tag|>",),
        families=("llama", "llama3"),
        example='{"name": "get_weather", "parameters": {"city": "Paris"}}',
    ),
    Format(
        "functionary_v3.1",
        (FUNCTION_ELEMENT,),
        markers=("<function=",),
        families=("functionary",),
        example='<function=get_weather>{"city": "Paris"}</function>',
    ),
    Format(
        "functionary_v3.2",
        (Block((">>>",), "named"),),
        bare=("named",),
        markers=(">>>",),
        families=("functionary",),
        example='>>>get_weather\n{"city": "Paris"}',
    ),
    Format(
        "granite3",
        (Block(("<|tool_call|>", "<tool_call>"), "json", ("</tool_call>",)),),
        markers=("<|tool_call|>",),
        families=("granite",),
        example='<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    ),
    Format(
        "granite4_hermes_json",
        (HERMES,),
        families=("granite",),
        example='<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>',
    ),
    Format(
        "granite_20b_fc",
        (Block(("<function_call>",), "json", ("</function_call>",)),),
        markers=("<function_call>",),
        families=("granite",),
        example='<function_call> {"name": "get_weather", "arguments": {"city": "Paris"}}',
    ),
    Format(
        "ernie4.5",
        (HERMES,),
        families=("ernie",),
        marks=("<response>", "</response>"),
        example='<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>',
    ),
    Format(
        "jamba",
        (TOOL_CALLS,),
        markers=("<tool_calls>",),
        families=("jamba",),
        example='<tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>',
    ),
    Format(
        "apriel",
        (TOOL_CALLS,),
        families=("apriel",),
        marks=("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"),
        example='<tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>',
    ),
    Format(
        "xlam",
        (HERMES, Block(("[TOOL_CALLS]",), "json")),
        bare=("json", "fenced"),
        families=("xlam",),
        example='[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    ),
    Format(
        "longcat",
        (Block(("<longcat_tool_call>",), "json", ("</longcat_tool_call>",)),),
        thinking=(("<longcat_think>", "</longcat_think>"), THINK),
        markers=("<longcat_tool_call>",),
        families=("longcat",),
        example='<longcat_tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</longcat_tool_call>',
    ),
    Format(
        "nemotron_nano_v2",
        (Block(("<TOOLCALL>",), "json", ("</TOOLCALL>",)),),
        markers=("<TOOLCALL>",),
        families=("nemotron",),
        example='<TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</TOOLCALL>',
    ),
    Format(
        "apertus",
        (Block(("<|tools_prefix|>",), "json", ("<|tools_suffix|>",), keyed=True),),
        thinking=(("<|inner_prefix|>", "<|inner_suffix|>"),),
        markers=("<|tools_prefix|>",),
        families=("apertus",),
        example='<|tools_prefix|>[{"get_weather": {"city": "Paris"}}]<|tools_suffix|>',
    ),
    Format(
        "internlm2",
        (Block(("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"), "json", ("<|action_end|>",)),),
        markers=("<|action_start|>",),
        families=("internlm2", "internlm3"),
        example='<|action_start|><|plugin|>{"name": "get_weather", "parameters": {"city": "Paris"}}<|action_end|>',
    ),
    Format(
        "gigachat3",
        (
            Block(
                ("<|message_sep|>\n\nfunction call<|role_sep|>", "function call<|role_sep|>", "<|function_call|>"),
                "json",
            ),
        ),
        markers=("<|role_sep|>",),
        families=("gigachat",),
        example='<|function_call|>{"name": "get_weather", "arguments": {"city": "Paris"}}',
    ),
    Format(
        "cohere_command_actions",
        (Block(("<|START_ACTION|>",), "json", ("<|END_ACTION|>",)),),
        thinking=(("<|START_THINKING|>", "<|END_THINKING|>"),),
        marks=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
        markers=("<|START_ACTION|>",),
        families=("command-r7b", "command-a", "cohere2"),
        example='<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}]'
        "<|END_ACTION|>",
    ),
    Format(
        "command_r_plus_action",
        (Block(("Action:",), "json"),),
        markers=("Action:",),
        families=("command-r", "cohere"),
        example='Action:\n```json\n[{"tool_name": "get_weather", "parameters": {"city": "Paris"}}]\n```',
    ),
    Format(
        "phi4_mini_functools",
        (FUNCTOOLS,),
        markers=("functools[",),
        families=("phi4",),
        example='functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    ),
    Format(
        "firefunction_v2",
        (FUNCTOOLS,),
        markers=("functools[",),
        families=("firefunction",),
        example=' functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    ),
)
