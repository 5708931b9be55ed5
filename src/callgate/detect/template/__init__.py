"""The chat template: what can a model do, by the text that turns conversations into its prompts?

`probe` is the pure function; templates come from strangers, so use `TemplateSandbox`, which runs it in a child
process that may die. It renders prompts too.
"""

from callgate.detect.template.evidence import Examined, template_evidence, templates_that_count
from callgate.detect.template.inputs import TemplateInput, template_input
from callgate.detect.template.report import TemplateReport
from callgate.detect.template.sandbox import TemplateSandbox

__all__ = [
    "Examined",
    "TemplateInput",
    "TemplateReport",
    "TemplateSandbox",
    "template_evidence",
    "template_input",
    "templates_that_count",
]
