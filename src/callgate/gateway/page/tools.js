// The tools that run in the page itself.

import { calculated } from "./arithmetic.js";

/** Each has what a model is told of it, and `run`, which takes the arguments and gives a text or throws. */
export const BUILT_IN = [
  {
    name: "calculator",
    description: "Calculate an arithmetic expression.",
    parameters: {
      type: "object",
      properties: { expression: { type: "string", description: "The expression, such as 17 * 23" } },
      required: ["expression"],
    },
    run: ({ expression }) => String(calculated(typeof expression === "number" ? String(expression) : expression)),
  },
  {
    name: "current_time",
    description: "Get the current date and time.",
    parameters: {
      type: "object",
      properties: { timezone: { type: "string", description: "A time zone or city, such as Europe/Paris" } },
      required: [],
    },
    run: ({ timezone }) => now(timezone),
  },
];

function now(wanted) {
  const zone = zoneOf(wanted);
  const parts = new Intl.DateTimeFormat("en-GB", {
    weekday: "long",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    ...(zone ? { timeZone: zone } : {}),
  }).formatToParts(new Date());
  const at = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  const where = zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return `${at.weekday} ${at.year}-${at.month}-${at.day} ${at.hour}:${at.minute} ${where}`;
}

/** A zone by its name, or by the city in it. */
function zoneOf(wanted) {
  if (typeof wanted !== "string" || !wanted.trim()) return null;
  const asked = wanted.trim().toLowerCase().replaceAll(" ", "_");
  if (["utc", "gmt", "z"].includes(asked)) return "UTC";
  const zones = Intl.supportedValuesOf("timeZone");
  const found =
    zones.find((zone) => zone.toLowerCase() === asked) ??
    zones.find((zone) => zone.toLowerCase().split("/").at(-1) === asked.split(",")[0]);
  if (found) return found;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: wanted.trim() }).resolvedOptions().timeZone;
  } catch {
    throw new Error(`there is no time zone "${wanted.slice(0, 60)}"`);
  }
}
