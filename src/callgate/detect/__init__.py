"""Facts in, capabilities and evidence out: pure, but for the child process in which templates are rendered.

One reader for each kind of fact (GGUF headers, chat templates, what servers answer, names), each giving evidence;
`conclude` weighs it.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.detect.box import BOXED_FILE, boxed_facts, boxed_template
    from callgate.detect.finding import Finding, find_in, weigh
    from callgate.detect.gguf import Header, facts_of, read_header, read_header_from
    from callgate.detect.llama_server import llama_server_templates, llama_server_tokens
    from callgate.detect.name_parts import split_name
    from callgate.detect.ollama import ollama_templates
    from callgate.detect.servers import entry_of, recognise
    from callgate.detect.template import TemplateInput, TemplateReport, TemplateSandbox, template_input
    from callgate.detect.weighing import conclude, decisive

__all__ = [
    "BOXED_FILE",
    "Finding",
    "Header",
    "TemplateInput",
    "TemplateReport",
    "TemplateSandbox",
    "boxed_facts",
    "boxed_template",
    "conclude",
    "decisive",
    "entry_of",
    "facts_of",
    "find_in",
    "llama_server_templates",
    "llama_server_tokens",
    "ollama_templates",
    "read_header",
    "read_header_from",
    "recognise",
    "split_name",
    "template_input",
    "weigh",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "BOXED_FILE": "box",
        "Finding": "finding",
        "Header": "gguf",
        "TemplateInput": "template",
        "TemplateReport": "template",
        "TemplateSandbox": "template",
        "boxed_facts": "box",
        "boxed_template": "box",
        "conclude": "weighing",
        "decisive": "weighing",
        "entry_of": "servers",
        "facts_of": "gguf",
        "find_in": "finding",
        "llama_server_templates": "llama_server",
        "llama_server_tokens": "llama_server",
        "ollama_templates": "ollama",
        "read_header": "gguf",
        "read_header_from": "gguf",
        "recognise": "servers",
        "split_name": "name_parts",
        "template_input": "template",
        "weigh": "finding",
    },
)
