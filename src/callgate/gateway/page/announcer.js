// Reads aloud what streams in: whole sentences for screen readers, instead of each word or everything anew.

import { h } from "./dom.js";

const MOST_LINES = 20;
const SENTENCE = /^[\s\S]*?(?:[.!?…](?=\s)|\n)/;

export class Announcer {
  #region;
  #said = 0;

  constructor(region) {
    this.#region = region;
  }

  /** At once. */
  say(text) {
    this.#region.append(h("p", {}, text));
    while (this.#region.childElementCount > MOST_LINES) this.#region.firstElementChild.remove();
  }

  /** Of a text that grows, the sentences that are new. */
  follow(text, { isWhole = false } = {}) {
    for (;;) {
      const rest = text.slice(this.#said);
      const sentence = SENTENCE.exec(rest)?.[0] ?? (isWhole ? rest : "");
      if (!sentence) break;
      this.#said += sentence.length;
      if (sentence.trim()) this.say(sentence.trim());
    }
    if (isWhole) this.#said = 0;
  }
}
