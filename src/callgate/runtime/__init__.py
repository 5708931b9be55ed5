"""Puts the rooms to work: so far the detector, which finds out what models can do and remembers it for a while."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.runtime.checking import check_targets
    from callgate.runtime.detector import AsyncDetector, Knowledge
    from callgate.runtime.finding import Finding
    from callgate.runtime.live_probe import probe_live
    from callgate.runtime.recording import Recorder
    from callgate.runtime.report import ModelReport, error_as_json, timestamp
    from callgate.runtime.session import Session
    from callgate.runtime.sync import Detector, check, shared_detector

__all__ = [
    "AsyncDetector",
    "Detector",
    "Finding",
    "Knowledge",
    "ModelReport",
    "Recorder",
    "Session",
    "check",
    "check_targets",
    "error_as_json",
    "probe_live",
    "shared_detector",
    "timestamp",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "AsyncDetector": "detector",
        "Detector": "sync",
        "Finding": "finding",
        "Knowledge": "detector",
        "ModelReport": "report",
        "Recorder": "recording",
        "Session": "session",
        "check": "sync",
        "check_targets": "checking",
        "error_as_json": "report",
        "probe_live": "live_probe",
        "shared_detector": "sync",
        "timestamp": "report",
    },
)
