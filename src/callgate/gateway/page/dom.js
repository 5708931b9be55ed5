// Elements without markup: whatever is given as text stays text.

/** An element: attributes, listeners under `on`, and children, which are nodes or text. */
export function h(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "class") {
      element.className = value;
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/** Sets text only where it differs, so that nothing is laid out or read aloud twice. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** `work` once, before the next picture; in a hidden tab, where there is none, soon. */
export function soon(work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    const run = () => {
      waiting = false;
      work();
    };
    if (document.hidden) setTimeout(run, 100);
    else requestAnimationFrame(run);
  };
}

export function seconds(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}
