// The conversation as it is seen.

import { CallPanel } from "./calls.js";
import { h, seconds, setText, soon } from "./dom.js";
import { Markdown } from "./markdown.js";

const NEAR_THE_END = 80; // pixels
const RECENT = 20; // turns

export class Thread {
  #place;
  #scroller;
  #announcer;
  #isFollowing = true;
  #ownScroll = 0;
  #swap = null;

  constructor({ place, scroller, announcer }) {
    [this.#place, this.#scroller, this.#announcer] = [place, scroller, announcer];
    // Whoever scrolls up reads, and isn't dragged away. Of our own scrolling we are told when there may be more already.
    scroller.addEventListener(
      "scroll",
      () => {
        const isNear = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_THE_END;
        const isOurs = Math.abs(scroller.scrollTop - this.#ownScroll) < 2;
        this.#isFollowing = isNear || (isOurs && this.#isFollowing);
      },
      { passive: true },
    );
  }

  clear() {
    this.#place.replaceChildren();
    this.#swap = null;
  }

  question(text, images) {
    this.#swap = null;
    this.#isFollowing = true;
    this.#append(
      h(
        "article",
        { class: "turn question", "aria-label": "You" },
        images.length > 0 && h("div", { class: "pictures" }, images.map((src) => h("img", { src, alt: "An attached image" }))),
        text && h("div", { class: "said" }, text),
      ),
    );
  }

  answer(model) {
    this.#swap = null;
    const turn = new AnswerView(model, this.#announcer, () => this.#follow());
    const before = this.#place.lastElementChild;
    const isSame = before?.classList.contains("answer") && before.getAttribute("aria-label") === model;
    turn.element.classList.toggle("goes-on", Boolean(isSame));
    this.#append(turn.element);
    return turn;
  }

  /** A line that says who goes on. Until something is said, another one takes its place; no text takes it away. */
  swapped(text) {
    this.#swap?.remove();
    this.#swap = text ? h("p", { class: "swap", role: "note" }, h("span", { class: "swap-text" }, ...text)) : null;
    if (this.#swap) {
      this.#append(this.#swap);
      this.#announcer.say(this.#swap.textContent);
    }
  }

  note(text, ...more) {
    this.#append(h("p", { class: "note", role: "note" }, text, ...more));
    this.#announcer.say(text);
  }

  #append(element) {
    this.#place.append(element);
    this.#place.children[this.#place.childElementCount - RECENT]?.classList.add("is-past");
    this.#follow();
  }

  // Once a picture: to know the height, everything has to be laid out.
  #follow = soon(() => {
    if (!this.#isFollowing) return;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#ownScroll = this.#scroller.scrollTop;
  });
}

/** One answer while it comes, and after. */
class AnswerView {
  #who = h("span", { class: "who" });
  #mode = h("span", { class: "mode", hidden: true });
  #thinking = h("details", { class: "thinking", hidden: true });
  #thought = h("summary", {}, "Thinking …");
  #thoughts = h("div", { class: "thoughts" });
  #said = h("div", { class: "said markdown" });
  #calls = h("div", { class: "calls" });
  #below = h("div", { class: "below" });
  #waiting = h("span", { class: "waiting", "aria-hidden": "true" });
  #markdown = new Markdown(this.#said);
  #panels = [];
  #shownThinking = "";
  #thinkingSince = null;
  #announcer;
  #moved;
  #draw;
  #answer = null;

  constructor(model, announcer, moved) {
    [this.#announcer, this.#moved] = [announcer, moved];
    setText(this.#who, model);
    this.#thinking.append(this.#thought, this.#thoughts);
    this.element = h(
      "article",
      { class: "turn answer is-coming", "aria-label": model, "aria-busy": "true" },
      h("header", { class: "turn-top" }, this.#who, this.#mode, this.#waiting),
      this.#thinking,
      this.#said,
      this.#calls,
      this.#below,
    );
    this.#draw = soon(() => this.#show());
  }

  mode(mode) {
    if (!mode) return;
    setText(this.#mode, mode);
    this.#mode.className = `mode mode-${mode}`;
    this.#mode.hidden = false;
  }

  /** There is more of it. */
  grew(answer) {
    this.#answer = answer;
    this.#draw();
  }

  /** The panel of a call that has come whole. */
  panel(at) {
    return this.#panels[at];
  }

  ended(answer, { took, error = null, wasStopped = false, retry = null }) {
    this.#answer = answer;
    this.#show({ isWhole: true });
    this.element.classList.remove("is-coming");
    this.element.removeAttribute("aria-busy");
    if (answer.model && answer.model !== this.#who.textContent) setText(this.#who, `${answer.model}, instead of ${this.#who.textContent}`);
    for (const [at, panel] of this.#panels.entries()) {
      if (answer.calls[at]) panel.mended(answer.repairsOf(answer.calls[at]));
      else panel.brokeOff();
    }
    const facts = [seconds(took)];
    const tokens = answer.usage?.completion_tokens;
    if (tokens) facts.push(`${tokens} tokens`);
    if (answer.finish === "length") facts.push("cut off: it reached the longest answer");
    if (wasStopped) facts.push("stopped");
    this.#below.append(
      ...answer.notices.map((notice) => h("p", { class: "note" }, notice.message)),
      h("p", { class: "facts quiet small" }, facts.join(" · ")),
    );
    if (!answer.calls.length && !answer.text && !error && !wasStopped) this.#below.prepend(h("p", { class: "note" }, "The model said nothing."));
    if (error) this.#fail(error, retry);
    this.#moved();
  }

  #fail(error, retry) {
    const button = retry && h("button", { type: "button", class: "text" }, "Try again");
    button?.addEventListener("click", () => {
      this.element.remove();
      retry();
    });
    this.#below.prepend(h("div", { class: "trouble", role: "alert" }, h("span", {}, error), button));
  }

  #show({ isWhole = false } = {}) {
    const answer = this.#answer;
    if (!answer) return;
    this.#showThinking(answer, isWhole);
    this.#markdown.show(answer.text);
    this.#announcer.follow(answer.text, { isWhole });
    for (const [at, call] of answer.calls.entries()) {
      if (!this.#panels[at]) {
        this.#panels[at] = new CallPanel(this.#mode.textContent || "native");
        this.#calls.append(this.#panels[at].element);
        this.#announcer.say(`It calls ${call.name}.`);
      }
      this.#panels[at].show(call);
    }
    this.#moved();
  }

  #showThinking(answer, isWhole) {
    if (!answer.thinking) return;
    this.#thinkingSince ??= performance.now();
    this.#thinking.hidden = false;
    if (answer.thinking.length > this.#shownThinking.length) {
      // Added to, not written anew: thoughts can be long.
      this.#thoughts.append(answer.thinking.slice(this.#shownThinking.length));
      this.#shownThinking = answer.thinking;
    }
    if ((answer.text || answer.calls.length || isWhole) && !this.#thinking.dataset.ended) {
      this.#thinking.dataset.ended = "true";
      setText(this.#thought, `Thought for ${seconds(performance.now() - this.#thinkingSince)}`);
    }
  }
}
