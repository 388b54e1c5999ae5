"""A small test harness: runs the installed program in child processes only.

A test is a function with one argument, the context ``t``; it is registered
with ``@test(suite, name)``.  Standard library only.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

EXPECTED_TESTS = 46
PROGRAM = "tidequery"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEFAULT_TIMEOUT = 15.0
MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_READ_BYTES = 4 * 1024 * 1024
MAX_SHOWN = 4000
WORKERS = 2

TESTS = []


def product_user():
    """Who the program is to run as, in a hardened grade (uid, gid); None where the grade does not say."""
    uid, gid = (os.environ.get("E2E_SWE_PRODUCT_" + name) for name in ("UID", "GID"))
    return (int(uid), int(gid)) if uid and gid else None


PRODUCT = product_user()


def step_down():
    """Files are handled as the program's user too, whose links could lead anywhere; only the report is root's."""
    if PRODUCT is not None:
        uid, gid = PRODUCT
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.seteuid(uid)


def step_up():
    if PRODUCT is not None:
        os.seteuid(0)


def test(suite, name):
    def register(function):
        TESTS.append((suite, name, function))
        return function

    return register


class Failure(Exception):
    def __init__(self, message, expected, actual):
        super().__init__(message)
        self.what = message
        self.expected = expected
        self.actual = actual


class Result:
    """What one run of the program left behind."""

    def __init__(self, args, code, out, err):
        self.args = args
        self.code = code
        self.raw_out = out
        self.out = out.decode("utf-8", "backslashreplace")
        self.err = err.decode("utf-8", "backslashreplace")

    @property
    def command(self):
        return PROGRAM + " " + " ".join(self.args)


def shown(value):
    text = value if isinstance(value, str) else repr(value)
    if len(text) > MAX_SHOWN:
        text = text[:MAX_SHOWN] + f"... ({len(text)} characters)"
    return text


def limit_files():
    """Limits hold for the children too, which start faster than with a ``preexec_fn``."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def kill_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except OSError:
        pass


def ended_in_time(child, timeout):
    """Waits without polling, as ``Popen.wait(timeout)`` would; kills the whole group in any case."""
    late = threading.Event()

    def stop():
        late.set()
        kill_group(child)

    timer = threading.Timer(timeout, stop)
    timer.start()
    # Not reaped yet, so that the group's id cannot belong to anyone else.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    timer.cancel()
    timer.join()
    kill_group(child)
    child.wait()
    return not late.is_set()


def read_capped(file):
    file.seek(0)
    return file.read(MAX_READ_BYTES)


class Context:
    """One fresh folder and the checks of one test."""

    def __init__(self, folder):
        self.root = folder
        self.cwd = os.path.join(folder, "work")
        self.home = os.path.join(folder, "home")
        os.mkdir(self.cwd)
        os.mkdir(self.home)

    # -- files

    def path(self, name):
        return os.path.join(self.cwd, name)

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode("utf-8")
        with open(path, "wb") as file:
            file.write(data)

    def read(self, name):
        try:
            with open(self.path(name), "rb") as file:
                return file.read(MAX_READ_BYTES).decode("utf-8", "backslashreplace")
        except OSError:
            return None

    # -- running

    def run(self, *args, stdin="", timeout=DEFAULT_TIMEOUT, env=None):
        data = stdin if isinstance(stdin, bytes) else stdin.encode("utf-8")
        environment = {
            "PATH": PATH,
            "HOME": self.home,
            "TMPDIR": self.root,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }
        environment.update(env or {})
        command = shutil.which(PROGRAM, path=PATH)
        if command is None:
            raise Failure(
                f"the command {PROGRAM} is not on PATH",
                f"an executable {PROGRAM} on {PATH}",
                "not found",
            )
        with tempfile.TemporaryFile(dir=self.root) as given, tempfile.TemporaryFile(
            dir=self.root
        ) as out, tempfile.TemporaryFile(dir=self.root) as err:
            given.write(data)
            given.seek(0)
            try:
                child = subprocess.Popen(
                    [command, *args],
                    stdin=given,
                    stdout=out,
                    stderr=err,
                    cwd=self.cwd,
                    env=environment,
                    start_new_session=True,
                    # Of the real user root nothing is left to the child.
                    user=PRODUCT and PRODUCT[0],
                )
            except OSError as error:
                raise Failure(
                    f"the command {PROGRAM} cannot be started", "a program", str(error)
                ) from None
            if not ended_in_time(child, timeout):
                raise Failure(
                    f"{PROGRAM} {' '.join(args)} did not end in time",
                    f"an end within {timeout:g} s",
                    "still running",
                )
            return Result(args, child.returncode, read_capped(out), read_capped(err))

    # -- checks

    def equal(self, actual, expected, what):
        if actual != expected:
            raise Failure(what, expected, actual)

    def succeeded(self, result):
        if result.code != 0:
            raise Failure(
                f"exit status of: {result.command}",
                "exit status 0",
                f"exit status {result.code}\n{result.err}",
            )

    def prints(self, expected, *args, **options):
        """The run succeeds and prints exactly this."""
        result = self.run(*args, **options)
        self.succeeded(result)
        self.equal(result.out, expected, f"standard output of: {result.command}")

    def query(self, text, expected, *args, form="csv", **options):
        """The query of ``-e`` gives exactly this output."""
        self.prints(expected, "run", "-e", text, "-f", form, *args, **options)

    def expressions(self, *pairs, source="one.csv"):
        """Each expression has the value whose compact JSON is given."""
        self.write("one.csv", "one\n1\n")
        items = [f"e{number} = {text}" for number, (text, _) in enumerate(pairs, 1)]
        members = [f'"e{number}":{value}' for number, (_, value) in enumerate(pairs, 1)]
        query = f'from "{source}" | select ' + ", ".join(items)
        self.query(query, "{" + ",".join(members) + "}\n", form="jsonl")

    def fails(self, kind, place, *args, contains=(), lacks=(), **options):
        """The run fails with this kind of error at this place, and says or does not say these things."""
        status = {
            "syntax": 1, "name": 1, "call": 1, "usage": 2, "data": 3,
            "type": 4, "value": 4, "assert": 4,
        }[kind]  # fmt: skip
        result = self.run(*args, **options)
        if result.code != status:
            raise Failure(
                f"exit status of: {result.command}",
                f"exit status {status} ({kind} error)",
                f"exit status {result.code}\n{result.err}{result.out}",
            )
        self.equal(result.out, "", f"standard output with an error: {result.command}")
        first = result.err.split("\n", 1)[0]
        start = f"{place}: {kind} error: "
        if not first.startswith(start):
            raise Failure(f"standard error of: {result.command}", start + "...", first)
        for part in contains:
            if part not in first:
                raise Failure(f"message of: {result.command}", f"... {part} ...", first)
        for part in lacks:
            if part in result.err:
                raise Failure(f"message of: {result.command}", f"nothing like {part}", result.err)

    def query_fails(self, kind, marked, *args, **options):
        """The query of ``-e`` fails at the place which ``^`` marks in the text."""
        before, _, after = marked.partition("^")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        place = f"<query>:{line}:{column}"
        self.fails(kind, place, "run", "-e", before + after, *args, **options)


