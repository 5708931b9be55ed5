"""Models of the Hugging Face hub: resolved, chosen, looked at before the download, fetched, verified."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.hub.choosing import Choice, fits
    from callgate.hub.fetching import Fetched
    from callgate.hub.looking import Looked
    from callgate.hub.naming import read_hub_name
    from callgate.hub.pulling import Onlooker, Pulled, Wishes, list_repository, pull
    from callgate.hub.records import HubFile, Repository
    from callgate.hub.removing import files_of, remove
    from callgate.hub.to_ollama import default_name, import_into_ollama

__all__ = [
    "Choice",
    "Fetched",
    "HubFile",
    "Looked",
    "Onlooker",
    "Pulled",
    "Repository",
    "Wishes",
    "default_name",
    "files_of",
    "fits",
    "import_into_ollama",
    "list_repository",
    "pull",
    "read_hub_name",
    "remove",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "Choice": "choosing",
        "Fetched": "fetching",
        "HubFile": "records",
        "Looked": "looking",
        "Onlooker": "pulling",
        "Pulled": "pulling",
        "Repository": "records",
        "Wishes": "pulling",
        "default_name": "to_ollama",
        "files_of": "removing",
        "fits": "choosing",
        "import_into_ollama": "to_ollama",
        "list_repository": "pulling",
        "pull": "pulling",
        "read_hub_name": "naming",
        "remove": "removing",
    },
)
