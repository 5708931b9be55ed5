"""Models of the Hugging Face hub: resolved, chosen, looked at before the download, fetched, verified."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.hub.choosing import Choice, fits
    from callgate.hub.looking import Looked
    from callgate.hub.naming import read_hub_name
    from callgate.hub.pulling import Pulled, Wishes, list_repository, pull
    from callgate.hub.records import HubFile, Repository
    from callgate.hub.removing import files_of, remove
    from callgate.hub.to_ollama import default_name, import_into_ollama
    from callgate.hub.unfinished import STALE_DAYS, leftovers, remove_stale

__all__ = [
    "STALE_DAYS",
    "Choice",
    "HubFile",
    "Looked",
    "Pulled",
    "Repository",
    "Wishes",
    "default_name",
    "files_of",
    "fits",
    "import_into_ollama",
    "leftovers",
    "list_repository",
    "pull",
    "read_hub_name",
    "remove",
    "remove_stale",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "STALE_DAYS": "unfinished",
        "Choice": "choosing",
        "HubFile": "records",
        "Looked": "looking",
        "Pulled": "pulling",
        "Repository": "records",
        "Wishes": "pulling",
        "default_name": "to_ollama",
        "files_of": "removing",
        "fits": "choosing",
        "import_into_ollama": "to_ollama",
        "leftovers": "unfinished",
        "list_repository": "pulling",
        "pull": "pulling",
        "read_hub_name": "naming",
        "remove": "removing",
        "remove_stale": "unfinished",
    },
)
