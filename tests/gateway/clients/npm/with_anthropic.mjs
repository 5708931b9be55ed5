// The `@anthropic-ai/sdk` package.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { MOST_TOKENS, converse, ended, model, tools, url } from "./talk.mjs";

const client = new Anthropic({ baseURL: url, apiKey: "none" });
const own = tools.map(({ function: { name, description, parameters } }) => ({
  name,
  description,
  input_schema: parameters,
}));

await converse((stream, noted, modes) => {
  const messages = [];

  async function said(must = "") {
    const wanted = {
      model,
      max_tokens: MOST_TOKENS,
      system: [{ type: "text", text: "Use your tools.", cache_control: { type: "ephemeral" } }],
      messages,
      tools: [...own, { type: "web_search_20250305", name: "web_search" }],
      tool_choice: must ? { type: "tool", name: must, disable_parallel_tool_use: true } : { type: "auto" },
      temperature: 0,
    };
    let message;
    if (stream) {
      const pieces = client.messages.stream(wanted);
      let text = "";
      pieces.on("text", (piece) => (text += piece));
      message = await pieces.finalMessage();
      assert.equal(text, textOf(message));
      modes.push(pieces.response.headers.get("x-callgate-mode"));
    } else {
      const { data, response } = await client.messages.create(wanted).withResponse();
      message = data;
      modes.push(response.headers.get("x-callgate-mode"));
    }
    assert(message.usage.output_tokens > 0);
    messages.push({ role: "assistant", content: message.content });
    return message;
  }

  return async (question, must) => {
    messages.push({ role: "user", content: question });
    const message = await said(must);
    const calls = message.content.filter((block) => block.type === "tool_use");
    ended(message.stop_reason, calls.length, ["tool_use", "end_turn", "max_tokens"]);
    const results = calls.map(({ id, name, input }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: noted.called(name, input),
    }));
    if (results.length) messages.push({ role: "user", content: results });
    return textOf(await said());
  };
});

assert((await client.messages.countTokens({ model, messages: [{ role: "user", content: "hello" }] })).input_tokens > 0);
assert((await client.models.list()).data.some(({ id }) => id === model));

function textOf(message) {
  return message.content.map((block) => block.text ?? "").join("");
}
