"""Puts the rooms to work: the detector with its memory, discovery, one turn of a model, the live probe, recordings."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.runtime.checking import check_targets
    from callgate.runtime.conversation import read_messages
    from callgate.runtime.detector import AsyncDetector
    from callgate.runtime.discovery import Discovery, discover, discover_async
    from callgate.runtime.found import FoundModel
    from callgate.runtime.hub_choice import Candidate, candidates_in, is_beside_a_model, narrowed, projector_in, stays_inside
    from callgate.runtime.hub_files import fetched_file, fetched_model
    from callgate.runtime.inventory import StockedModel, best_of, take_inventory
    from callgate.runtime.knowledge import Knowledge, ModelKnowledge, one_model, with_manual_context
    from callgate.runtime.live_probe import probe_live
    from callgate.runtime.model import AsyncModel, Model, Turn
    from callgate.runtime.model_folders import gguf_names, hub_cache_folder, ollama_blob
    from callgate.runtime.policies import Surface, policy_for
    from callgate.runtime.quarantine import Quarantine, Quarantined, remove_with_content
    from callgate.runtime.recording import Recorder
    from callgate.runtime.refresh import Refreshed, Step, refresh_models
    from callgate.runtime.rendering import Shown, show
    from callgate.runtime.report import ModelReport, error_as_json, evidence_as_json, timestamp
    from callgate.runtime.session import Session
    from callgate.runtime.sync import Detector, check, shared_detector
    from callgate.runtime.toolbox import Toolbox

__all__ = [
    "AsyncDetector",
    "AsyncModel",
    "Candidate",
    "Detector",
    "Discovery",
    "FoundModel",
    "Knowledge",
    "Model",
    "ModelKnowledge",
    "ModelReport",
    "Quarantine",
    "Quarantined",
    "Recorder",
    "Refreshed",
    "Session",
    "Shown",
    "Step",
    "StockedModel",
    "Surface",
    "Toolbox",
    "Turn",
    "best_of",
    "candidates_in",
    "check",
    "check_targets",
    "discover",
    "discover_async",
    "error_as_json",
    "evidence_as_json",
    "fetched_file",
    "fetched_model",
    "gguf_names",
    "hub_cache_folder",
    "is_beside_a_model",
    "narrowed",
    "ollama_blob",
    "one_model",
    "policy_for",
    "probe_live",
    "projector_in",
    "read_messages",
    "refresh_models",
    "remove_with_content",
    "shared_detector",
    "show",
    "stays_inside",
    "take_inventory",
    "timestamp",
    "with_manual_context",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "AsyncDetector": "detector",
        "AsyncModel": "model",
        "Candidate": "hub_choice",
        "Detector": "sync",
        "Discovery": "discovery",
        "FoundModel": "found",
        "Knowledge": "knowledge",
        "Model": "model",
        "ModelKnowledge": "knowledge",
        "ModelReport": "report",
        "Quarantine": "quarantine",
        "Quarantined": "quarantine",
        "Recorder": "recording",
        "Refreshed": "refresh",
        "Session": "session",
        "Shown": "rendering",
        "Step": "refresh",
        "StockedModel": "inventory",
        "Surface": "policies",
        "Toolbox": "toolbox",
        "Turn": "model",
        "best_of": "inventory",
        "candidates_in": "hub_choice",
        "check": "sync",
        "check_targets": "checking",
        "discover": "discovery",
        "discover_async": "discovery",
        "error_as_json": "report",
        "evidence_as_json": "report",
        "fetched_file": "hub_files",
        "fetched_model": "hub_files",
        "gguf_names": "model_folders",
        "hub_cache_folder": "model_folders",
        "is_beside_a_model": "hub_choice",
        "narrowed": "hub_choice",
        "ollama_blob": "model_folders",
        "one_model": "knowledge",
        "policy_for": "policies",
        "probe_live": "live_probe",
        "projector_in": "hub_choice",
        "read_messages": "conversation",
        "remove_with_content": "quarantine",
        "refresh_models": "refresh",
        "shared_detector": "sync",
        "show": "rendering",
        "stays_inside": "hub_choice",
        "take_inventory": "inventory",
        "timestamp": "report",
        "with_manual_context": "knowledge",
    },
)
