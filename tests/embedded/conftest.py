"""`tau up` as a process on a state folder of its own, with stock kubectl of two minor versions."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import TAU, run, start_time, wait_for  # noqa: E402


class Platform:
    def __init__(self, state, nodes):
        self.state, self.nodes = str(state), nodes
        self.kubectl_path = os.environ.get("KUBECTL_137", "kubectl")
        self.env = {"KUBECONFIG": self.state + "/kubeconfig", "HOME": self.state}

    def up(self):
        done = run(TAU, "up", "--detach", "--state", self.state, *(["--nodes", self.nodes] if self.nodes else []), "--durability", "normal")
        assert done.code == 0, done
        wait_for(lambda: len(self.tau("node", "list", "-o", "json").json()["items"]) > 0, "nodes")

    def down(self, *words):
        return run(TAU, "down", "--state", self.state, *words)

    def kill(self):
        """kill -9, and waits until the process has gone."""
        pid = self.pid()
        os.kill(pid, 9)
        wait_for(lambda: start_time(pid) is None, "its end")

    def pid(self):
        return int(open(self.state + "/pid").read().split()[0])

    def tau(self, *words, **more):
        return run(TAU, "--state", self.state, *words, **more)

    def kubectl(self, *words, stdin=None, timeout=90):
        return run(self.kubectl_path, *words, stdin=stdin, env=self.env, timeout=timeout)

    def get(self, *words):
        return self.kubectl("get", *words, "-o", "json").json()

    def run_view(self, name):
        done = self.tau("show", name, "-o", "json")
        return done.json() if done.code == 0 else {}

    def wait_phase(self, name, phase, seconds=60):
        wait_for(lambda: self.run_view(name).get("phase") == phase, lambda: f"{name} {phase}; it is {self.run_view(name)}", seconds)


@pytest.fixture
def start(tmp_path):
    made = []

    def begin(nodes="2x8xH100"):
        platform = Platform(tmp_path / f"state{len(made)}", nodes)
        made.append(platform)
        platform.up()
        return platform

    try:
        yield begin
    finally:
        for platform in made:
            platform.down("--pods")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    platform = Platform(tmp_path_factory.mktemp("shared") / "state", "2x8xH100")
    try:
        platform.up()
        yield platform
    finally:
        platform.down("--pods")
