// Where a message is written. Enter sends, Shift+Enter makes a new line; while an answer comes, the button stops it.

import { byId, setText } from "./dom.js";

export class Composer {
  #form = byId("composer");
  #field = byId("message");
  #send = byId("send");
  #attachments;
  #onSend;
  #onStop;
  #isBusy = false;
  #isReady = false;

  constructor({ attachments, onSend, onStop }) {
    [this.#attachments, this.#onSend, this.#onStop] = [attachments, onSend, onStop];
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#isBusy) this.#onStop();
      else this.#submit();
    });
    this.#field.addEventListener("keydown", (event) => {
      // While an input method composes a word, Enter ends the word.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!this.#isBusy) this.#submit();
    });
    this.#field.addEventListener("input", () => this.#settle());
    this.#field.addEventListener("paste", (event) => {
      const files = [...event.clipboardData.files];
      if (files.length) this.#attachments.add(files);
    });
    this.#settle();
  }

  /** There is a model to talk to, or `why` there is none. */
  ready(name, why = "") {
    this.#isReady = Boolean(name);
    this.#field.placeholder = name ? `Message ${name}` : why;
    this.#settle();
  }

  busy(isBusy) {
    this.#isBusy = isBusy;
    this.#send.classList.toggle("stops", isBusy);
    setText(this.#send.querySelector(".label"), isBusy ? "Stop" : "Send");
    this.#settle();
  }

  write(text) {
    this.#field.value = text;
    this.#submit();
  }

  focus() {
    // On a touch screen this would bring up the keyboard unasked.
    if (!matchMedia("(hover: none)").matches) this.#field.focus();
  }

  #submit() {
    const text = this.#field.value.trim();
    if (!this.#isReady || (!text && this.#attachments.isEmpty)) return;
    this.#field.value = "";
    const images = this.#attachments.take();
    this.#settle();
    this.#onSend(text, images);
  }

  #settle() {
    this.#send.disabled = !this.#isBusy && !this.#isReady;
    // As high as what is in it; its style says how high at most.
    this.#field.style.height = "auto";
    const border = this.#field.offsetHeight - this.#field.clientHeight;
    this.#field.style.height = `${this.#field.scrollHeight + border}px`;
  }
}
