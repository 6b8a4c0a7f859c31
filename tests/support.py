"""What the process-level tests share: running programs and waiting for conditions (never for a fixed time)."""
import json
import os
import subprocess
import time

TAU = os.environ.get("TAU", os.path.join(os.path.dirname(__file__), "..", "build", "release", "src", "cmd", "tau"))


def wait_for(condition, what, seconds=60):
    """The first true value of condition(); fails with `what` if none comes in time."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(0.1)


def start_time(pid):
    """Of a process, so that a reused pid is not taken for it; None once it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
            return None if fields[0] in "ZX" else fields[19]
    except FileNotFoundError:
        return None


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __repr__(self):
        return f"exit {self.code}\n{self.out}\n{self.err}"

    def json(self):
        assert self.code == 0, self
        return json.loads(self.out)


def run(*words, stdin=None, env=None, timeout=90):
    return Result(subprocess.run([str(w) for w in words], input=stdin, capture_output=True, text=True, timeout=timeout, env={**os.environ, **(env or {})}))


def job(name, pods=1, gpus=1, command="true", suspended=False, labels=None, scheduler=None, ttl=None, backoff=0):
    container = {"name": "main", "image": "host", "command": ["/bin/sh", "-c", command], "resources": {"requests": {"cpu": "100m"}}}
    if gpus:
        container["resources"] = {"requests": {"cpu": "100m", "nvidia.com/gpu": str(gpus)}, "limits": {"nvidia.com/gpu": str(gpus)}}
    spec = {"restartPolicy": "Never", "containers": [container]}
    if scheduler:
        spec["schedulerName"] = scheduler
    made = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels or {"app": name}},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": backoff, "template": {"metadata": {"labels": {"app": name}}, "spec": spec}}}
    if suspended:
        made["spec"]["suspend"] = True
    if ttl is not None:
        made["spec"]["ttlSecondsAfterFinished"] = ttl
    return json.dumps(made)
