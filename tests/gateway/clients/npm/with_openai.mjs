// The `openai` package: chat completions.

import assert from "node:assert/strict";
import OpenAI from "openai";
import { ChatCompletionStream } from "openai/lib/ChatCompletionStream";
import { MOST_TOKENS, converse, ended, model, tools, url } from "./talk.mjs";

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });

await converse((stream, noted, modes) => {
  const messages = [];

  async function said(must = "") {
    const { data, response } = await client.chat.completions
      .create({
        model,
        messages,
        tools,
        tool_choice: must ? { type: "function", function: { name: must } } : "auto",
        temperature: 0,
        max_tokens: MOST_TOKENS,
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      })
      .withResponse();
    modes.push(response.headers.get("x-callgate-mode"));
    const whole = stream
      ? await ChatCompletionStream.fromReadableStream(data.toReadableStream()).finalChatCompletion()
      : data;
    assert(whole.usage.completion_tokens > 0);
    const { message, finish_reason: reason } = whole.choices[0];
    ended(reason, message.tool_calls?.length, ["tool_calls", "stop", "length"]);
    messages.push(message);
    return message;
  }

  return async (question, must) => {
    messages.push({ role: "user", content: question });
    for (const call of (await said(must)).tool_calls ?? []) {
      const content = noted.called(call.function.name, call.function.arguments);
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
    return (await said()).content;
  };
});
