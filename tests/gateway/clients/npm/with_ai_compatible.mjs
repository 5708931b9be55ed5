// The AI SDK with `@ai-sdk/openai-compatible`, as opencode and others reach a server of one's own.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { talk } from "./ai_talk.mjs";
import { model, url } from "./talk.mjs";

await talk(createOpenAICompatible({ name: "callgate", baseURL: `${url}/v1`, includeUsage: true })(model));
