// The window in which tools are switched, added and removed.

import { byId, h, setText } from "./dom.js";

const EXAMPLE = JSON.stringify(
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "Get the weather in a city.",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
  null,
  2,
);

export class ToolDialog {
  #dialog = byId("tools-dialog");
  #list = byId("tool-list");
  #field = byId("tool-json");
  #problem = byId("tool-problem");
  #toolbox;

  constructor(toolbox) {
    this.#toolbox = toolbox;
    this.#field.placeholder = EXAMPLE;
    byId("tools-button").addEventListener("click", () => {
      this.#show();
      this.#dialog.showModal();
    });
    byId("tools-close").addEventListener("click", () => this.#dialog.close());
    byId("tool-example").addEventListener("click", () => {
      this.#field.value = EXAMPLE;
      this.#field.focus();
    });
    byId("tool-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#add();
    });
  }

  #add() {
    try {
      this.#toolbox.add(this.#field.value);
      this.#field.value = "";
      this.#tell("");
      this.#show();
    } catch (error) {
      this.#tell(error.message);
      this.#field.focus();
    }
  }

  #tell(problem) {
    setText(this.#problem, problem);
    this.#field.setAttribute("aria-invalid", String(Boolean(problem)));
  }

  #show() {
    this.#list.replaceChildren(...this.#toolbox.all.map((tool) => this.#row(tool)));
  }

  #row({ name, description }) {
    const isOurs = this.#toolbox.isOurs(name);
    const box = h("input", {
      type: "checkbox",
      role: "switch",
      class: "switch",
      on: { change: (event) => this.#toolbox.switch(name, event.target.checked) },
    });
    box.checked = this.#toolbox.isOn(name);
    const remove = () => {
      this.#toolbox.remove(name);
      this.#show();
      this.#list.querySelector("input")?.focus();
    };
    return h(
      "li",
      {},
      h(
        "label",
        {},
        box,
        h(
          "span",
          {},
          h("code", {}, name),
          h("span", { class: "quiet small" }, isOurs ? `${description} Runs in this page.` : `${description} You type its results.`),
        ),
      ),
      !isOurs && h("button", { type: "button", class: "text", "aria-label": `Remove ${name}`, on: { click: remove } }, "Remove"),
    );
  }
}
