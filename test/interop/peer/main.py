"""HUD's SDK as it comes, doing what it is asked in lines of JSON on standard input; ends when that does."""

import asyncio
import json
import logging
import os
import sys

# What others print goes nowhere: the answers keep the real standard output to themselves.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

import clients  # noqa: E402
import rows  # noqa: E402
import runs  # noqa: E402
import shells  # noqa: E402

# Older Pythons report every cancelled connection with a traceback.
logging.getLogger("asyncio").setLevel(logging.CRITICAL)


async def ready():
    pass


CALLS = {"ready": ready, **clients.CALLS, **rows.CALLS, **runs.CALLS, **shells.CALLS}
LONGEST_LINE = 64 * 1024 * 1024


async def serve():
    lines = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    working = set()
    while line := await lines.readline():
        task = asyncio.create_task(answer(json.loads(line)))
        working.add(task)
        task.add_done_callback(working.discard)
    for task in working:  # whoever asked has gone
        task.cancel()
    if working:
        await asyncio.wait(working)


async def answer(request):
    try:
        reply = {"ok": True, "value": await CALLS[request["call"]](**request["arguments"])}
    except Exception as error:
        reply = {"ok": False, "message": f"{type(error).__name__}: {error}"}
    answers.write(json.dumps({"id": request["id"], **reply}) + "\n")


asyncio.run(serve())
