"""HUD's SDK as it comes, doing what it is asked in lines of JSON on standard input; ends when that does.

Its figures are of this process and of the children it waited for; what else runs beside it is the caller's to look at.
"""

import asyncio
import contextlib
import json
import logging
import os
import resource
import signal
import sys
import time
from pathlib import Path

# What environments print goes to standard output: the answers keep the real one to themselves.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller is interrupted too, and ends us in order

from hud.agents.base import Agent  # noqa: E402
from hud.clients import connect  # noqa: E402
from hud.eval import Task, Taskset  # noqa: E402
from hud.eval.runtime import DaytonaRuntime, LocalRuntime, SubprocessRuntime  # noqa: E402

logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # see env.py

GROUP = 8
LOOP_LOOK_S = 0.01
CALLS = {}
HERE = Path(__file__).parent


class NoopAgent(Agent):
    """Answers at once. Calls no model and records no step."""

    async def __call__(self, run):
        run.trace.content = "done"


def call(function):
    CALLS[function.__name__] = function
    return function


@call
async def rollouts(runtime, rollouts, width):
    """So many rollouts of the no-op task by the SDK's own runner, `width` at once."""
    provider = {"local": LocalRuntime, "subprocess": SubprocessRuntime}[runtime](HERE / "env.py")
    tasks = [Task(env="noop", id="noop", slug=f"noop-{index}") for index in range(rollouts // GROUP)]
    async with figures() as measured:
        job = await Taskset("noop", tasks).run(NoopAgent(), runtime=provider, group=GROUP, max_concurrent=width)
    failed = [run for run in job.runs if run.grade.is_error or run.reward != 1]
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(job.runs)} no-op runs failed: {failed[0].trace.error}")
    return measured


@call
async def usable(width, snapshot, gateway):
    """So many sandboxes at once: acquired as the SDK's rollout acquires them, until `hello` was answered; given back when all were."""
    runtime = DaytonaRuntime(snapshot, ssh_host=gateway)
    task = Task(env="noop", id="noop")
    open_now, all_settled = 0, asyncio.Event()

    def settle():
        nonlocal open_now
        open_now += 1
        if open_now == width:
            all_settled.set()

    async def one():
        asked, settled = time.perf_counter(), False
        try:
            async with runtime(task) as address, connect(address):
                took = time.perf_counter() - asked
                settle()
                settled = True
                await all_settled.wait()
            return took * 1_000
        finally:
            if not settled:
                settle()

    async with figures() as measured:
        taken = await asyncio.gather(*(one() for _ in range(width)), return_exceptions=True)
    return {
        **measured,
        "usableMs": [each for each in taken if isinstance(each, float)],
        "failures": [f"{type(each).__name__}: {each}" for each in taken if isinstance(each, BaseException)],
    }


@contextlib.asynccontextmanager
async def figures():
    found = {}
    delays = []

    async def look():
        while True:
            before = time.perf_counter()
            await asyncio.sleep(LOOP_LOOK_S)
            delays.append((time.perf_counter() - before - LOOP_LOOK_S) * 1_000)

    looking = asyncio.create_task(look())
    own, children, started = cpu_ms(resource.RUSAGE_SELF), cpu_ms(resource.RUSAGE_CHILDREN), time.perf_counter()
    try:
        yield found
    finally:
        looking.cancel()
        found["wallMs"] = (time.perf_counter() - started) * 1_000
        found["ownCpuMs"] = cpu_ms(resource.RUSAGE_SELF) - own
        found["childCpuMs"] = cpu_ms(resource.RUSAGE_CHILDREN) - children
        delays.sort()
        found["loopP99Ms"] = delays[int(len(delays) * 0.99)] if delays else found["wallMs"]


def cpu_ms(who):
    usage = resource.getrusage(who)
    return (usage.ru_utime + usage.ru_stime) * 1_000


async def serve():
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    working = None
    while line := await lines.readline():
        working = asyncio.create_task(answer(json.loads(line)))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what the SDK says of being cancelled midway is no news
    if working is not None:  # whoever asked has gone: sandboxes and processes are given back all the same
        working.cancel()
        await asyncio.wait({working})


async def answer(request):
    try:
        reply = {"ok": True, "value": await CALLS[request["call"]](**request["arguments"])}
    except Exception as error:
        reply = {"ok": False, "message": f"{type(error).__name__}: {error}"}
    answers.write(json.dumps({"id": request["id"], **reply}) + "\n")


asyncio.run(serve())
