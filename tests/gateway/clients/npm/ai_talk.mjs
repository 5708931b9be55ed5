// The conversation as a program has it that is written with the AI SDK: its own loop runs the tools.

import assert from "node:assert/strict";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { MOST_TOKENS, converse, tools } from "./talk.mjs";

export const talk = (model) =>
  converse((stream, noted) => {
    const messages = [];
    const own = tools.map(({ function: { name, description, parameters } }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters), execute: (args) => noted.called(name, args) }),
    ]);

    return async (question, must) => {
      messages.push({ role: "user", content: question });
      const wanted = {
        model,
        messages,
        tools: Object.fromEntries(own),
        stopWhen: stepCountIs(4),
        prepareStep: ({ stepNumber }) =>
          must && !stepNumber ? { toolChoice: { type: "tool", toolName: must } } : { toolChoice: "auto" },
        temperature: 0,
        maxOutputTokens: MOST_TOKENS,
        maxRetries: 0,
      };
      const done = stream ? streamText({ ...wanted, onError: ({ error }) => assert.fail(error) }) : await generateText(wanted);
      const text = await done.text;
      if (stream) {
        const pieces = [];
        for await (const piece of done.textStream) pieces.push(piece);
        assert(pieces.join("").endsWith(text));
      }
      assert((await done.totalUsage).outputTokens > 0);
      messages.push(...(await done.response).messages);
      return text;
    };
  });
