"""HUD's package as its users call it, at the platform of HUD_API_URL. The last line on stdout is the answer, as JSON."""

import asyncio
import json
import sys
from pathlib import Path


async def run(given: dict) -> list[float]:
    from hud import Environment
    from hud.agents.base import Agent

    env = Environment("sums")

    @env.template(id="add")
    async def add(a: int, b: int):
        answer = yield f"What is {a} + {b}?"
        yield 1.0 if str(answer).strip() == str(a + b) else 0.0

    class Adder(Agent):
        async def __call__(self, run) -> None:
            run.trace.content = str(given["a"] + given["b"])

    job = await add(a=given["a"], b=given["b"]).run(Adder())
    return [each.reward for each in job.runs]


def read_spans(given: dict) -> int:
    from hud.agents.types import AgentStep, ToolStep
    from hud.telemetry.span import Span
    from hud.types import Step

    kinds = {"agent": AgentStep, "tool": ToolStep}
    for each in given["spans"]:
        payload = Span.model_validate(each).attributes["hud.payload"]
        kinds.get(payload["source"], Step).model_validate(payload)
    return len(given["spans"])


def tasksets(given: dict) -> dict:
    """Reads the taskset that is there, then does what `hud sync tasks` does with the same rows: to a new one, and to that one again."""
    from hud.cli.sync import sync_tasks_command
    from hud.eval import Taskset

    read = [task.model_dump(mode="json", exclude_none=True) for task in Taskset.from_api(given["there"])]
    Path("rows.jsonl").write_text(given["rows"], encoding="utf-8")

    def sync(name: str) -> dict:
        plan = sync_tasks_command(
            taskset=name,
            source="rows.jsonl",
            link_target=False,
            project=None,
            task_filter=None,
            yes=True,
            dry_run=False,
            force=False,
            export=None,
        )
        return {key: plan[f"{key}_count"] for key in ("create", "update", "unchanged", "remote_only")}

    return {"read": read, "new": sync(given["new"]), "again": sync(given["there"])}


CALLS = {"run": run, "read_spans": read_spans, "tasksets": tasksets}

if __name__ == "__main__":
    answer = CALLS[sys.argv[1]](json.loads(sys.argv[2]))
    print(json.dumps(asyncio.run(answer) if asyncio.iscoroutine(answer) else answer))
