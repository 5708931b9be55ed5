// The key of the server, where it wants one. It stays in this tab and goes to this server only.

import { byId, setText } from "./dom.js";
import { keepInTab, keptInTab } from "./kept.js";

const SENDABLE = /^[\x21-\x7e]{1,4096}$/; // as a header

export class Keys {
  #dialog = byId("key-dialog");
  #field = byId("key");
  #button = byId("key-button");
  #given;

  /** `given` is called whenever there is a new key to try. */
  constructor(given) {
    this.#given = given;
    this.current = keptInTab("key", null);
    this.#button.hidden = !this.current;
    this.#button.addEventListener("click", () => this.#ask("The key that this tab sends to the server."));
    byId("key-cancel").addEventListener("click", () => this.#dialog.close());
    byId("key-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#take(this.#field.value.trim());
    });
  }

  refused(hadOne) {
    this.#button.hidden = false;
    this.#ask(
      hadOne
        ? "The server doesn’t know this key (401). Look whether it is one of those that callgate serve was started with."
        : "This server answers only those who have a key (401): one of those that callgate serve was started with.",
      { isWrong: hadOne },
    );
  }

  #take(key) {
    if (!SENDABLE.test(key)) {
      setText(byId("key-why"), "A key is made of letters, digits and signs, without spaces.");
      this.#field.setAttribute("aria-invalid", "true");
      this.#field.focus();
      return;
    }
    this.current = key;
    keepInTab("key", key);
    this.#field.value = "";
    this.#dialog.close();
    this.#given();
  }

  #ask(why, { isWrong = false } = {}) {
    setText(byId("key-why"), why);
    this.#field.setAttribute("aria-invalid", String(isWrong));
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#field.focus();
  }
}
