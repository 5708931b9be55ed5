// The AI SDK with `@ai-sdk/anthropic`.

import { createAnthropic } from "@ai-sdk/anthropic";
import { talk } from "./ai_talk.mjs";
import { model, url } from "./talk.mjs";

await talk(createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })(model));
