// A call of a tool, as a panel: its arguments as they come, what was mended, its result.

import { h, seconds, setText } from "./dom.js";

const LONGEST_SHOWN = 20_000;

export class CallPanel {
  #name = h("code", { class: "call-name" });
  #mode = h("span", { class: "mode" });
  #state = h("span", { class: "call-state" });
  #arguments = h("code");
  #repairs = h("ul", { class: "repairs", hidden: true });
  #below = h("div", { class: "call-below" });

  constructor(mode) {
    setText(this.#mode, mode);
    this.#mode.classList.add(`mode-${mode}`);
    setText(this.#state, "coming …");
    this.element = h(
      "section",
      { class: "call", "aria-label": "A tool call" },
      h("header", {}, h("span", { class: "call-sign", "aria-hidden": "true" }), this.#name, this.#mode, this.#state),
      h("pre", { class: "call-arguments", tabindex: "0", "aria-label": "Arguments" }, this.#arguments),
      this.#repairs,
      this.#below,
    );
  }

  /** As it is so far. */
  show({ name, arguments: sent }) {
    setText(this.#name, name || "…");
    setText(this.#arguments, shortened(readable(sent)));
  }

  mended(repairs) {
    this.#repairs.hidden = !repairs.length;
    this.#repairs.replaceChildren(...repairs.map((repair) => h("li", {}, "Mended ", ...inWords(repair))));
  }

  runs() {
    setText(this.#state, "running …");
    this.element.classList.add("is-running");
  }

  brokeOff() {
    setText(this.#state, "broke off");
  }

  result(text, { failed = false, took = null, state = null } = {}) {
    this.element.classList.remove("is-running");
    this.element.classList.toggle("has-failed", failed);
    setText(this.#state, [state ?? (failed ? "failed" : "done"), took === null ? null : seconds(took)].filter(Boolean).join(" · "));
    this.#below.replaceChildren(
      h("div", { class: "call-result" }, h("span", { class: "quiet small" }, failed ? "Error" : "Result"), h("pre", { tabindex: "0", "aria-label": "Result" }, shortened(text))),
    );
  }

  /** What the user types as the result; an end by `signal` is an AbortError. */
  ask(name, signal) {
    setText(this.#state, "waits for you");
    return new Promise((resolve, reject) => {
      const field = h("textarea", { rows: "2", "aria-label": `Result of ${name}`, placeholder: "What does the tool answer?" });
      const form = h("form", { class: "call-form" }, field, h("button", { type: "submit", class: "primary small" }, "Give result"));
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        form.requestSubmit();
      });
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        resolve(field.value);
      });
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      this.#below.replaceChildren(form);
      field.focus();
    });
  }
}

/** Whole JSON is set out; what is still coming is shown as it is. */
function readable(sent) {
  try {
    const value = JSON.parse(sent);
    const short = JSON.stringify(value);
    return short.length <= 60 ? short : JSON.stringify(value, null, 2);
  } catch {
    return sent;
  }
}

function inWords({ path, from, to, rule }) {
  const where = Array.isArray(path) ? path.join(".") : String(path ?? "");
  return [
    where ? h("code", {}, where) : "the call",
    `: ${String(rule ?? "").replaceAll("_", " ")}`,
    from === undefined && to === undefined ? null : ", ",
    from === undefined ? null : h("code", {}, shortened(JSON.stringify(from), 120)),
    from === undefined || to === undefined ? null : " → ",
    to === undefined ? null : h("code", {}, shortened(JSON.stringify(to), 120)),
  ].filter(Boolean);
}

function shortened(text, most = LONGEST_SHOWN) {
  return text.length > most ? `${text.slice(0, most)} … (${text.length.toLocaleString("en")} characters)` : text;
}
