// The small Markdown inside a line: `code`, **bold**, *emphasis*, ~~struck~~. Links and markup stay the text they are.

import { h } from "./dom.js";

const LONGEST = 20_000;
const DEEPEST = 4;
const MARKS = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "del"],
  ["*", "em"],
  ["_", "em"],
];
const SPECIAL = /[\\`*_~]/g;
const ESCAPABLE = /[!-/:-@[-`{-~]/;
const WORD = /[\p{L}\p{N}]/u;

/** The nodes of a text. Takes time in proportion to its length, whatever it is made of. */
export function inline(text, depth = 0) {
  if (text.length > LONGEST || depth > DEEPEST) return [text];
  const nodes = [];
  const hopeless = new Set(); // marks that nothing closes from here on
  let plain = "";
  let at = 0;
  const flush = () => {
    if (plain) nodes.push(plain);
    plain = "";
  };
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const special = SPECIAL.exec(text)?.index ?? text.length;
    plain += text.slice(at, special);
    at = special;
    if (at === text.length) break;
    if (text[at] === "\\") {
      const next = text[at + 1] ?? "";
      plain += ESCAPABLE.test(next) ? next : `\\${next}`;
      at += 1 + next.length;
      continue;
    }
    const found = text[at] === "`" ? code(text, at, hopeless) : marked(text, at, depth, hopeless);
    if (found.node) {
      flush();
      nodes.push(found.node);
    } else {
      plain += text.slice(at, found.end);
    }
    at = found.end;
  }
  flush();
  return nodes;
}

function code(text, start, hopeless) {
  let end = start;
  while (text[end] === "`") end += 1;
  const ticks = text.slice(start, end);
  if (hopeless.has(ticks)) return { end };
  let close = text.indexOf(ticks, end);
  while (close !== -1 && (text[close + ticks.length] === "`" || text[close - 1] === "`")) {
    let past = close;
    while (text[past] === "`") past += 1;
    close = text.indexOf(ticks, past);
  }
  if (close === -1) {
    hopeless.add(ticks);
    return { end };
  }
  const inner = text.slice(end, close);
  const isPadded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim();
  const trimmed = isPadded ? inner.slice(1, -1) : inner;
  return { node: h("code", {}, trimmed), end: close + ticks.length };
}

function marked(text, start, depth, hopeless) {
  for (const [mark, tag] of MARKS) {
    if (!text.startsWith(mark, start)) continue;
    const inside = start + mark.length;
    if (!opens(text, start, inside, mark)) return { end: inside };
    const close = hopeless.has(mark) ? -1 : closing(text, inside + 1, mark);
    if (close === -1) {
      hopeless.add(mark);
      return { end: inside };
    }
    return { node: h(tag, {}, inline(text.slice(inside, close), depth + 1)), end: close + mark.length };
  }
  return { end: start + 1 };
}

function opens(text, start, inside, mark) {
  if (inside >= text.length || /\s/.test(text[inside]) || text[inside] === mark[0]) return false;
  return mark[0] !== "_" || !WORD.test(text[start - 1] ?? "");
}

function closing(text, from, mark) {
  for (let at = text.indexOf(mark, from); at !== -1; at = text.indexOf(mark, at + 1)) {
    const after = text[at + mark.length] ?? "";
    const isLonger = mark.length === 1 && (after === mark || text[at - 1] === mark);
    if (!isLonger && !/\s/.test(text[at - 1]) && (mark[0] !== "_" || !WORD.test(after))) return at;
  }
  return -1;
}
