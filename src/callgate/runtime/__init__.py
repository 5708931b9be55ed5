"""Puts the rooms to work: the detector with its memory, discovery, one turn of a model, the live probe, recordings."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.runtime.checking import check_targets
    from callgate.runtime.detector import AsyncDetector
    from callgate.runtime.discovery import Discovery, discover, discover_async
    from callgate.runtime.found import FoundModel
    from callgate.runtime.inventory import StockedModel, best_of, take_inventory
    from callgate.runtime.knowledge import Knowledge, ModelKnowledge, one_model, with_manual_context
    from callgate.runtime.live_probe import probe_live
    from callgate.runtime.mode import Mode, mode_of
    from callgate.runtime.recording import Recorder
    from callgate.runtime.refresh import Refreshed, Step, refresh_models
    from callgate.runtime.report import ModelReport, error_as_json, timestamp
    from callgate.runtime.session import Session
    from callgate.runtime.sync import Detector, check, shared_detector

__all__ = [
    "AsyncDetector",
    "Detector",
    "Discovery",
    "FoundModel",
    "Knowledge",
    "Mode",
    "ModelKnowledge",
    "ModelReport",
    "Recorder",
    "Refreshed",
    "Session",
    "Step",
    "StockedModel",
    "best_of",
    "check",
    "check_targets",
    "discover",
    "discover_async",
    "error_as_json",
    "mode_of",
    "one_model",
    "probe_live",
    "refresh_models",
    "shared_detector",
    "take_inventory",
    "timestamp",
    "with_manual_context",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "AsyncDetector": "detector",
        "Detector": "sync",
        "Discovery": "discovery",
        "FoundModel": "found",
        "Knowledge": "knowledge",
        "Mode": "mode",
        "ModelKnowledge": "knowledge",
        "ModelReport": "report",
        "Recorder": "recording",
        "Refreshed": "refresh",
        "Session": "session",
        "Step": "refresh",
        "StockedModel": "inventory",
        "best_of": "inventory",
        "check": "sync",
        "check_targets": "checking",
        "discover": "discovery",
        "discover_async": "discovery",
        "error_as_json": "report",
        "mode_of": "mode",
        "one_model": "knowledge",
        "probe_live": "live_probe",
        "refresh_models": "refresh",
        "shared_detector": "sync",
        "take_inventory": "inventory",
        "timestamp": "report",
        "with_manual_context": "knowledge",
    },
)
