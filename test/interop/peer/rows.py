"""HUD's task rows: slugs, and files written and read."""

import json

from hud.eval import Task, Taskset

CALLS = {}


def call(function):
    CALLS[function.__name__] = function
    return function


@call
async def slugs(texts):
    """The slug of a task with each of these arguments, which come as JSON text: Python is to read it itself."""
    return [Task(env="e", id="t", args=json.loads(text)).slug for text in texts]


@call
async def write_rows(rows, path):
    Taskset("rows", [Task.model_validate(row) for row in rows]).to_file(path)


@call
async def read_rows(path):
    """As the SDK holds them, in JSON text: numbers are to arrive as Python writes them."""
    return [json.dumps(task.model_dump(mode="json", exclude_none=True)) for task in Taskset.from_file(path)]


@call
async def mint(path, arguments):
    """Rows that a template of the SDK's makes when it is called."""
    from hud.environment import load_environment

    template = load_environment(path).templates["add"]
    return [template(**each).slug for each in arguments]
