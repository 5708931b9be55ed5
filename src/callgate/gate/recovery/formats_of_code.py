"""Formats in which a call looks like code, and those with channels."""

from __future__ import annotations

from callgate.gate.recovery.blocks import GEMMA_QUOTES, invoke
from callgate.gate.recovery.shapes import Block, Format

CODE_FORMATS = (
    Format(
        "llama4_pythonic",
        (Block(("<|python_start|>",), "pythonic", ("<|python_end|>",)),),
        bare=("pythonic",),
        markers=("<|python_start|>",),
        families=("llama4",),
        example="<|python_start|>[get_weather(city='Paris')]<|python_end|>",
    ),
    Format("pythonic", bare=("pythonic",), example="[get_weather(city='Paris')]"),
    Format(
        "lfm2_pythonic",
        (Block(("<|tool_call_start|>",), "pythonic", ("<|tool_call_end|>",)),),
        bare=("pythonic", "named"),
        markers=("<|tool_call_start|>",),
        families=("lfm2",),
        example="<|tool_call_start|>[get_weather(city='Paris')]<|tool_call_end|>",
    ),
    Format(
        "olmo3_pythonic",
        (Block(("<function_calls>",), "pythonic", ("</function_calls>",)),),
        bare=("named",),
        markers=("<function_calls>",),
        families=("olmo", "olmo3"),
        example="<function_calls>get_weather(city='Paris')</function_calls>",
    ),
    Format(
        "gpt_oss_harmony",
        thinking=(),
        channels=True,
        markers=("<|channel|>",),
        families=("gpt-oss",),
        example='<|channel|>commentary to=functions.get_weather<|message|>{"city": "Paris"}<|call|>',
    ),
    Format(
        "muse_glimmer",
        (invoke("atem:"),),
        sections=(("<atem:function_calls>", "</atem:function_calls>"),),
        thinking=(),
        channels=True,
        framed=True,
        markers=("<atem:",),
        example="<|start|>assistant to=get_weather<|message|><atem:function_calls>"
        '<atem:invoke name="get_weather"><atem:parameter name="city">Paris</atem:parameter></atem:invoke>'
        "</atem:function_calls><|eot|>",
    ),
    Format(
        "gemma4",
        (Block(("<|tool_call>",), "gemma", ("<tool_call|>",), quotes=GEMMA_QUOTES),),
        bare=("named",),
        thinking=(("<|channel>", "<channel|>"),),
        markers=("<|tool_call>",),
        families=("gemma4",),
        example='<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>',
    ),
    Format(
        "functiongemma",
        (Block(("<start_function_call>",), "gemma", ("<end_function_call>",), quotes=GEMMA_QUOTES[::-1]),),
        markers=("<start_function_call>",),
        families=("functiongemma",),
        example="<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call>",
    ),
)
