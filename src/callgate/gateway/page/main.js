// Puts the parts of the page together.

import { Announcer } from "./announcer.js";
import { Attachments } from "./attachments.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { showDetails } from "./details.js";
import { byId, setText } from "./dom.js";
import { canSee, embeds, modeOf } from "./facts.js";
import { keep, kept } from "./kept.js";
import { Keys } from "./keys.js";
import { ModelList } from "./models.js";
import { panels } from "./panels.js";
import { Server } from "./server.js";
import { Thread } from "./thread.js";
import { Toolbox } from "./toolbox.js";
import { ToolDialog } from "./tooldialog.js";

const announcer = new Announcer(byId("spoken"));
const keys = new Keys(() => load());
const server = new Server(keys);
const sides = panels();
const toolbox = new Toolbox(() => showToolCount());
const attachments = new Attachments();
const thread = new Thread({ place: byId("thread"), scroller: byId("scroller"), announcer });
const conversation = new Conversation({ server, toolbox, thread, onBusy: showBusy });
const composer = new Composer({
  attachments,
  onSend: (text, images) => {
    byId("welcome").hidden = true;
    conversation.say(text, images);
  },
  onStop: () => conversation.stop(),
});
const list = new ModelList((model) => {
  choose(model);
  sides.models.closeSheet();
  composer.focus();
});
new ToolDialog(toolbox);

let current = null;

function choose(model) {
  current = model;
  keep("model", model.id);
  list.mark(model.id);
  const mode = modeOf(model);
  setText(byId("current-name"), model.id);
  const shown = byId("current-mode");
  shown.hidden = false;
  setText(shown, mode);
  shown.className = `mode mode-${mode}`;
  setText(byId("welcome-name"), model.id);
  composer.ready(embeds(model) ? null : model.id, "This model makes vectors and doesn’t chat: choose another one");
  attachments.allow(canSee(model));
  showDetails(model);
  conversation.swap(model);
}

async function load() {
  const status = byId("models-status");
  status.hidden = false;
  setText(status, "Looking for models …");
  try {
    const models = await server.models();
    setText(byId("version"), server.version);
    list.show(models);
    status.hidden = models.length > 0;
    setText(status, "No model was found. Start a server such as Ollama, or fetch one with callgate pull.");
    const again = models.find((model) => model.id === (current?.id ?? kept("model", null)));
    const first = again ?? models.find((model) => !embeds(model)) ?? models[0];
    if (first) choose(first);
    else composer.ready(null, "There is no model to talk to");
  } catch (error) {
    status.hidden = false;
    setText(status, error.message);
    composer.ready(current?.id ?? null, "There is no model to talk to");
    if (error.name !== "Refusal") throw error;
  }
}

function showBusy(isBusy) {
  composer.busy(isBusy);
  setText(byId("state"), isBusy ? "An answer is coming. Escape stops it." : "");
}

function showToolCount() {
  setText(byId("tool-count"), String(toolbox.active.length));
}

function startAnew() {
  conversation.clear();
  byId("welcome").hidden = false;
  composer.focus();
}

byId("new-chat").addEventListener("click", startAnew);
byId("refresh").addEventListener("click", load);
for (const button of byId("examples").querySelectorAll("button")) {
  button.addEventListener("click", () => composer.write(button.textContent));
}
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key === "Escape" && conversation.isBusy && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    conversation.stop();
    composer.focus();
  } else if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    sides.models.open();
    list.focusSearch();
  }
});

showToolCount();
await load();
composer.focus();
