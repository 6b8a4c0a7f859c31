"""kill -9 of `tau up` at random moments under load. The writers' own log of acknowledged writes is the judge.

TAU_CRASH_ROUNDS sets the number of kills (a few by default; 50 is the full proof), TAU_CRASH_SEED repeats a run.
"""
import hashlib
import http.client
import json
import os
import random
import ssl
import threading

from support import job, start_time, wait_for

ROUNDS = int(os.environ.get("TAU_CRASH_ROUNDS", "3"))
SEED = int(os.environ.get("TAU_CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
WRITERS, PODS = 100, 20
GONE = "gone"


class Load:
    """What all writers share: where the server is, whether to go on, how much was acknowledged."""

    def __init__(self, state):
        self.state, self.ends, self.is_up = state, threading.Event(), threading.Event()
        self.lock, self.acknowledged, self.wrong = threading.Lock(), 0, []

    def open(self):
        port = int(open(self.state + "/port").read())
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=ssl.create_default_context(cafile=self.state + "/pki/ca.crt"))

    def count(self):
        with self.lock:
            self.acknowledged += 1

    def fail(self, what):
        with self.lock:
            self.wrong.append(what)


class Writer(threading.Thread):
    """One client with objects of its own. `kept` is what the server acknowledged last, `asked` the one write that may or may not
    have been done; anything else that is found is a loss."""

    def __init__(self, load, number):
        super().__init__(daemon=True)
        self.load, self.number, self.rng = load, number, random.Random(SEED * 1000 + number)
        self.is_job = number % 10 == 0
        self.path = "/apis/batch/v1/namespaces/default/jobs" if self.is_job else "/api/v1/namespaces/default/configmaps"
        self.kept, self.asked, self.connection, self.writes = {}, None, None, 0
        self.token = open(load.state + "/token").read()

    def call(self, method, path, body=None, kind="application/json"):
        if self.connection is None:
            self.connection = self.load.open()
        self.connection.request(method, path, body and json.dumps(body), {"Authorization": "Bearer " + self.token, "Content-Type": kind})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def object(self, name, value, version=None):
        if self.is_job:  # waits for ever: more GPUs than there are
            made = json.loads(job(name, gpus=1000))
        else:
            made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        made["metadata"]["annotations"] = {"value": value, "sum": hashlib.sha256(value.encode()).hexdigest()}
        if version and not self.is_job:
            made["metadata"]["resourceVersion"] = version
        return made

    def value_of(self, found):
        notes = found["metadata"]["annotations"]
        if hashlib.sha256(notes["value"].encode()).hexdigest() != notes["sum"]:
            self.load.fail(f"half a write: {found['metadata']['name']}")
        return notes["value"]

    def write(self):
        name = f"w{self.number}-{self.rng.randrange(3)}"
        before = self.kept.get(name, (GONE, None))
        self.writes += 1
        value = f"{self.writes}:" + "%x" % self.rng.getrandbits(2000)
        if before[0] == GONE:
            self.asked = (name, value)
            status, answer = self.call("POST", self.path, self.object(name, value))
        elif self.rng.random() < 0.25:
            value = GONE
            self.asked = (name, value)
            status, answer = self.call("DELETE", f"{self.path}/{name}?propagationPolicy=Background")
        else:
            self.asked = (name, value)
            made = self.object(name, value, before[1])
            if self.is_job:
                status, answer = self.call("PATCH", f"{self.path}/{name}", {"metadata": {"annotations": made["metadata"]["annotations"]}}, "application/merge-patch+json")
            else:
                status, answer = self.call("PUT", f"{self.path}/{name}", made)
        if status >= 300:
            self.load.fail(f"{name}: {status} {answer.get('message')}")
            return
        self.kept[name] = (value, None if value == GONE else answer["metadata"]["resourceVersion"])
        self.asked = None
        self.load.count()

    def settle(self):
        """Looks at every object of this writer, and learns what became of the write whose answer was lost."""
        for name, (value, version) in list(self.kept.items()) + ([(self.asked[0], (GONE, None))] if self.asked and self.asked[0] not in self.kept else []):
            status, found = self.call("GET", f"{self.path}/{name}")
            now = GONE if status == 404 else self.value_of(found)
            may_be = {value} | ({self.asked[1]} if self.asked and self.asked[0] == name else set())
            if now not in may_be:
                self.load.fail(f"{name}: acknowledged {value[:20]}, found {now[:20]}")
            if now == value and not self.is_job and now != GONE and found["metadata"]["resourceVersion"] != version:
                self.load.fail(f"{name}: version {version} acknowledged, {found['metadata']['resourceVersion']} found")
            self.kept[name] = (now, None if now == GONE else found["metadata"]["resourceVersion"])
        self.asked = None

    def run(self):
        is_lost = True
        while not self.load.ends.is_set() or is_lost:
            self.load.is_up.wait()
            try:
                if is_lost:
                    self.settle()
                    is_lost = False
                    continue
                self.write()
                self.load.ends.wait(self.rng.uniform(0.2, 0.6))  # about 250 writes a second of all together
            except (OSError, http.client.HTTPException):
                self.connection, is_lost = None, True
                self.load.ends.wait(0.05)


def test_no_acknowledged_write_and_no_running_pod_is_lost(start, tmp_path):
    print(f"TAU_CRASH_SEED={SEED} TAU_CRASH_ROUNDS={ROUNDS}")
    rng, platform = random.Random(SEED), start("3x8xH100")
    pods = tmp_path / "pods"
    pods.mkdir()
    names = [f"long-{i}" for i in range(PODS)]
    for name in names:
        # Kubernetes itself reads $$ as $.
        body = f"echo $$$$ > {pods}/{name}.pid; while [ ! -e {pods}/end ]; do sleep 0.1; done; echo once >> {pods}/{name}.done"
        assert platform.kubectl("create", "-f", "-", stdin=job(name, command=body)).code == 0
    wait_for(lambda: all((pods / f"{n}.pid").exists() and (pods / f"{n}.pid").read_text().strip() for n in names), "20 running pods")
    processes = {n: int((pods / f"{n}.pid").read_text()) for n in names}
    began = {n: start_time(p) for n, p in processes.items()}

    load = Load(platform.state)
    writers = [Writer(load, i) for i in range(WRITERS)]
    for writer in writers:
        writer.start()
    load.is_up.set()
    try:
        for _ in range(ROUNDS):
            goal = load.acknowledged + rng.randint(100, 500)
            wait_for(lambda: load.acknowledged >= goal or load.wrong, lambda: f"{goal} writes; {load.acknowledged} were acknowledged")
            load.is_up.clear()
            platform.kill()
            platform.up()
            load.is_up.set()
            assert {n: start_time(p) for n, p in processes.items()} == began, "the same processes run on"
            wait_for(lambda: sum(p["status"].get("phase") == "Running" for p in platform.get("pods")["items"]) == PODS, "the pods found again")
            assert not load.wrong, load.wrong[:10]
    finally:
        load.ends.set()
        load.is_up.set()
        for writer in writers:
            writer.join(60)
    assert not load.wrong, load.wrong[:10]
    assert not any(writer.is_alive() for writer in writers)
    print(f"{load.acknowledged} acknowledged writes")

    # Nothing that was not acknowledged is there, and all that was.
    found = {o["metadata"]["name"]: o["metadata"]["annotations"]["value"]
             for kind in ("configmaps", "jobs") for o in platform.get(kind)["items"] if o["metadata"]["name"].startswith("w")}
    assert found == {name: value for writer in writers for name, (value, _) in writer.kept.items() if value != GONE}
    newest = max(int(version) for writer in writers for _, version in writer.kept.values() if version)
    assert int(platform.kubectl("get", "--raw", "/api/v1/configmaps?limit=1").json()["metadata"]["resourceVersion"]) >= newest

    (pods / "end").touch()
    for name in names:
        platform.wait_phase(name, "Succeeded")
        assert platform.get("job", name)["status"]["succeeded"] == 1
        assert (pods / f"{name}.done").read_text() == "once\n"
    assert len([p for p in platform.get("pods")["items"] if p["metadata"]["labels"].get("app", "").startswith("long-")]) == PODS
