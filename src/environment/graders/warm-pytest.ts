/**
 * The program that has pytest loaded and forks for each run (the protocol is that of workspace/warm-program.ts). Loading takes pytest
 * longer than ten small tests do. Once it has run a first test of its own, so that what pytest loads late is there too; under a
 * name that no other test has, since Python keeps modules by name.
 */
export const WARM_PYTEST = String.raw`import json, os, select, signal, socket, sys

os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
import pytest

ANSWERS = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
running = {}


def rehearse():
    os.mkdir("rehearsal")
    os.chdir("rehearsal")
    with open("test_rehearsal.py", "w") as file:
        file.write("import pytest\ndef test_right():\n    assert 1 == pytest.approx(1)\ndef test_wrong():\n    assert 1 == pytest.approx(2)\n")
    with open("pytest.ini", "w") as file:
        file.write("[pytest]\n")
    alone = ["-p", "no:cacheprovider", "--noconftest", "-c", "pytest.ini", "--rootdir", "."]
    pytest.main(["-q", *alone, "--tb=line", "--junitxml=report.xml", "test_rehearsal.py"])
    sys.modules.pop("test_rehearsal", None)
    os.chdir("..")
    # What stays in a buffer would be written by every fork.
    sys.stdout.flush()
    sys.stderr.flush()


def answer(text):
    os.write(ANSWERS, (text + "\n").encode())


def work(request):
    os.close(ANSWERS)
    os.chdir(request["directory"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    if request["peer"]:
        peer = socket.socket(socket.AF_UNIX)
        peer.connect("peer")
        both = peer.detach()
        os.dup2(both, 10)
        os.close(both)
        os.dup2(10, 3)
        os.dup2(10, 4)
        os.close(10)
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["pytest", *request["arguments"]]
    status = int(pytest.main(request["arguments"]))
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def start(request):
    child = os.fork()
    if child:
        running[child] = request["id"]
        return
    status = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        status = work(request)
    except BaseException as error:
        os.write(2, repr(error).encode())
    finally:
        os._exit(status)


def receive(line):
    request = json.loads(line)
    if "kill" not in request:
        return start(request)
    for child, name in running.items():
        if name == request["kill"]:
            os.kill(child, signal.SIGKILL)


def reap():
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        name = running.pop(child, None)
        if name is not None:
            answer(name + " " + str(os.waitstatus_to_exitcode(status) % 256))


rehearse()
woken, waker = os.pipe()
os.set_blocking(waker, False)
signal.signal(signal.SIGCHLD, lambda *_: None)
signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
answer("ready")
pending = b""
while True:
    readable, _, _ = select.select([0, woken], [], [])
    if woken in readable:
        os.read(woken, 4096)
        reap()
    if 0 in readable:
        chunk = os.read(0, 65536)
        if not chunk:
            break
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            receive(line)
`
