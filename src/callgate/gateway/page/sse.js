// Server-sent events out of a response, as they arrive.

const LONGEST = 16 * 1024 * 1024;

/** The data of each event. Ends when the response does, in order or not. */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let data = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      if (rest.length > LONGEST) throw new Error("the server sends a line without an end");
      // A CR at the very end may be half of a line's end.
      const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
      const lines = whole.split(/\r\n|\r|\n/);
      rest = lines.pop() + rest.slice(whole.length);
      for (const line of lines) {
        if (line === "") {
          if (data.length) yield data.join("\n");
          data = [];
        } else if (line.startsWith("data:")) {
          data.push(line.slice(line[5] === " " ? 6 : 5));
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
