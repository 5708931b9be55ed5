"""A conversation as text: as chat_template.jinja renders it, or as callgate has a model without tools read it."""

from __future__ import annotations

from datagen.listings import calls_text, instructions, reply_text, result_text
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
    if tools and variant not in ("ours", "qwen"):
        return _plain_text(emulated(msgs, tools, variant))
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
            out.append("<|im_start|>assistant" + ("\n" + m["content"] if m["content"] else ""))
            out.extend(
                f'\n<tool_call>\n{{"name": "{c["name"]}", "arguments": {dumps(c["arguments"])}}}\n</tool_call>'
                for c in m["tool_calls"]
            )
            out.append("<|im_end|>\n")
        else:
            out.append("<|im_start|>" + m["role"] + "\n" + m["content"] + "<|im_end|>\n")
    return "".join(out)


def emulated(msgs, tools, variant):
    """The same conversation without tools: they are in the system message, and calls and results are words."""
    convention = variant.removeprefix("forced ")
    told = instructions(tools, convention, variant != convention)
    rest = msgs
    if msgs[0]["role"] == "system":
        told, rest = msgs[0]["content"] + "\n\n" + told, msgs[1:]
    found, waiting = [{"role": "system", "content": told}], []
    for message in rest:
        if message["role"] == "tool":
            text = result_text(waiting.pop(0), message["content"])
            if found[-1]["role"] == "user":
                found[-1]["content"] += "\n\n" + text
            else:
                found.append({"role": "user", "content": text})
        elif calls := message.get("tool_calls"):
            waiting = [call["name"] for call in calls]
            found.append({"role": "assistant", "content": calls_text(calls, convention)})
        elif message["role"] == "assistant":
            found.append({"role": "assistant", "content": reply_text(message["content"], convention)})
        else:
            found.append({"role": message["role"], "content": message["content"]})
    return found


def _plain_text(msgs):
    return "".join(f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in msgs)
