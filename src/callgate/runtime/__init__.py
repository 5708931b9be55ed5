"""Puts the rooms to work: the detector with its memory, discovery, one turn of a model, the live probe, recordings."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.runtime.always_allowed import Allowed, AlwaysAllowed
    from callgate.runtime.at_hand import described_tools, tools_at_hand
    from callgate.runtime.background import BackgroundLoop
    from callgate.runtime.budget import budget_of, context_of
    from callgate.runtime.checking import check_targets
    from callgate.runtime.choice import Choice, keep_last_model
    from callgate.runtime.conversation import read_messages
    from callgate.runtime.detector import AsyncDetector
    from callgate.runtime.discovery import Discovery, discover, discover_async
    from callgate.runtime.estimates import tokens_of_message, tokens_of_request, tokens_of_text
    from callgate.runtime.fallback import Fallback, is_recoverable, may_cost
    from callgate.runtime.found import FoundModel
    from callgate.runtime.function_tools import FunctionTools
    from callgate.runtime.hub_choice import (
        Candidate,
        candidates_in,
        is_beside_a_model,
        narrowed,
        projector_in,
        stays_inside,
    )
    from callgate.runtime.hub_files import fetched_file, fetched_model
    from callgate.runtime.inventory import StockedModel, best_of, take_inventory
    from callgate.runtime.knowledge import (
        VALIDATED,
        ModelKnowledge,
        digest_of,
        is_users_word,
        is_validated,
        one_model,
        with_manual_context,
    )
    from callgate.runtime.limits import Limits
    from callgate.runtime.live_probe import probe_live
    from callgate.runtime.loop import Agent, Answering
    from callgate.runtime.loop_events import LoopEvent, ModelChanged, ToolFinished, ToolStarted, loop_event_as_json
    from callgate.runtime.masking import masked, names_a_secret, shown_arguments
    from callgate.runtime.mcp import (
        McpServer,
        OpenServers,
        Servers,
        limits_for,
        open_servers,
        servers_for,
    )
    from callgate.runtime.model import AsyncModel, Model, Turn
    from callgate.runtime.model_folders import gguf_names, hub_cache_folder, ollama_blob
    from callgate.runtime.own_threads import in_own_thread
    from callgate.runtime.own_tools import built_in_tools
    from callgate.runtime.permissions import Decision, Permissions, Question, Reply
    from callgate.runtime.places import Place, known_places
    from callgate.runtime.policies import Surface, policy_for
    from callgate.runtime.quarantine import Quarantine, Quarantined, remove_with_content
    from callgate.runtime.recording import Recorder
    from callgate.runtime.redaction import redacted_text, without_keys
    from callgate.runtime.refresh import Refreshed, Step, refresh_models
    from callgate.runtime.rendering import Shown, show
    from callgate.runtime.report import ModelReport, as_json_text, error_as_json, evidence_as_json, timestamp
    from callgate.runtime.said import Said
    from callgate.runtime.servers_seen import SeenServer, look_at_servers
    from callgate.runtime.session import Session
    from callgate.runtime.sync import Detector, check, shared_detector
    from callgate.runtime.tool_files import read_tool_file
    from callgate.runtime.tool_source import Outcome, ToolSource
    from callgate.runtime.toolbox import Toolbox, ToolEntry

__all__ = [
    "VALIDATED",
    "Agent",
    "Allowed",
    "AlwaysAllowed",
    "Answering",
    "AsyncDetector",
    "AsyncModel",
    "BackgroundLoop",
    "Candidate",
    "Choice",
    "Decision",
    "Detector",
    "Discovery",
    "Fallback",
    "FoundModel",
    "FunctionTools",
    "Limits",
    "LoopEvent",
    "McpServer",
    "Model",
    "ModelChanged",
    "ModelKnowledge",
    "ModelReport",
    "OpenServers",
    "Outcome",
    "Permissions",
    "Place",
    "Quarantine",
    "Quarantined",
    "Question",
    "Recorder",
    "Refreshed",
    "Reply",
    "Said",
    "SeenServer",
    "Servers",
    "Session",
    "Shown",
    "Step",
    "StockedModel",
    "Surface",
    "ToolEntry",
    "ToolFinished",
    "ToolSource",
    "ToolStarted",
    "Toolbox",
    "Turn",
    "as_json_text",
    "best_of",
    "budget_of",
    "built_in_tools",
    "candidates_in",
    "check",
    "check_targets",
    "context_of",
    "described_tools",
    "digest_of",
    "discover",
    "discover_async",
    "error_as_json",
    "evidence_as_json",
    "fetched_file",
    "fetched_model",
    "gguf_names",
    "hub_cache_folder",
    "in_own_thread",
    "is_beside_a_model",
    "is_recoverable",
    "is_users_word",
    "is_validated",
    "keep_last_model",
    "known_places",
    "limits_for",
    "look_at_servers",
    "loop_event_as_json",
    "masked",
    "may_cost",
    "names_a_secret",
    "narrowed",
    "ollama_blob",
    "one_model",
    "open_servers",
    "policy_for",
    "probe_live",
    "projector_in",
    "read_messages",
    "read_tool_file",
    "redacted_text",
    "refresh_models",
    "remove_with_content",
    "servers_for",
    "shared_detector",
    "show",
    "shown_arguments",
    "stays_inside",
    "take_inventory",
    "timestamp",
    "tokens_of_message",
    "tokens_of_request",
    "tokens_of_text",
    "tools_at_hand",
    "with_manual_context",
    "without_keys",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "VALIDATED": "knowledge",
        "Agent": "loop",
        "Allowed": "always_allowed",
        "AlwaysAllowed": "always_allowed",
        "Answering": "loop",
        "AsyncDetector": "detector",
        "AsyncModel": "model",
        "BackgroundLoop": "background",
        "Candidate": "hub_choice",
        "Choice": "choice",
        "Decision": "permissions",
        "Detector": "sync",
        "Discovery": "discovery",
        "Fallback": "fallback",
        "FoundModel": "found",
        "FunctionTools": "function_tools",
        "Limits": "limits",
        "LoopEvent": "loop_events",
        "McpServer": "mcp",
        "Model": "model",
        "ModelChanged": "loop_events",
        "ModelKnowledge": "knowledge",
        "ModelReport": "report",
        "OpenServers": "mcp",
        "Outcome": "tool_source",
        "Permissions": "permissions",
        "Place": "places",
        "Quarantine": "quarantine",
        "Quarantined": "quarantine",
        "Question": "permissions",
        "Recorder": "recording",
        "Refreshed": "refresh",
        "Reply": "permissions",
        "Said": "said",
        "SeenServer": "servers_seen",
        "Servers": "mcp",
        "Session": "session",
        "Shown": "rendering",
        "Step": "refresh",
        "StockedModel": "inventory",
        "Surface": "policies",
        "ToolEntry": "toolbox",
        "ToolFinished": "loop_events",
        "ToolSource": "tool_source",
        "ToolStarted": "loop_events",
        "Toolbox": "toolbox",
        "Turn": "model",
        "as_json_text": "report",
        "best_of": "inventory",
        "budget_of": "budget",
        "built_in_tools": "own_tools",
        "candidates_in": "hub_choice",
        "check": "sync",
        "check_targets": "checking",
        "context_of": "budget",
        "described_tools": "at_hand",
        "digest_of": "knowledge",
        "discover": "discovery",
        "discover_async": "discovery",
        "error_as_json": "report",
        "evidence_as_json": "report",
        "fetched_file": "hub_files",
        "fetched_model": "hub_files",
        "gguf_names": "model_folders",
        "hub_cache_folder": "model_folders",
        "in_own_thread": "own_threads",
        "is_beside_a_model": "hub_choice",
        "is_recoverable": "fallback",
        "is_users_word": "knowledge",
        "is_validated": "knowledge",
        "keep_last_model": "choice",
        "known_places": "places",
        "limits_for": "mcp",
        "look_at_servers": "servers_seen",
        "loop_event_as_json": "loop_events",
        "masked": "masking",
        "may_cost": "fallback",
        "names_a_secret": "masking",
        "narrowed": "hub_choice",
        "ollama_blob": "model_folders",
        "one_model": "knowledge",
        "open_servers": "mcp",
        "policy_for": "policies",
        "probe_live": "live_probe",
        "projector_in": "hub_choice",
        "read_messages": "conversation",
        "redacted_text": "redaction",
        "without_keys": "redaction",
        "read_tool_file": "tool_files",
        "refresh_models": "refresh",
        "remove_with_content": "quarantine",
        "servers_for": "mcp",
        "shared_detector": "sync",
        "show": "rendering",
        "shown_arguments": "masking",
        "stays_inside": "hub_choice",
        "take_inventory": "inventory",
        "timestamp": "report",
        "tokens_of_message": "estimates",
        "tokens_of_request": "estimates",
        "tokens_of_text": "estimates",
        "tools_at_hand": "at_hand",
        "with_manual_context": "knowledge",
    },
)
