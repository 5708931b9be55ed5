// The `openai` package's `responses`: with all that was said in each request, or, in pieces, going on from the answer before.

import assert from "node:assert/strict";
import OpenAI from "openai";
import { MOST_TOKENS, converse, model, tools, url } from "./talk.mjs";

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
const own = tools.map((tool) => ({ type: "function", strict: false, ...tool.function }));

await converse((stream, noted, modes) => {
  const before = [];
  let previous;

  async function said(items, must = "") {
    before.push(...items);
    const { data, response } = await client.responses
      .create({
        model,
        instructions: "Use your tools.",
        input: stream ? items : before,
        tools: [...own, { type: "web_search" }], // as an agent has it: nobody here runs it, and nothing fails
        tool_choice: must ? { type: "function", name: must } : "auto",
        parallel_tool_calls: false,
        temperature: 0,
        max_output_tokens: MOST_TOKENS,
        ...(stream ? { stream, previous_response_id: previous } : { store: false }),
      })
      .withResponse();
    modes.push(response.headers.get("x-callgate-mode"));
    const whole = stream ? await last(data) : data;
    assert(["completed", "incomplete"].includes(whole.status));
    assert(whole.usage.output_tokens > 0);
    before.push(...whole.output);
    previous = whole.id;
    return whole;
  }

  return async (question, must) => {
    const { output } = await said([{ role: "user", content: question }], must);
    const calls = output.filter((item) => item.type === "function_call");
    const results = calls.map(({ call_id, name, arguments: args }) => ({
      type: "function_call_output",
      call_id,
      output: noted.called(name, args),
    }));
    return textOf(await said(results));
  };
});

/** The response that the last event has, the pieces before having told the same. */
async function last(events) {
  let number = 0;
  let text = "";
  let args = "";
  for await (const event of events) {
    assert.equal(event.sequence_number, number++);
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type === "response.function_call_arguments.delta") args += event.delta;
    if (["response.completed", "response.incomplete"].includes(event.type)) {
      assert.equal(text, textOf(event.response));
      assert.equal(args, event.response.output.map((item) => item.arguments ?? "").join(""));
      return event.response;
    }
  }
  return assert.fail("no last event");
}

function textOf(response) {
  const parts = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
  return parts.map((part) => part.text).join("");
}
