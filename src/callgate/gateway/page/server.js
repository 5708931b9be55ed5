// What the page asks of the server: the same that any client of OpenAI's dialect asks.

import { events } from "./sse.js";

/** The server said no, or broke off, and said why. */
export class Refusal extends Error {
  constructor(message, status = 0) {
    super(message);
    this.name = "Refusal";
    this.status = status;
  }
}

export class Server {
  #keys;

  /** `keys` has `current`, the key to send or null, and `refused(hadOne)`, which is told of a 401. */
  constructor(keys) {
    this.#keys = keys;
    this.version = "";
  }

  async models() {
    const response = await this.#ask("v1/models");
    const { data } = await response.json();
    return Array.isArray(data) ? data.filter((model) => typeof model?.id === "string") : [];
  }

  /** One answer: the mode, and an iterator over its chunks that ends only if the answer is whole. */
  async talk(body, signal) {
    const response = await this.#ask("v1/chat/completions", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
      signal,
    });
    return { mode: response.headers.get("X-Callgate-Mode") ?? "", chunks: chunks(response.body) };
  }

  async #ask(path, init = {}) {
    const key = this.#keys.current;
    const headers = new Headers(init.headers);
    if (key) headers.set("Authorization", `Bearer ${key}`);
    let response;
    try {
      response = await fetch(path, { ...init, headers, credentials: "omit", cache: "no-store" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refusal("The server can't be reached. Is callgate serve still running?");
    }
    this.version = response.headers.get("X-Callgate") ?? this.version;
    if (response.ok) return response;
    const said = await reason(response);
    if (response.status === 401) this.#keys.refused(Boolean(key));
    throw new Refusal(said, response.status);
  }
}

async function* chunks(body) {
  try {
    for await (const data of events(body)) {
      if (data === "[DONE]") return;
      const chunk = parsed(data);
      if (chunk.error) throw new Refusal(messageOf(chunk.error));
      yield chunk;
    }
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal("The connection broke off in the middle of the answer.");
    throw error;
  }
  throw new Refusal("The answer broke off: it has no proper end.");
}

function parsed(data) {
  try {
    const chunk = JSON.parse(data);
    if (chunk && typeof chunk === "object") return chunk;
  } catch {
    // Told below.
  }
  throw new Refusal("The server sent something that is no JSON object.");
}

async function reason(response) {
  const text = await response.text().catch(() => "");
  try {
    return messageOf(JSON.parse(text).error);
  } catch {
    return `The server answered with status ${response.status}.`;
  }
}

function messageOf(error) {
  const message = typeof error === "string" ? error : error?.message;
  return typeof message === "string" && message ? message : "The server failed and didn't say why.";
}
