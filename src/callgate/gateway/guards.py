"""Who may ask: the right Host, a page that is allowed to, a key where there are some, and no request of our own."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from ipaddress import ip_address
from socket import inet_aton
from urllib.parse import urlsplit

from callgate.gateway.allowed import allowed_host, allowed_origin
from callgate.gateway.asgi import Exchange, Header, Refused
from callgate.gateway.dialect import Failure
from callgate.gateway.failures import LOOP, LOOP_HINT
from callgate.gateway.keeping import asker
from callgate.gateway.options import Options
from callgate.gateway.page import PAGE_PATHS
from callgate.vocabulary import UsageError
from callgate.wire import HOPS_HEADER, hops_of, is_loopback

OPEN_PATHS = PAGE_PATHS | {"/", "/health", "/ready"}
"""What anybody may ask: they tell nothing."""
MOST_HOPS = 16
_HOPS = HOPS_HEADER.lower()
_ENOUGH_DIGITS = 32
_USUAL_HEADERS = b"Authorization, Content-Type, X-Api-Key, Anthropic-Version, Anthropic-Beta"
_NAMES = re.compile(r"[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*", re.ASCII)
_KEY_HINT = "callgate serve --api-key KEY, or CALLGATE_API_KEYS"
_EXPOSED = (
    *("X-Callgate", "X-Callgate-Mode", "X-Callgate-Tools-Trimmed", "X-Callgate-Notices"),
    *("Request-Id", "X-Request-Id", "Retry-After"),
)
"""Headers that pages of other servers may read."""


class Guard:
    """Raises: UsageError, if it would let everybody in from everywhere, or names somebody who can't exist."""

    def __init__(self, options: Options) -> None:
        self._anywhere = is_everywhere(options.host)
        self._keys = tuple(_digest(key) for key in options.keys)
        self._shared: frozenset[bytes] = frozenset()
        self._is_beyond = self._anywhere or not is_loopback(f"http://{_in_url(options.host)}")
        self.needs_key = bool(self._keys) or self._is_beyond
        if options.redis is None:  # else there may be keys there
            self.check_keys(options)
        self._hosts = frozenset(filter(None, (*map(allowed_host, options.allowed_hosts), options.host.lower())))
        self._origins = frozenset(map(allowed_origin, options.origins))
        self._instance = options.instance
        self._last_called: str | None = None
        """As what we were last called that is right: most clients call us the same."""

    def check_keys(self, options: Options) -> None:
        """Raises: UsageError, if there has to be one and there is none."""
        if self._is_beyond and not self._keys and not self._shared:
            where = "all addresses" if self._anywhere else repr(options.host)
            hint = _KEY_HINT if options.redis is None else "callgate keys add NAME, or callgate serve --api-key KEY"
            raise UsageError(f"at {where} others can reach the server, so it needs a key", hint=hint)

    def share(self, digests: frozenset[bytes], *, is_needed: bool) -> None:
        """These keys count, too. Where one was needed, one is from then on, even if all of them are taken back."""
        self._shared = digests
        self.needs_key = self.needs_key or is_needed

    def check(self, exchange: Exchange) -> tuple[str, ...]:
        """The servers of ours through which the request has come. Raises: Refused."""
        self._check_host(exchange)
        self._check_origin(exchange)
        if exchange.method != "OPTIONS" and exchange.path not in OPEN_PATHS:
            self._check_key(exchange)
        if (came := exchange.headers.get(_HOPS)) is None:
            return ()
        through = hops_of(came)
        if self._instance in through or len(through) > MOST_HOPS:
            cause = "a server that callgate asks is callgate itself"
            raise Refused(Failure(status=LOOP, kind="loop", message=cause, hint=LOOP_HINT))
        return through

    def _check_host(self, exchange: Exchange) -> None:
        """A name that isn't ours may be a stranger's, which leads here so that their page can ask us."""
        called = exchange.headers.get("host", "")
        if called == self._last_called:
            return
        host = _name_of(called)
        is_ours = host in self._hosts or (host and is_loopback(f"http://{_in_url(host)}"))
        if is_ours or (self._anywhere and _is_address(host)):
            self._last_called = called
            return
        hint = "callgate serve --allowed-host NAME lets clients call it so"
        raise Refused(Failure(status=403, kind="host", message="this server isn't known by that name", hint=hint))

    def _check_origin(self, exchange: Exchange) -> None:
        origin = exchange.headers.get("origin")
        if origin is None:
            return
        exchange.more_headers.append((b"vary", b"Origin"))
        if "*" in self._origins or origin in self._origins:
            exchange.more_headers.append((b"access-control-allow-origin", origin.encode("latin-1")))
            exchange.more_headers.append((b"access-control-expose-headers", ", ".join(_EXPOSED).encode()))
        elif _place_of(origin) != exchange.headers.get("host"):
            hint = "callgate serve --cors ORIGIN lets a page ask"
            raise Refused(Failure(status=403, kind="origin", message="web pages may not ask this server", hint=hint))

    def _check_key(self, exchange: Exchange) -> None:
        if not self.needs_key:
            return
        scheme, _, bearer = exchange.headers.get("authorization", "").partition(" ")
        given = [bearer.strip() if scheme.lower() == "bearer" else "", exchange.headers.get("x-api-key", "")]
        digests = [_digest(key) for key in given]
        # All of them, so that the time it takes doesn't tell which.
        matches = [digest for known in self._keys for digest in digests if hmac.compare_digest(digest, known)]
        matches += [digest for digest in digests if digest in self._shared]
        if matches:
            asker.set(matches[0].hex()[:_ENOUGH_DIGITS])
        else:
            hint = "send it as a Bearer, or as X-Api-Key"
            failure = Failure(status=401, kind="key", message="the key is missing or wrong", hint=hint)
            raise Refused(failure, [(b"www-authenticate", b"Bearer")])


def is_everywhere(host: str) -> bool:
    """Whether whoever listens at `host` listens at every address of the machine, however that is spelt."""
    if not host:
        return True
    try:
        address = ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        try:
            return not any(inet_aton(host))  # `0` and `0x0` are addresses for the system
        except (OSError, ValueError):
            return False
    return (getattr(address, "ipv4_mapped", None) or address).is_unspecified


def preflight(exchange: Exchange, methods: Iterable[str]) -> tuple[Header, ...]:
    """What a page is told that asks whether it may ask: whatever headers it wants to send, for clients have theirs."""
    wanted = exchange.headers.get("access-control-request-headers", "").strip()
    return (
        (b"access-control-allow-methods", ", ".join(sorted(methods)).encode()),
        (b"access-control-allow-headers", wanted.encode() if _NAMES.fullmatch(wanted) else _USUAL_HEADERS),
        (b"access-control-max-age", b"600"),
        (b"vary", b"Access-Control-Request-Headers"),
    )


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def _name_of(host: str) -> str:
    """Without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0].removeprefix("[")
    return host.partition(":")[0].rstrip(".")


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _place_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None
