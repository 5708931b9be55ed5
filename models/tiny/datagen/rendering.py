"""A conversation as text, exactly as chat_template.jinja renders it."""

from __future__ import annotations

from datagen.lists import dumps

_CALL = '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
QWEN_HEAD = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
)
QWEN_TAIL = (
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n" + _CALL
)
OUR_HEAD = "# Tools\n\nYou may call one or more of these functions:\n<tools>"
OUR_TAIL = "\n</tools>\n\nReturn each call as:\n" + _CALL


def render(msgs, tools, variant="ours"):
    """Text as chat_template.jinja renders it (no generation prompt)."""
    out = []
    i = 0
    if tools:
        out.append("<|im_start|>system\n")
        if msgs[0]["role"] == "system":
            out.append(msgs[0]["content"] + "\n\n")
        elif variant == "qwen":
            out.append("You are Qwen, created by Alibaba Cloud. You are a helpful assistant.\n\n")
        out.append(OUR_HEAD if variant == "ours" else QWEN_HEAD)
        out.extend("\n" + dumps(t) for t in tools)
        out.append((OUR_TAIL if variant == "ours" else QWEN_TAIL) + "<|im_end|>\n")
        i = 1 if msgs[0]["role"] == "system" else 0
    for j in range(i, len(msgs)):
        m = msgs[j]
        if m["role"] == "tool":
            if j == 0 or msgs[j - 1]["role"] != "tool":
                out.append("<|im_start|>user")
            out.append("\n<tool_response>\n" + m["content"] + "\n</tool_response>")
            if j == len(msgs) - 1 or msgs[j + 1]["role"] != "tool":
                out.append("<|im_end|>\n")
        elif m.get("tool_calls"):
            out.append("<|im_start|>assistant")
            out.extend(
                f'\n<tool_call>\n{{"name": "{c["name"]}", "arguments": {dumps(c["arguments"])}}}\n</tool_call>'
                for c in m["tool_calls"]
            )
            out.append("<|im_end|>\n")
        else:
            out.append("<|im_start|>" + m["role"] + "\n" + m["content"] + "<|im_end|>\n")
    return "".join(out)
