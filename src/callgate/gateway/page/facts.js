// What is known of a model, in words. Reads what /v1/models says and draws nothing.

/** Who says so, the strongest first. */
const SOURCES = new Map([
  ["session", "said in this session"],
  ["user_confirmed", "the user’s word"],
  ["observed", "seen at work"],
  ["template", "chat template"],
  ["header", "file header"],
  ["engine", "the engine’s word"],
  ["template_text", "template text"],
  ["name", "its name"],
  ["default", "a default"],
]);

const CLAIMS = new Map([
  ["tools", "Can it call tools?"],
  ["native_route", "Does its server take tools?"],
  ["supports_vision", "Can it see images?"],
  ["supports_thinking", "Does it think aloud?"],
  ["is_embedding", "Is it for embedding?"],
  ["supports_audio", "Can it hear?"],
  ["reliability", "How well does it call tools?"],
  ["context_length", "How much does it take in?"],
  ["parameter_count", "How large is it?"],
  ["note", "To be known"],
]);
const FIRST = [...CLAIMS.keys()];
const STRONGEST = [...SOURCES.keys()];

const MODES = new Map([
  ["native", "Tools go to it as they are."],
  ["emulated", "Tools are described in the prompt, and its answers are held to the form of a call."],
  ["off", "No tools are sent to it."],
]);

export const about = (model) => model?.callgate ?? {};
export const capabilities = (model) => about(model).capabilities ?? {};
export const modeOf = (model) => about(model).mode ?? "off";
export const toolsOf = (model) => about(model).tools ?? "unknown";
export const canSee = (model) => capabilities(model).supports_vision === true;
export const thinks = (model) => capabilities(model).supports_thinking === true;
export const embeds = (model) => capabilities(model).is_embedding === true;
export const modeInWords = (mode) => MODES.get(mode) ?? "";
/** What somebody saw or said has a time that matters; what is read from a file is true for as long as the file is. */
export const isOfItsTime = (source) => STRONGEST.indexOf(source) <= STRONGEST.indexOf("observed") && STRONGEST.includes(source);
export const sourceInWords = (source) => SOURCES.get(source) ?? String(source);

/** Why tools reach it in just that way. */
export function reasonOf(model) {
  const { reason, evidence } = about(model);
  if (typeof reason === "string" && reason) return reason;
  const deciding = (Array.isArray(evidence) ? evidence : []).find((each) => each?.claim === "tools" && each.decisive);
  return typeof deciding?.detail === "string" ? deciding.detail : "";
}

/** `{text, kind, title}` of each thing to be seen at a glance. */
export function badges(model) {
  const tools = toolsOf(model);
  const found = [
    {
      kind: tools,
      text: { yes: "tools", no: "no tools" }[tools] ?? "tools?",
      title: { yes: "It can call tools", no: "It can’t call tools by itself" }[tools] ?? "Nobody knows whether it can call tools",
    },
  ];
  if (about(model).guess) found.push({ kind: "guess", text: "guess", title: "Nothing but its name speaks for it, or its server failed: don’t rely on it" });
  if (about(model).error) found.push({ kind: "trouble", text: "trouble", title: String(about(model).error.message ?? "") });
  if (canSee(model)) found.push({ kind: "plain", text: "vision", title: "It can see images" });
  if (thinks(model)) found.push({ kind: "plain", text: "thinking", title: "It thinks before it answers" });
  if (embeds(model)) found.push({ kind: "plain", text: "embedding", title: "It makes vectors of texts, and doesn’t chat" });
  return found;
}

/** Size, quantisation and context, as far as they are known. */
export function measures(model) {
  const { parameter_size: size, quantization } = capabilities(model);
  const { tokens, isKnown } = contextOf(model);
  return [size, quantization, tokens && isKnown ? `${short(tokens)} context` : null].filter(Boolean).map(String);
}

/** How much it takes in, and whether anybody said so. */
export function contextOf(model) {
  const tokens = capabilities(model).context_length;
  const deciding = grouped(model).find(({ claim }) => claim === "context_length")?.reasons.find((each) => each.decisive);
  return { tokens: Number.isFinite(tokens) ? tokens : null, isKnown: deciding?.source !== "default" };
}

function short(tokens) {
  if (tokens < 1024) return String(tokens);
  const thousands = tokens / 1024;
  return thousands < 1024 ? `${Math.round(thousands)}k` : `${Math.round(thousands / 1024)}M`;
}

/** What a search may find a model by. */
export function searchText(model) {
  const { family, architecture } = capabilities(model);
  return [model.id, model.owned_by, about(model).ref, family, architecture].filter(Boolean).join(" ").toLowerCase();
}

/** The evidence by claim: what matters most first, and of each claim the strongest reason first. */
export function grouped(model) {
  const evidence = Array.isArray(about(model).evidence) ? about(model).evidence : [];
  const groups = new Map();
  for (const each of evidence) {
    if (typeof each?.claim !== "string") continue;
    if (!groups.has(each.claim)) groups.set(each.claim, []);
    groups.get(each.claim).push(each);
  }
  return [...groups]
    .map(([claim, reasons]) => ({
      claim,
      label: claimInWords(claim),
      matters: CLAIMS.has(claim),
      reasons: reasons.sort((a, b) => weight(a.source) - weight(b.source)),
    }))
    .sort((a, b) => place(a.claim) - place(b.claim));
}

const place = (claim) => placeIn(FIRST, claim);
const weight = (source) => placeIn(STRONGEST, source);

function placeIn(order, word) {
  const at = order.indexOf(word);
  return at < 0 ? order.length : at;
}

function claimInWords(claim) {
  return CLAIMS.get(claim) ?? claim.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());
}

/** What changes for the conversation when another model goes on with it. */
export function changed(before, after) {
  const [from, to] = [modeOf(before), modeOf(after)];
  const reason = reasonOf(after);
  const tools = from === to ? `tools stay ${to}` : `tools: ${from} → ${to}`;
  return `${tools}${reason ? `, because ${reason}` : ""}`;
}
