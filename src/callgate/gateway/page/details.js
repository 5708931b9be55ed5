// All that is known of one model, and why.

import { byId, h } from "./dom.js";
import { about, badges, capabilities, contextOf, grouped, isOfItsTime, modeInWords, modeOf, reasonOf, sourceInWords, toolsOf } from "./facts.js";

const VERDICTS = { yes: "It can call tools.", no: "It can’t call tools by itself." };
const UNKNOWN = "Nobody knows whether it can call tools.";

export function showDetails(model) {
  byId("details-content").replaceChildren(...(model ? content(model) : [h("p", { class: "quiet" }, "No model is chosen.")]));
}

function content(model) {
  const mode = modeOf(model);
  const reason = reasonOf(model);
  const groups = grouped(model);
  const others = groups.filter((group) => !group.matters);
  const { error } = about(model);
  return [
    h("h3", { class: "details-name" }, model.id),
    h("div", { class: "badges" }, badges(model).map(({ kind, text, title }) => h("span", { class: `badge badge-${kind}`, title }, text))),
    error && h("p", { class: "trouble" }, `${error.message}${error.hint ? ` (${error.hint})` : ""}`),
    h("p", { class: "verdict" }, VERDICTS[toolsOf(model)] ?? UNKNOWN),
    h(
      "p",
      { class: "details-mode" },
      h("span", { class: `mode mode-${mode}` }, mode),
      ` ${modeInWords(mode)}`,
      reason && h("span", { class: "quiet" }, ` Because ${reason}.`),
    ),
    figures(model),
    h("h4", { id: "why" }, "Why do we think so?"),
    h("p", { class: "quiet small" }, "The strongest reason comes first, and decides."),
    ...groups.filter((group) => group.matters).map(claim),
    others.length > 0 &&
      h("details", { class: "others" }, h("summary", {}, `${others.length} other findings`), ...others.map(claim)),
  ].filter(Boolean);
}

function figures(model) {
  const known = capabilities(model);
  const rows = [
    ["Runs on", model.owned_by],
    ["Family", known.family ?? known.architecture],
    ["Parameters", known.parameter_count ? `${known.parameter_count.toLocaleString("en")}` : known.parameter_size],
    ["Quantisation", known.quantization],
    ["Context", contextInWords(model)],
    ["Loaded with", known.loaded_context ? `${known.loaded_context.toLocaleString("en")} tokens` : null],
    ["Known as", about(model).ref],
  ].filter(([, value]) => value);
  return h("dl", { class: "figures" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value)))));
}

function contextInWords(model) {
  const { tokens, isKnown } = contextOf(model);
  return tokens ? `${tokens.toLocaleString("en")} tokens${isKnown ? "" : ", at the very least"}` : null;
}

function claim({ claim: name, label, reasons }) {
  if (name === "note") return notes(label, reasons);
  const deciding = reasons.find((each) => each.decisive) ?? reasons[0];
  return h(
    "section",
    { class: "claim" },
    h("h5", {}, label, h("span", { class: `found found-${word(deciding.answer)}` }, word(deciding.answer))),
    h("ol", { class: "evidence" }, reasons.map((each) => reason(each, reasons.length > 1))),
  );
}

function notes(label, reasons) {
  return h("section", { class: "claim" }, h("h5", {}, label), reasons.map(({ answer }) => h("p", { class: "small" }, word(answer))));
}

function reason({ source, answer, detail, decisive, at }, isOneOfMany) {
  return h(
    "li",
    { class: decisive ? "decisive" : null },
    h(
      "div",
      { class: "evidence-top" },
      h("span", { class: "source" }, sourceInWords(source)),
      isOneOfMany && !decisive && h("span", { class: "quiet" }, `says ${word(answer)}`),
      decisive && h("span", { class: "decides" }, "decides"),
    ),
    h("div", { class: "evidence-detail" }, String(detail ?? "")),
    isOfItsTime(source) && at && h("time", { class: "quiet small", datetime: String(at) }, moment(at)),
  );
}

const word = (answer) => (typeof answer === "number" ? answer.toLocaleString("en") : String(answer));

function moment(at) {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
