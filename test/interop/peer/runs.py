"""HUD's scheduler and agents at environments that anybody serves."""

import asyncio
import re
from contextlib import asynccontextmanager

from hud.agents.base import Agent
from hud.agents.claude.tools.coding import (
    GENERIC_BASH_SPEC,
    GENERIC_TEXT_EDITOR_SPEC,
    ClaudeBashTool,
    ClaudeTextEditorTool,
)
from hud.agents.openai_compatible import OpenAIChatAgent
from hud.agents.tools.base import result_text
from hud.agents.types import OpenAIChatConfig
from hud.environment.server import PORT_ANNOUNCEMENT
from hud.eval import Chat, Job, Runtime, Shared, Task, Taskset
from hud.utils.process import create_process_group_exec

CALLS = {}
PYTEST = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python3 -m pytest -q -p no:cacheprovider"


def call(function):
    CALLS[function.__name__] = function
    return function


class Adder(Agent):
    async def __call__(self, run):
        numbers = [int(each) for each in re.findall(r"-?\d+", run.prompt_text)]
        run.trace.content = str(sum(numbers[:2]))


class Repairer(Agent):
    """Works with the SDK's own tools as a model would: looks, tests, edits, tests again."""

    def __init__(self, repairs):
        super().__init__()
        self.repairs = repairs

    async def __call__(self, run):
        shell = await run.client.open("ssh")
        bash = ClaudeBashTool(spec=GENERIC_BASH_SPEC, client=shell)
        editor = ClaudeTextEditorTool(spec=GENERIC_TEXT_EDITOR_SPEC, client=shell)
        broken = await bash.execute({"command": PYTEST})
        if not broken.isError:
            raise RuntimeError("nothing was broken")
        source = result_text(await editor.execute({"command": "view", "path": "calc.py"}))
        for buggy, correct in self.repairs:
            if buggy in source:
                edit = {"command": "str_replace", "path": "calc.py", "old_str": buggy, "new_str": correct}
                edited = await editor.execute(edit)
                if edited.isError:
                    raise RuntimeError(result_text(edited))
        tested = await bash.execute({"command": PYTEST})
        run.trace.content = result_text(tested).strip().splitlines()[-1]


class Reader(Agent):
    """Answers with what stands in the workspace's note."""

    async def __call__(self, run):
        shell = await run.client.open("ssh")
        run.trace.content = (await shell.read_text("note.txt")).strip()


class Echo(Agent):
    async def __call__(self, run):
        run.trace.content = " | ".join(f"{each.role}: {each.content.text}" for each in run.prompt_messages)


class Waiter(Agent):
    async def __call__(self, run):
        await asyncio.Event().wait()


class Thrower(Agent):
    async def __call__(self, run):
        raise RuntimeError("the agent is out of its depth")


class Model(OpenAIChatAgent):
    """The SDK's agent for any endpoint with chat completions, with all the tools that it makes of a shell."""

    def __init__(self, url):
        super().__init__(OpenAIChatConfig(model="scripted", base_url=url, api_key="none"))


AGENTS = {each.__name__: each for each in (Adder, Repairer, Reader, Echo, Waiter, Thrower, Model)}


def place(runtime):
    match runtime:
        case {"url": url}:
            return Runtime(url)
        case {"each": argv, "width": width}:
            return Shared(each_with(argv), width=width)
        case {"each": argv}:
            return each_with(argv)


def each_with(argv):
    """A process for each rollout, as the SDK's own providers have it: any command that says on which port it serves."""

    @asynccontextmanager
    async def provider(_task):
        process = await create_process_group_exec(
            *argv, term_timeout=10.0, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            port = None
            async for line in process.stdout:
                if line.decode().startswith(PORT_ANNOUNCEMENT):
                    port = int(line.decode().removeprefix(PORT_ANNOUNCEMENT))
                    break
            if port is None:
                raise RuntimeError("it ended before it served")
            yield Runtime(f"tcp://127.0.0.1:{port}")
        finally:
            await process.terminate()

    return provider


@call
async def run_taskset(rows, agent, runtime, settings=None, group=1, width=None, limit=None):
    taskset = Taskset("interop", [Task.model_validate(row) for row in rows])
    job = await taskset.run(
        AGENTS[agent](**(settings or {})),
        runtime=place(runtime),
        group=group,
        max_concurrent=width,
        rollout_timeout=limit,
    )
    return {"runs": [told(run) for run in job.runs], "reward": job.reward, "errors": len(job.errors)}


@call
async def run_task(row, agent, runtime, group=1):
    """`Task.run`, twice into one job."""
    job = await Job.start("interop")
    for _ in range(2):
        await Task.model_validate(row).run(AGENTS[agent](), runtime=place(runtime), group=group, job=job)
    return {"runs": [told(run) for run in job.runs], "jobs": sorted({run.job_id == job.id for run in job.runs})}


@call
async def run_chat(row, runtime, messages):
    """A conversation: each message is a rollout of a task that takes all of them so far."""
    chat = Chat(Task.model_validate(row), Echo(), runtime=place(runtime))
    return [(await chat.send(message)).content for message in messages]


def told(run):
    return {
        "slug": run.slug,
        "reward": run.reward,
        "status": run.trace.status,
        "stopReason": run.trace.stop_reason,
        "error": run.trace.error,
        "answer": run.trace.content,
        "groupId": run.group_id,
        "prompt": run.prompt,
        "isError": run.grade.is_error,
        "content": run.grade.content,
        "evaluation": run.evaluation,
        "phases": [step.task_call.phase for step in run.trace.steps if step.task_call is not None],
    }
