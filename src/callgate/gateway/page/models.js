// The list of models: searched, filtered, and walked through with the arrow keys.

import { byId, h, setText } from "./dom.js";
import { badges, canSee, measures, modeOf, searchText, thinks, toolsOf } from "./facts.js";

const FILTERS = {
  tools: (model) => toolsOf(model) === "yes",
  vision: canSee,
  thinking: thinks,
};

export class ModelList {
  #list = byId("models");
  #search = byId("search");
  #count = byId("model-count");
  #rows = [];
  #wanted = new Set();
  #chosen = null;
  #onChoose;

  constructor(onChoose) {
    this.#onChoose = onChoose;
    this.#search.addEventListener("input", () => this.#filter());
    this.#search.addEventListener("keydown", (event) => this.#fromSearch(event));
    for (const button of byId("filters").querySelectorAll("button")) {
      button.addEventListener("click", () => this.#toggle(button));
    }
    this.#list.addEventListener("click", (event) => {
      const row = this.#rowAt(event.target);
      if (row) this.#choose(row);
    });
    this.#list.addEventListener("keydown", (event) => this.#walk(event));
  }

  show(models) {
    this.#rows = models.map((model) => ({ model, text: searchText(model), element: option(model), isShown: true }));
    this.#list.replaceChildren(...this.#rows.map((row) => row.element));
    this.#filter();
    this.mark(this.#chosen);
  }

  /** Marks the model with this id as the one that is talked to. */
  mark(id) {
    this.#chosen = id;
    for (const row of this.#rows) row.element.setAttribute("aria-selected", String(row.model.id === id));
    this.#setTabStop();
  }

  focus() {
    (this.#shown.find((row) => row.model.id === this.#chosen) ?? this.#shown[0])?.element.focus();
  }

  focusSearch() {
    this.#search.focus();
    this.#search.select();
  }

  get #shown() {
    return this.#rows.filter((row) => row.isShown);
  }

  #toggle(button) {
    const name = button.dataset.filter;
    const isOn = !this.#wanted.delete(name);
    if (isOn) this.#wanted.add(name);
    button.setAttribute("aria-pressed", String(isOn));
    this.#filter();
  }

  #filter() {
    const words = this.#search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = [...this.#wanted].map((name) => FILTERS[name]);
    for (const row of this.#rows) {
      row.isShown = words.every((word) => row.text.includes(word)) && wanted.every((wants) => wants(row.model));
      row.element.hidden = !row.isShown;
    }
    this.#setTabStop();
    const [shown, all] = [this.#shown.length, this.#rows.length];
    setText(this.#count, shown === all ? `${all}` : `${shown} of ${all}`);
    byId("no-match").hidden = shown > 0 || all === 0;
  }

  /** One stop for Tab in the whole list: the chosen row, or the first. */
  #setTabStop() {
    const shown = this.#shown;
    const stop = shown.find((row) => row.model.id === this.#chosen) ?? shown[0];
    for (const row of this.#rows) row.element.tabIndex = row === stop ? 0 : -1;
  }

  #rowAt(target) {
    const element = target.closest?.("[role=option]");
    return this.#rows.find((row) => row.element === element);
  }

  #choose(row) {
    this.mark(row.model.id);
    this.#onChoose(row.model);
  }

  #fromSearch(event) {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      this.#shown[0]?.element.focus();
    } else if (event.key === "Enter" && this.#shown.length) {
      event.preventDefault();
      this.#choose(this.#shown[0]);
    }
  }

  #walk(event) {
    const shown = this.#shown;
    const at = shown.indexOf(this.#rowAt(event.target));
    if (at < 0) return;
    const last = shown.length - 1;
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last, PageDown: at + 8, PageUp: at - 8 };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#choose(shown[at]);
    } else if (event.key === "ArrowUp" && at === 0) {
      event.preventDefault();
      this.#search.focus();
    } else if (event.key in steps) {
      event.preventDefault();
      shown[Math.max(0, Math.min(last, steps[event.key]))].element.focus();
    }
  }
}

function option(model) {
  const mode = modeOf(model);
  return h(
    "li",
    { role: "option", class: "model", "aria-selected": "false", tabindex: "-1" },
    h(
      "div",
      { class: "model-top" },
      h("span", { class: "model-name", title: model.id }, model.id),
      h("span", { class: `mode mode-${mode}` }, mode),
    ),
    h(
      "div",
      { class: "model-below" },
      badges(model).map(({ kind, text, title }) => h("span", { class: `badge badge-${kind}`, title }, text)),
      h("span", { class: "measures" }, measures(model).join(" · ")),
    ),
  );
}