# ------------------------------------------------------------------- reporting


def now_ms():
    return int(time.time() * 1000)


def failing_line(error, folder):
    """File and line of the innermost frame in a suite file."""
    place = ("harness.py", 0)
    for frame in traceback.extract_tb(error.__traceback__):
        name = os.path.basename(frame.filename)
        if os.path.dirname(os.path.abspath(frame.filename)) == folder and name.startswith("suite_"):
            place = (name, frame.lineno)
    return place


def describe(suite, name, function):
    return {
        "name": name,
        "status": "failed",
        "duration": 0,
        "suite": [suite],
        "filePath": "/tests/" + os.path.basename(function.__code__.co_filename),
        "line": function.__code__.co_firstlineno,
    }


def failed(entry, message, expected, actual, trace):
    entry.update(
        status="failed",
        message=f"{message}\nExpected: {shown(expected)}\nReceived: {shown(actual)}",
        trace=trace,
        extra={"expected": shown(expected), "actual": shown(actual)},
    )


def run_one(job):
    suite, name, function, folder = job
    entry = describe(suite, name, function)
    started = time.monotonic()
    try:
        root = tempfile.mkdtemp(prefix="tidequery-test-")
        try:
            function(Context(root))
            entry["status"] = "passed"
        finally:
            shutil.rmtree(root, ignore_errors=True)
    except BaseException as error:  # a crash of one test never loses others
        file_name, line = failing_line(error, folder)
        entry["filePath"], entry["line"] = "/tests/" + file_name, line
        trace = "".join(traceback.format_exception(error)).replace(folder, "/tests")[-MAX_SHOWN:]
        if isinstance(error, Failure):
            failed(entry, error.what, error.expected, error.actual, trace)
        else:
            text = f"{type(error).__name__}: {error}"
            failed(entry, "the test itself crashed", "no exception", text, trace)
    entry["duration"] = int((time.monotonic() - started) * 1000)
    return entry


def report(entries, start, stop):
    counts = {"passed": 0, "failed": 0}
    for entry in entries:
        counts[entry["status"]] += 1
    return {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "results": {
            "tool": {"name": "tidequery-harness", "version": "1.0.0"},
            "summary": {
                "tests": len(entries),
                "passed": counts["passed"],
                "failed": counts["failed"],
                "skipped": 0,
                "pending": 0,
                "other": 0,
                "start": start,
                "stop": stop,
            },
            "tests": entries,
        },
    }


def write_report(path, data):
    temporary = path + ".part"
    with open(temporary, "w", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(data, file, indent=2, ensure_ascii=False)
        file.write("\n")
    os.replace(temporary, path)


def main(path, folder):
    """Run all registered tests; true if every expected test passed."""
    start = now_ms()
    limit_files()
    entries = [describe(*entry) for entry in TESTS]
    for entry in entries:
        failed(entry, "the test was not run", "a result", "no result", "")
    write_report(path, report(entries, start, start))
    jobs = [(*entry, folder) for entry in TESTS]
    step_down()
    try:
        with ThreadPoolExecutor(WORKERS) as pool:
            entries = list(pool.map(run_one, jobs))
    finally:
        step_up()
    write_report(path, report(entries, start, now_ms()))
    passed = sum(entry["status"] == "passed" for entry in entries)
    for entry in entries:
        print(f"{entry['status']:6} {entry['duration']:6} ms  {entry['suite'][0]}: {entry['name']}")
        if entry["status"] != "passed":
            print("    " + entry["message"].replace("\n", "\n    "))
    print(f"{passed} of {len(entries)} tests passed, {EXPECTED_TESTS} expected")
    sys.stdout.flush()
    return passed == len(entries) == EXPECTED_TESTS
