// Which tools a model is offered: those of the page and those that the user describes, each switched on or off.

import { keep, kept } from "./kept.js";
import { BUILT_IN } from "./tools.js";

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MOST = 100;

export class Toolbox {
  #own;
  #off;

  /** `changed` is called whenever something is. */
  constructor(changed = () => {}) {
    const own = kept("tools", []);
    this.#own = Array.isArray(own) ? own.flatMap((tool) => understood(tool) ?? []) : [];
    const off = kept("tools.off", []);
    this.#off = new Set(Array.isArray(off) ? off : []);
    this.changed = changed;
  }

  get all() {
    return [...BUILT_IN, ...this.#own];
  }

  get active() {
    return this.all.filter((tool) => this.isOn(tool.name));
  }

  isOn(name) {
    return !this.#off.has(name);
  }

  isOurs(name) {
    return BUILT_IN.some((tool) => tool.name === name);
  }

  find(name) {
    return this.active.find((tool) => tool.name === name);
  }

  switch(name, isOn) {
    if (isOn) this.#off.delete(name);
    else this.#off.add(name);
    this.#keep();
  }

  /** One or several tools in OpenAI's form, as JSON. Throws an Error that says what is wrong. */
  add(text) {
    const tools = described(text);
    for (const tool of tools) {
      if (this.all.some((known) => known.name === tool.name)) throw new Error(`There is a tool "${tool.name}" already.`);
      if (this.#own.length >= MOST) throw new Error(`There are ${MOST} tools already.`);
      this.#own.push(tool);
    }
    this.#keep();
    return tools;
  }

  remove(name) {
    this.#own = this.#own.filter((tool) => tool.name !== name);
    this.#off.delete(name);
    this.#keep();
  }

  /** The active ones, as a request has them. */
  offered() {
    return this.active.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
  }

  #keep() {
    keep("tools", this.#own);
    keep("tools.off", [...this.#off]);
    this.changed();
  }
}

function described(text) {
  let given;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON: ${error.message}`);
  }
  const listed = Array.isArray(given) ? given : [given];
  if (!listed.length) throw new Error("There is no tool in this list.");
  return listed.map((each) => {
    const tool = understood(each?.function ?? each);
    if (!tool) {
      throw new Error('A tool has a "name" of letters, digits, dots, dashes and underscores, and "parameters", a JSON Schema object.');
    }
    return tool;
  });
}

function understood(given) {
  if (typeof given?.name !== "string" || !NAME.test(given.name)) return null;
  const parameters = given.parameters ?? { type: "object", properties: {} };
  if (typeof parameters !== "object" || Array.isArray(parameters)) return null;
  return { name: given.name, description: typeof given.description === "string" ? given.description : "", parameters };
}
