// Images that go along with the next message, where the model can see.

import { byId, h, setText } from "./dom.js";

const MOST = 4;
const LARGEST = 10 * 1024 * 1024;
const KINDS = ["image/png", "image/jpeg", "image/webp", "image/gif"];

export class Attachments {
  #button = byId("attach");
  #field = byId("attach-file");
  #place = byId("attached");
  #problem = byId("attach-problem");
  #images = [];

  constructor() {
    this.#field.accept = KINDS.join(",");
    this.#button.addEventListener("click", () => this.#field.click());
    this.#field.addEventListener("change", async () => {
      await this.add([...this.#field.files]);
      this.#field.value = "";
    });
  }

  /** Shows the button, or takes back what the next model couldn't see. */
  allow(isAllowed) {
    this.#button.hidden = !isAllowed;
    if (!isAllowed) this.take();
  }

  async add(files) {
    if (this.#button.hidden) return;
    setText(this.#problem, "");
    for (const file of files) {
      if (!KINDS.includes(file.type)) setText(this.#problem, `${file.name} is no image that models know.`);
      else if (file.size > LARGEST) setText(this.#problem, `${file.name} is larger than 10 MB.`);
      else if (this.#images.length >= MOST) setText(this.#problem, `No more than ${MOST} images go with a message.`);
      else this.#images.push(await dataUrl(file));
    }
    this.#show();
  }

  /** All of them; none are left. */
  take() {
    const images = this.#images;
    this.#images = [];
    setText(this.#problem, "");
    this.#show();
    return images;
  }

  get isEmpty() {
    return this.#images.length === 0;
  }

  #show() {
    this.#place.hidden = this.isEmpty;
    this.#place.replaceChildren(
      ...this.#images.map((src, at) =>
        h(
          "li",
          {},
          h("img", { src, alt: `Image ${at + 1}` }),
          h("button", { type: "button", "aria-label": `Remove image ${at + 1}`, on: { click: () => this.#remove(at) } }, "×"),
        ),
      ),
    );
  }

  #remove(at) {
    this.#images.splice(at, 1);
    this.#show();
    this.#button.focus();
  }
}

function dataUrl(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
