"""What our engine is shown of HUD's side: one template for each thing that may come of a task."""

import asyncio

from pydantic import BaseModel

from hud import Environment
from hud.graders import BashGrader, EvaluationResult, SubScore, combine, exact_match, numeric_match

env = Environment("words", version="3.2.1")


class Sum(BaseModel):
    parts: list[int]
    sum: int


@env.template(description="Add two whole numbers.")
async def add(a: int, b: int = 2):
    answer = yield f"What is {a} + {b}?"
    yield numeric_match(answer, a + b)


@env.template()
async def talk(topic: str):
    answer = yield [
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": {"type": "text", "text": f"Say something of {topic}."}},
    ]
    yield exact_match(answer, topic)


@env.template(returns=Sum)
async def total(parts: list[int]):
    answer = yield "Answer with the parts and their sum, as JSON."
    if isinstance(answer.content, Sum):
        yield 1.0 if answer.content.sum == sum(parts) else 0.5
    else:
        yield {"score": 0.0, "content": f"not as asked: {answer.raw}"}


@env.template()
async def graded(command: str):
    answer = yield "Answer with anything."
    yield await combine(
        BashGrader.grade(weight=0.5, command=command),
        SubScore(name="said", value=exact_match(answer, "anything"), weight=0.5),
    )


@env.template()
async def broken(how: str):
    if how == "start":
        raise RuntimeError("there is no paper")
    yield "Go on."
    match how:
        case "grade":
            raise RuntimeError("the ink is dry")
        case "text":
            yield "a text"
        case "nan":
            yield float("nan")
        case "error":
            yield EvaluationResult(reward=1.0, isError=True, content="the grader lost its glasses")
        case "slow":
            await asyncio.Event().wait()


@env.template()
async def long(size: int):
    answer = yield "x" * size
    yield {"score": 1.0 if len(answer) == size else 0.0, "content": "y" * size}


@env.template()
async def passed(first: float, second: object = None):
    """Tells how its arguments came over the wire."""
    yield f"{first!r} {second!r}"
    yield 1.0


@env.template()
async def verify(word: str):
    actor = yield ""
    yield {"score": 0.875 if actor["score"] == 1.0 else 0.125, "content": word}
