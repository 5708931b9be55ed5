"""`/openapi.json`: the paths of all dialects, as OpenAPI 3.1 has them."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.gateway.openapi.describing import document

__all__ = ["document"]

__getattr__ = opened_on_use(__name__, {"document": "describing"})
