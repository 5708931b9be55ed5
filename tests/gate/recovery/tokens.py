"""What answers with calls in them are made of, in any format: for making up texts that are hard to read."""

from __future__ import annotations

from callgate.gate.recovery.formats import KNOWN

TOKENS = sorted(
    {
        *(literal for known in KNOWN for block in known.blocks for literal in (*block.open, *block.close)),
        *(literal for known in KNOWN for tags in (*known.sections, *known.thinking) for literal in tags),
        *(
            "{",
            "}",
            "[",
            "]",
            "(",
            ")",
            '"',
            "'",
            "\\",
            "\n",
            " ",
            "`",
            "```",
            "```json\n",
            "<",
            "|",
            ":",
            ",",
            ";",
            "=",
        ),
        *("get_weather", "get_time", "city", "Paris", '"name": ', '"arguments": ', "call:", "to=", "functions.", ":0"),
        *("<|channel|>", "<|start|>assistant", "<|message|>", "analysis", "<|end|>", "</s>", "<arg_key>", "</arg_key>"),
        *("<arg_value>", "</arg_value>", "<parameter=city>", "</parameter>", "</function>", "[ARGS]", '<|"|>', "words"),
    }
)
