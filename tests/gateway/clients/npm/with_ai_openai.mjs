// The AI SDK with `@ai-sdk/openai`: chat completions.

import { createOpenAI } from "@ai-sdk/openai";
import { talk } from "./ai_talk.mjs";
import { model, url } from "./talk.mjs";

await talk(createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).chat(model));
