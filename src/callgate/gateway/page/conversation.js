// A conversation: questions, answers, calls that are run and answered, and whoever is talked to now.

import { Answer } from "./answer.js";
import { h } from "./dom.js";
import { changed } from "./facts.js";

const MOST_ROUNDS = 8;
const STOPPED = "The user stopped this call.";

export class Conversation {
  #server;
  #toolbox;
  #thread;
  #onBusy;
  #messages = [];
  #model = null;
  /** Who gave the answers so far. */
  #speaker = null;
  #stopping = null;

  /** `onBusy` is told when an answer begins to come, and when it has ended. */
  constructor({ server, toolbox, thread, onBusy }) {
    [this.#server, this.#toolbox, this.#thread, this.#onBusy] = [server, toolbox, thread, onBusy];
  }

  get isBusy() {
    return this.#stopping !== null;
  }

  get isEmpty() {
    return this.#messages.length === 0;
  }

  /** From now on `model` is asked; all that was said stays. */
  swap(model) {
    this.#model = model;
    if (this.isEmpty || !this.#speaker) return;
    const isOther = model.id !== this.#speaker.id;
    this.#thread.swapped(
      isOther && [
        h("strong", {}, model.id),
        " goes on in place of ",
        h("strong", {}, this.#speaker.id),
        `: ${changed(this.#speaker, model)}. The conversation stays.`,
      ],
    );
  }

  clear() {
    this.stop();
    this.#stopping = null;
    this.#messages = [];
    this.#speaker = null;
    this.#thread.clear();
    this.#onBusy(false);
  }

  stop() {
    this.#stopping?.abort(new DOMException("stopped", "AbortError"));
  }

  async say(text, images = []) {
    if (this.isBusy || !this.#model) return;
    this.#thread.question(text, images);
    const pictures = images.map((url) => ({ type: "image_url", image_url: { url } }));
    const content = pictures.length ? [...(text ? [{ type: "text", text }] : []), ...pictures] : text;
    this.#messages.push({ role: "user", content });
    await this.#answered();
  }

  /** Asks until there is an answer without calls. */
  async #answered() {
    const stopping = new AbortController();
    const messages = this.#messages; // a conversation that is cleared is another one
    this.#stopping = stopping;
    this.#onBusy(true);
    try {
      for (let round = 0; round < MOST_ROUNDS; round += 1) {
        if (!(await this.#round(messages, stopping.signal))) return;
      }
      this.#thread.note(`The model called tools ${MOST_ROUNDS} times in a row, and was stopped. Say something, and it goes on.`);
    } finally {
      if (this.#stopping === stopping) {
        this.#stopping = null;
        this.#onBusy(false);
      }
    }
  }

  /** One answer and the results of its calls. Whether the model has to be asked again. */
  async #round(messages, signal) {
    const model = (this.#speaker = this.#model);
    const view = this.#thread.answer(model.id);
    const answer = new Answer();
    const started = performance.now();
    let trouble = null;
    try {
      const tools = this.#toolbox.offered();
      const { mode, chunks } = await this.#server.talk({ model: model.id, messages, ...(tools.length ? { tools } : {}) }, signal);
      view.mode(mode);
      for await (const chunk of chunks) {
        answer.take(chunk);
        view.grew(answer);
      }
    } catch (error) {
      trouble = error;
    }
    const wasStopped = signal.aborted;
    const failed = trouble && !wasStopped;
    if (failed && trouble.name !== "Refusal") console.error(trouble);
    // Calls of an answer that isn't whole may not be whole themselves.
    if (failed || wasStopped) answer.calls = [];
    const message = answer.isEmpty ? null : answer.message();
    view.ended(answer, {
      took: performance.now() - started,
      error: failed ? trouble.message : null,
      wasStopped,
      retry: failed ? () => this.#again(messages, message) : null,
    });
    if (message) messages.push(message);
    if (!answer.calls.length) return false;
    messages.push(...(await Promise.all(answer.calls.map((call, at) => this.#run(call, view.panel(at), signal)))));
    return !signal.aborted;
  }

  async #again(messages, brokenOff) {
    if (this.isBusy || messages !== this.#messages) return;
    if (brokenOff && messages.at(-1) === brokenOff) messages.pop();
    await this.#answered();
  }

  async #run(call, panel, signal) {
    const started = performance.now();
    const tool = this.#toolbox.find(call.name);
    const said = (content, shown) => {
      panel.result(content, { took: performance.now() - started, ...shown });
      return { role: "tool", tool_call_id: call.id, content };
    };
    try {
      if (!tool) throw new Error(`there is no tool "${call.name.slice(0, 80)}"`);
      if (!tool.run) return said(await panel.ask(call.name, signal), { state: "answered by you" });
      panel.runs();
      return said(tool.run(readArguments(call.arguments)), {});
    } catch (error) {
      if (signal.aborted) return said(STOPPED, { failed: true, state: "stopped" });
      return said(`Error: ${error.message}`, { failed: true });
    }
  }
}

function readArguments(text) {
  const value = JSON.parse(text || "{}");
  if (!value || typeof value !== "object" || Array.isArray(value)) throw new Error("the arguments are no object");
  return value;
}
