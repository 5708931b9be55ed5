// A conversation with two tools, as every client has it: a question, a call, its result, an answer; and once more.
// The words of it come through standard input, from talk.py, so that all clients say the same.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

export const { tools, questions, results, most_tokens: MOST_TOKENS } = JSON.parse(readFileSync(0, "utf-8"));

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { must: { type: "boolean" }, "only-streamed": { type: "boolean" } },
});
export const [url, model] = positionals;

/** One conversation for each way that answers come in: whole, and in pieces. */
const ways = values["only-streamed"] ? [true] : [false, true];

/** What the model called, and what it answered. */
class Noted {
  calls = [];
  answers = [];

  /** What the tool says to it. */
  called(name, args) {
    this.calls.push({ name, arguments: typeof args === "string" ? JSON.parse(args) : args });
    return results[name];
  }

  answered(text) {
    this.answers.push(text);
  }
}

/**
 * Has the conversations. `begin(stream, noted)` opens one; what it returns is asked each question, with the name of the tool
 * that the model has to be made to call where it wouldn't by itself, and gives the answer.
 */
export async function converse(begin) {
  for (const stream of ways) {
    const noted = new Noted();
    const modes = [];
    const ask = begin(stream, noted, modes);
    for (const [tool, question] of Object.entries(questions)) {
      noted.answered(await ask(question, values.must ? tool : ""));
    }
    console.log(JSON.stringify({ calls: noted.calls, answers: noted.answers, ...(modes.length ? { modes } : {}) }));
  }
}

/** How it ended fits what came of it. */
export function ended(reason, called, [calling, ...otherwise]) {
  assert((called ? [calling] : otherwise).includes(reason), `ended with ${reason}, ${called ? "" : "not "}having called`);
}
