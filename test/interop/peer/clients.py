"""HUD's client of the control channel, driven call by call."""

import asyncio
import contextlib
import itertools

import hud.clients.client as implementation
from hud.capabilities import SSHClient
from hud.clients import HudClient, HudProtocolError, connect
from hud.eval import Runtime

CALLS = {}
OPEN = {}
numbers = itertools.count(1)


def call(function):
    CALLS[function.__name__] = function
    return function


class Opened:
    """One connection, in the context that the SDK keeps it in."""

    def __init__(self, client, stack):
        self.client = client
        self.stack = stack
        self.shell: SSHClient | None = None


@call
async def client_open(url):
    stack = contextlib.AsyncExitStack()
    client = await stack.enter_async_context(connect(Runtime(url), ready_timeout=20))
    number = next(numbers)
    OPEN[number] = Opened(client, stack)
    return {"client": number, "welcome": welcome(client.manifest)}


@call
async def client_hello(client, session_id):
    """Says hello once more, as the heartbeat does, or to go on with another connection's session."""
    return await told(OPEN[client].client.hello(session_id), welcome)


@call
async def client_call(client, method, arguments):
    return await told(getattr(OPEN[client].client, method)(*arguments))


@call
async def client_bye(client):
    """The SDK never says goodbye; its environments hear it all the same."""
    return await told(OPEN[client].client._call("bye", {}))


@call
async def client_close(client):
    await OPEN.pop(client).stack.aclose()


@call
async def client_abort(client):
    OPEN[client].client.abort()


@call
async def client_beats(url, beats):
    """Stays connected for so many heartbeats, with the SDK's two minutes between them made short."""
    between, implementation._CONTROL_HEARTBEAT_INTERVAL_SECONDS = (
        implementation._CONTROL_HEARTBEAT_INTERVAL_SECONDS,
        0.01,
    )
    answered = []
    enough = asyncio.Event()
    plain = HudClient._call

    async def watched(self, method, params, **rest):
        result = await plain(self, method, params, **rest)
        if method == "hello" and "session_id" in params:
            answered.append(result["session_id"])
            if len(answered) >= beats:
                enough.set()
        return result

    HudClient._call = watched
    try:
        async with connect(Runtime(url), ready_timeout=20) as client:
            started = await client.start_task("add", {"a": 1, "b": 2})
            await asyncio.wait_for(enough.wait(), 10)
            graded = await client.grade({"answer": "3"})
            return {
                "session": client.manifest.session_id,
                "answered": sorted(set(answered)),
                "beats": len(answered),
                "prompt": started["prompt"],
                "score": graded["score"],
            }
    finally:
        HudClient._call = plain
        implementation._CONTROL_HEARTBEAT_INTERVAL_SECONDS = between


def welcome(manifest):
    return {
        "sessionId": manifest.session_id,
        "env": [manifest.server_info.name, manifest.server_info.version],
        "bindings": [binding.to_manifest() for binding in manifest.bindings],
    }


async def told(coming, to_plain=lambda value: value):
    """What came of it: a refusal of the environment is an answer like any other."""
    try:
        return {"value": to_plain(await coming)}
    except HudProtocolError as error:
        return {"error": {"kind": "HudProtocolError", "code": error.code, "message": error.message}}
    except (EOFError, OSError, ValueError) as error:
        return {"error": {"kind": type(error).__name__, "code": 0, "message": str(error)}}
