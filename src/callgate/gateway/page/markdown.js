// Markdown as far as models need it, made of nodes: no text ever becomes markup.
//
// Of a text that grows only the last blocks are read anew, and only those that changed are drawn anew.

import { h } from "./dom.js";
import { inline } from "./inline.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(.*)$/;
const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const DEEPEST = 6;
const MOST_CELLS = 50;

const OPEN = 3; // blocks at the end that what follows may still change

/** A place where a growing text is shown. */
export class Markdown {
  #element;
  #text = "";
  #shown = [];

  constructor(element) {
    this.#element = element;
  }

  show(given) {
    const text = given.replaceAll("\r\n", "\n");
    const settled = text.startsWith(this.#text) ? Math.max(0, this.#shown.length - OPEN) : 0;
    const start = settled ? this.#shown[settled].start : 0;
    const blocks = blocksOf(text.slice(start));
    blocks.forEach((block, index) => {
      const at = settled + index;
      const before = this.#shown[at];
      const place = start + block.start;
      if (before?.kind === block.kind && before.source === block.source) {
        before.start = place;
        return;
      }
      const node = rendered(block, 0);
      if (before) before.node.replaceWith(node);
      else this.#element.append(node);
      this.#shown[at] = { ...block, start: place, node };
    });
    this.#shown.splice(settled + blocks.length).forEach((gone) => gone.node.remove());
    this.#text = text;
  }
}

/** The blocks of a text: their kind, their source, and where it starts. */
function blocksOf(text) {
  const lines = text.split("\n");
  const blocks = [];
  let at = 0;
  let start = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      start += lines[at].length + 1;
      at += 1;
      continue;
    }
    const end = endOf(lines, at);
    const source = lines.slice(at, end).join("\n");
    blocks.push({ kind: kindOf(lines, at), source, start });
    start += source.length + 1;
    at = end;
  }
  return blocks;
}

function kindOf(lines, at) {
  const line = lines[at];
  if (FENCE.test(line)) return "code";
  if (HEADING.test(line)) return "heading";
  if (RULE.test(line)) return "rule";
  if (QUOTE.test(line)) return "quote";
  if (ITEM.test(line)) return "list";
  if (line.includes("|") && lines[at + 1]?.includes("|") && DELIMITERS.test(lines[at + 1])) return "table";
  return "paragraph";
}

function endOf(lines, start) {
  const kind = kindOf(lines, start);
  let at = start + 1;
  if (kind === "heading" || kind === "rule") return at;
  if (kind === "code") {
    const mark = FENCE.exec(lines[start])[1];
    while (at < lines.length && !closes(lines[at], mark)) at += 1;
    return Math.min(at + 1, lines.length);
  }
  for (; at < lines.length; at += 1) {
    const line = lines[at];
    if (!line.trim()) {
      // A list goes on after an empty line, if what comes belongs to it.
      if (kind === "list" && (ITEM.test(lines[at + 1] ?? "") || /^[ \t]{2,}\S/.test(lines[at + 1] ?? ""))) continue;
      return at;
    }
    if (kind === "quote" ? !QUOTE.test(line) : kind === "table" ? !line.includes("|") : starts(lines, at, kind)) return at;
  }
  return at;
}

function starts(lines, at, within) {
  const kind = kindOf(lines, at);
  if (within === "list") return kind !== "list" && !/^[ \t]/.test(lines[at]) && kind !== "paragraph";
  return kind !== "paragraph";
}

function closes(line, mark) {
  const text = line.trim();
  return text.length >= mark.length && text === mark[0].repeat(text.length);
}

function rendered({ kind, source }, depth) {
  const lines = source.split("\n");
  switch (kind) {
    case "code":
      return code(lines);
    case "heading": {
      const [, marks, text] = HEADING.exec(source);
      return h(`h${Math.min(marks.length + 2, 6)}`, {}, inline(text.replace(/[ \t]#+[ \t]*$/, "")));
    }
    case "rule":
      return h("hr");
    case "quote": {
      const inner = lines.map((line) => line.replace(QUOTE, "")).join("\n");
      return h("blockquote", {}, nested(inner, depth));
    }
    case "list":
      return list(lines, depth);
    case "table":
      return table(lines);
    default:
      return h("p", {}, inline(source));
  }
}

function nested(source, depth) {
  if (depth >= DEEPEST) return [h("p", {}, source)];
  return blocksOf(source).map((block) => rendered(block, depth + 1));
}

function code(lines) {
  const [, mark, language] = FENCE.exec(lines[0]);
  const isClosed = lines.length > 1 && closes(lines.at(-1), mark);
  const text = lines.slice(1, isClosed ? -1 : undefined).join("\n");
  // Scrolls sideways, so it must be reachable by keyboard.
  return h("pre", { tabindex: "0", "data-language": language || null }, h("code", {}, text));
}

function list(lines, depth) {
  const [, , mark] = ITEM.exec(lines[0]);
  const isOrdered = /\d/.test(mark);
  const items = [];
  const margin = indent(lines[0]);
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && indent(line) <= margin + 1) items.push({ lines: [item[3]], width: line.length - item[3].length });
    else items.at(-1).lines.push(line.slice(Math.min(items.at(-1).width, indent(line))));
  }
  return h(
    isOrdered ? "ol" : "ul",
    { start: isOrdered && parseInt(mark, 10) !== 1 ? parseInt(mark, 10) : null },
    items.map((item) => h("li", {}, itemContent(item.lines, depth))),
  );
}

function itemContent(lines, depth) {
  const nodes = nested(lines.join("\n"), depth);
  // A single line needs no paragraph around it.
  if (nodes[0]?.localName === "p") nodes.splice(0, 1, ...nodes[0].childNodes);
  return nodes;
}

function indent(line) {
  let width = 0;
  for (const sign of line) {
    if (sign === " ") width += 1;
    else if (sign === "\t") width += 4;
    else break;
  }
  return width;
}

function table(lines) {
  const [head, , ...rows] = lines.map(cells);
  const row = (tag, texts) => h("tr", {}, head.map((_, at) => h(tag, {}, inline(texts[at] ?? ""))));
  return h(
    "div",
    { class: "table", tabindex: "0" },
    h("table", {}, h("thead", {}, row("th", head)), h("tbody", {}, rows.map((texts) => row("td", texts)))),
  );
}

function cells(line) {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|", MOST_CELLS)
    .map((cell) => cell.trim());
}
