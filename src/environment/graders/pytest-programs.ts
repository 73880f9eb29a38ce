/**
 * The two Python programs of `gradePytest`. The judge's module has the name of the agent's one and none of its code: each call
 * goes as a line of JSON to the peer, the only process that ever imports what the agent wrote. What comes back is JSON, so
 * plain values: no object of the agent's can answer `==`, and nothing it patches is near pytest. Before any of that code is read the
 * peer says that it is there; where it does not, the judge breaks off without a verdict, since that is nobody's mistake.
 */

/** Longer answers than this are none. */
const MAX_ANSWER_BYTES = 1 << 20
const READY = 'ready'
const READY_SECONDS = 30

/** The judge's stand-in for the module. `budgetMs` is how long all calls together may wait for answers. */
export function proxyModule(module: string, budgetMs: number): string {
  return String.raw`import builtins, json, os, select, time

MODULE = ${JSON.stringify(module)}
READ, WRITE = 3, 4
budget = ${budgetMs / 1000}
broken = None
received = b""
count = 0

os.set_blocking(WRITE, False)


def fail(text):
    global broken
    broken = text
    raise RuntimeError(text)


def wait(deadline, reading, writing):
    left = deadline - time.monotonic()
    if left <= 0 or not any(select.select(reading, writing, [], left)):
        fail(MODULE + " gave no answer in time")


def send(line, deadline):
    while line:
        wait(deadline, [], [WRITE])
        try:
            line = line[os.write(WRITE, line):]
        except BlockingIOError:
            pass
        except OSError:
            fail("the process that ran " + MODULE + " has ended")


def receive(deadline):
    global received
    while b"\n" not in received:
        wait(deadline, [READ], [])
        try:
            chunk = os.read(READ, 65536)
        except BlockingIOError:
            continue
        except OSError:
            chunk = b""
        if not chunk:
            fail("the process that ran " + MODULE + " has ended")
        received += chunk
        if len(received) > ${MAX_ANSWER_BYTES}:
            fail(MODULE + " gave too long an answer")
    line, _, received = received.partition(b"\n")
    return line


def ask(name, args, kwargs):
    global budget, count
    if broken:
        raise RuntimeError(broken)
    count += 1
    line = json.dumps({"id": count, "name": name, "args": args, "kwargs": kwargs}) + "\n"
    started = time.monotonic()
    try:
        send(line.encode(), started + budget)
        line = receive(started + budget)
    finally:
        budget -= time.monotonic() - started
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        fail(MODULE + " gave an answer that is not JSON")
    if not isinstance(reply, dict) or reply.get("id") != count:
        fail(MODULE + " answered out of turn")
    if reply.get("ok") is True:
        return reply.get("value")
    raise to_error(str(reply.get("type"))[:100], str(reply.get("error"))[:500])


def to_error(kind, text):
    # Half a character is text to Python and to nobody else.
    kind, text = (each.encode("utf-8", "backslashreplace").decode() for each in (kind, text))
    known = getattr(builtins, kind, None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(text)
        except Exception:
            pass
    return RuntimeError(kind + ": " + text)


def expect_peer():
    if receive(time.monotonic() + ${READY_SECONDS}) != b"${READY}":
        fail("the process that is to run " + MODULE + " did not start")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def call(*args, **kwargs):
        return ask(name, args, kwargs)

    call.__name__ = name
    return call


expect_peer()
`
}

/** The peer: imports the agent's module and answers calls. Its stdout is its stderr, so that a print is no answer. */
export function peerProgram(module: string): string {
  return String.raw`import importlib.util, json, os, sys

MODULE = ${JSON.stringify(module)}
requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
answers.write("${READY}\n")
answers.flush()


def load():
    spec = importlib.util.spec_from_file_location(MODULE[:-3], os.path.join(os.getcwd(), MODULE))
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE[:-3]] = module
    spec.loader.exec_module(module)
    return module


def plain(value):
    import decimal, numbers
    if isinstance(value, (numbers.Rational, decimal.Decimal)):
        return float(value)
    raise TypeError(MODULE + " returned a " + type(value).__name__ + ", which is not plain data")


def answer(request):
    if failure is not None:
        raise failure
    value = getattr(module, request["name"])(*request["args"], **request["kwargs"])
    return json.dumps({"id": request["id"], "ok": True, "value": value}, default=plain)


module = failure = None
try:
    module = load()
except BaseException as error:
    failure = error

for line in requests:
    request = json.loads(line)
    try:
        text = answer(request)
    except BaseException as error:
        text = json.dumps({"id": request["id"], "ok": False, "type": type(error).__name__, "error": str(error)})
    answers.write(text + "\n")
    answers.flush()
`
}
