"""Pure, the heart: plans how tools reach a model, rewrites the history for it, and mends what comes back.

Tool-support logic lives here and nowhere else.
"""

from callgate.doors import opened_on_use

TYPE_CHECKING = False

if TYPE_CHECKING:
    from callgate.gate.deciding import Decision, Mode, Policy, Strategy, decide, mode_of
    from callgate.gate.mending import CUT_OFF, Mender
    from callgate.gate.observations import Observation, Observed
    from callgate.gate.owing import OwedCall
    from callgate.gate.planning import Plan, needs_knowledge, plan, plan_by
    from callgate.gate.recovery import FORMATS, Format, Recovered, Recovery, recover
    from callgate.gate.routes import Routes

__all__ = [
    "CUT_OFF",
    "FORMATS",
    "Decision",
    "Format",
    "Mender",
    "Mode",
    "Observation",
    "Observed",
    "OwedCall",
    "Plan",
    "Policy",
    "Recovered",
    "Recovery",
    "Routes",
    "Strategy",
    "decide",
    "mode_of",
    "needs_knowledge",
    "plan",
    "plan_by",
    "recover",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "CUT_OFF": "mending",
        "FORMATS": "recovery",
        "Decision": "deciding",
        "Format": "recovery",
        "Mender": "mending",
        "Mode": "deciding",
        "Observation": "observations",
        "Observed": "observations",
        "OwedCall": "owing",
        "Plan": "planning",
        "Policy": "deciding",
        "Recovered": "recovery",
        "Recovery": "recovery",
        "Routes": "routes",
        "Strategy": "deciding",
        "decide": "deciding",
        "mode_of": "deciding",
        "needs_knowledge": "planning",
        "plan": "planning",
        "plan_by": "planning",
        "recover": "recovery",
    },
)
