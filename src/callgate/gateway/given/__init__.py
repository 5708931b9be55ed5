"""What clients send, in every form that is known: messages, tools and texts, read into our records.

`messages`, `tools` and `choices` are what OpenAI's and Ollama's clients write, `blocks` what Anthropic's do, `items`
what clients of OpenAI's Responses do. What is said of texts under `extra_json_schema` is what their readers hold them
to.
"""
