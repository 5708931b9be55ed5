// One answer of a model, put together out of the chunks that it comes in.

export class Answer {
  text = "";
  thinking = "";
  /** As they are so far: `{id, name, arguments}`, arguments as text. */
  calls = [];
  finish = "";
  usage = null;
  /** What the server says it did to the answer: `{mode, repairs, notices}`, where it explains. */
  explained = null;
  model = "";

  take(chunk) {
    if (typeof chunk.model === "string") this.model = chunk.model;
    if (chunk.usage) this.usage = chunk.usage;
    if (chunk.callgate) this.explained = chunk.callgate;
    const choice = chunk.choices?.[0];
    if (!choice) return;
    if (typeof choice.finish_reason === "string") this.finish = choice.finish_reason;
    const delta = choice.delta ?? {};
    if (typeof delta.content === "string") this.text += delta.content;
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (typeof thought === "string") this.thinking += thought;
    if (Array.isArray(delta.tool_calls)) delta.tool_calls.forEach((piece) => this.#call(piece));
  }

  #call(piece) {
    const at = Number.isInteger(piece?.index) ? piece.index : this.calls.length;
    let call = this.calls.find((each) => each.index === at);
    if (!call) {
      call = { index: at, id: "", name: "", arguments: "" };
      this.calls.push(call);
    }
    call.id ||= typeof piece.id === "string" ? piece.id : "";
    call.name += typeof piece.function?.name === "string" ? piece.function.name : "";
    call.arguments += typeof piece.function?.arguments === "string" ? piece.function.arguments : "";
  }

  repairsOf(call) {
    const repairs = Array.isArray(this.explained?.repairs) ? this.explained.repairs : [];
    return repairs.filter((repair) => repair?.call === call.id);
  }

  get notices() {
    const notices = Array.isArray(this.explained?.notices) ? this.explained.notices : [];
    return notices.filter((notice) => typeof notice?.message === "string");
  }

  get isEmpty() {
    return !this.text && !this.calls.length;
  }

  /** As it stands in the history from now on. */
  message() {
    const message = { role: "assistant", content: this.text || (this.calls.length ? null : "") };
    if (this.thinking) message.reasoning_content = this.thinking;
    if (this.calls.length) {
      message.tool_calls = this.calls.map(({ id, name, arguments: sent }) => ({
        id,
        type: "function",
        function: { name, arguments: sent },
      }));
    }
    return message;
  }
}
