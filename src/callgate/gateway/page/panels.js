// The list of models and the details: columns where there is room, sheets over the conversation where there is none.

import { byId } from "./dom.js";
import { keep, kept } from "./kept.js";

class Panel {
  #panel;
  #button;
  #room;
  #others;
  #name;

  /** `room` is a media query: whether the panel fits beside the conversation. */
  constructor({ name, panel, button, close, room, others }) {
    [this.#panel, this.#button, this.#others, this.#name] = [panel, button, others, name];
    this.#room = matchMedia(room);
    this.#room.addEventListener("change", () => this.#settle());
    button.addEventListener("click", () => (this.isOpen ? this.close() : this.open()));
    close.addEventListener("click", () => this.close());
    panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.#room.matches) return;
      event.stopPropagation();
      this.close();
    });
    // What lies under a sheet hears nothing, so a touch of it is one of the document.
    document.addEventListener("pointerdown", (event) => {
      if (this.isOpen && this.#isSheet && !panel.contains(event.target)) this.close();
    });
    this.#settle();
  }

  get isOpen() {
    return !this.#panel.hidden;
  }

  get #isSheet() {
    return !this.#room.matches;
  }

  open() {
    this.#set(true);
    if (this.#isSheet) this.#panel.focus();
  }

  close() {
    const hadFocus = this.#panel.contains(document.activeElement);
    this.#set(false);
    if (hadFocus) this.#button.focus();
  }

  /** For a sheet whose work is done. */
  closeSheet() {
    if (this.#isSheet) this.close();
  }

  #settle() {
    this.#set(this.#room.matches && kept(`panel.${this.#name}`, true), { isOurs: true });
  }

  #set(isOpen, { isOurs = false } = {}) {
    this.#panel.hidden = !isOpen;
    this.#button.setAttribute("aria-expanded", String(isOpen));
    document.body.classList.toggle(`with-${this.#name}`, isOpen && !this.#isSheet);
    // Under a sheet nothing can be reached.
    for (const other of this.#others) other.inert = isOpen && this.#isSheet;
    if (!isOurs && !this.#isSheet) keep(`panel.${this.#name}`, isOpen);
  }
}

export function panels() {
  const [models, details, main, header] = ["models-panel", "details-panel", "main", "header"].map(byId);
  return {
    models: new Panel({
      name: "models",
      panel: models,
      button: byId("models-button"),
      close: byId("models-close"),
      room: "(min-width: 48rem)",
      others: [main, header, details],
    }),
    details: new Panel({
      name: "details",
      panel: details,
      button: byId("why-button"),
      close: byId("details-close"),
      room: "(min-width: 72rem)",
      others: [main, header, models],
    }),
  };
}
