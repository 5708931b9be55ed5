"""Models of the Hugging Face hub: resolved, chosen, looked at before the download, fetched, verified."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.hub.choosing import Choice
    from callgate.hub.fetching import Fetched
    from callgate.hub.looking import Looked
    from callgate.hub.naming import read_hub_name
    from callgate.hub.pulling import Onlooker, Pulled, Wishes, list_repository, pull
    from callgate.hub.records import Repository

__all__ = [
    "Choice",
    "Fetched",
    "Looked",
    "Onlooker",
    "Pulled",
    "Repository",
    "Wishes",
    "list_repository",
    "pull",
    "read_hub_name",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "Choice": "choosing",
        "Fetched": "fetching",
        "Looked": "looking",
        "Onlooker": "pulling",
        "Pulled": "pulling",
        "Repository": "records",
        "Wishes": "pulling",
        "list_repository": "pulling",
        "pull": "pulling",
        "read_hub_name": "naming",
    },
)
