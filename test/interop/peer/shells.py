"""HUD's own shell client, over the `ssh/2` capability of a connection."""

import asyncio

import asyncssh
from clients import OPEN

CALLS = {}


def call(function):
    CALLS[function.__name__] = function
    return function


async def shell_of(client):
    opened = OPEN[client]
    if opened.shell is None:
        opened.shell = await opened.client.open("ssh")
    return opened.shell


@call
async def shell_run(client, command, timeout=None, given=None):
    shell = await shell_of(client)
    options = {} if given is None else {"input": given}
    try:
        done = await shell.run(command, timeout=timeout, **options)
    except TimeoutError:
        return {"stdout": "", "stderr": "", "status": None}
    return {"stdout": done.stdout, "stderr": done.stderr, "status": done.returncode}


@call
async def shell_together(client, commands):
    shell = await shell_of(client)
    done = await asyncio.gather(*(shell.run(command) for command in commands))
    return [each.stdout for each in done]


@call
async def shell_read(client, path):
    try:
        return {"text": await (await shell_of(client)).read_text(path)}
    except asyncssh.ProcessError as error:
        return {"refused": str(error.stderr), "status": error.exit_status}


@call
async def shell_read_bytes(client, path):
    return (await (await shell_of(client)).read_bytes(path)).hex()


@call
async def shell_write(client, path, text):
    await (await shell_of(client)).write_text(path, text)


@call
async def shell_list(client, path):
    return await (await shell_of(client)).listdir(path)


@call
async def shell_terminal(client, command, keys, columns, rows):
    """The command in a terminal of that size, with `keys` typed into it."""
    shell = await shell_of(client)
    process = await shell.conn.create_process(command, term_type="xterm", term_size=(columns, rows))
    if keys:
        process.stdin.write(keys)
    done = await process.wait(timeout=20)
    return {"screen": done.stdout, "status": done.returncode}


@call
async def shell_cut(client):
    """The connection under the shell breaks; the SDK opens another one for the next command."""
    shell = await shell_of(client)
    shell.conn.abort()
    await shell.conn.wait_closed()
    return (await shell.run("echo again")).stdout
