"""The plane on a real API server with KWOK nodes: queued, bound by TauGrid with one write per pod, finished."""
import json
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import TAU, job, run, wait_for  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
KUBECTL = os.environ.get("KUBECTL_137", "kubectl")
QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
spec: {}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: default, annotations: {taugrid.io/quota: auto}}
spec:
  namespaceSelector: {}
  queueingStrategy: BestEffortFIFO
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu, pods]
    flavors:
    - name: default
      resources: [{name: cpu, nominalQuota: "0"}, {name: memory, nominalQuota: "0"}, {name: nvidia.com/gpu, nominalQuota: "0"}, {name: pods, nominalQuota: "0"}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: default, namespace: default}
spec: {clusterQueue: default}
"""


def node(name, gpus):
    amounts = {"cpu": "32", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    return json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}, "annotations": {"kwok.x-k8s.io/node": "fake"}},
                       "status": {"capacity": amounts, "allocatable": amounts}})


class Cluster:
    def __init__(self, folder):
        self.folder = str(folder)
        self.env = {"KUBECONFIG": self.folder + "/kubeconfig"}
        self.controller = None

    def start_controller(self):
        log = open(self.folder + "/controller.log", "a")
        self.controller = subprocess.Popen([TAU, "controller", "--kubeconfig", self.env["KUBECONFIG"], "--state", self.folder + "/state"], stdout=log, stderr=log)

    def stop_controller(self):
        if self.controller:
            self.controller.terminate()
            assert self.controller.wait(20) == 0
            self.controller = None

    def kubectl(self, *words, stdin=None):
        return run(KUBECTL, *words, stdin=stdin, env=self.env)

    def get(self, *words):
        return self.kubectl("get", *words, "-o", "json").json()

    def our_writes(self, pod):
        """(verb, subresource) of every write of TauGrid about one pod, from the API server's audit log."""
        with open(self.folder + "/audit.log") as log:
            events = [json.loads(line) for line in log]
        return [(e["verb"], e["objectRef"].get("subresource", "")) for e in events
                if e.get("userAgent", "").startswith("taugrid") and e.get("objectRef", {}).get("name") == pod]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kubernetes")
    made = None
    try:
        subprocess.run([HERE + "/servers.sh", "start", str(folder)], check=True, timeout=120)
        made = Cluster(folder)
        wait_for(lambda: made.kubectl("get", "namespace", "default").code == 0, "the API server")
        assert made.kubectl("apply", "--server-side", "-f", ROOT + "/deploy/crds/kueue.yaml").code == 0
        wait_for(lambda: made.kubectl("get", "workloads", "-A").code == 0, "the CRDs")
        wait_for(lambda: made.kubectl("apply", "-f", "-", stdin=QUEUES).code == 0, "the queues")
        for i in range(3):
            assert made.kubectl("create", "-f", "-", stdin=node(f"kwok-{i}", 1)).code == 0
        made.start_controller()
        wait_for(lambda: all(any(c["type"] == "Ready" and c["status"] == "True" for c in n["status"].get("conditions", [])) for n in made.get("nodes")["items"]), "ready nodes")
        yield made
    finally:
        try:
            if made:
                made.stop_controller()
        finally:
            subprocess.run([HERE + "/servers.sh", "stop", str(folder)], timeout=90)


def queued_job(name, pods=1, gpus=1):
    return job(name, pods=pods, gpus=gpus, suspended=True, scheduler="taugrid", labels={"app": name, "kueue.x-k8s.io/queue-name": "default"})


def complete(cluster, name):
    return any(c["type"] == "Complete" and c["status"] == "True" for c in cluster.get("job", name)["status"].get("conditions", []))


def test_the_smoke_test_is_queued_bound_once_and_completes(cluster):
    assert cluster.kubectl("apply", "-f", "-", stdin=queued_job("smoke")).code == 0
    wait_for(lambda: complete(cluster, "smoke"), lambda: json.dumps(cluster.get("workloads")["items"], indent=1) + open(cluster.folder + "/controller.log").read()[-2000:])
    pod = cluster.get("pods", "-l", "app=smoke")["items"][0]
    assert pod["spec"]["nodeName"].startswith("kwok-")
    assert cluster.our_writes(pod["metadata"]["name"]) == [("create", "binding")]
    workload = cluster.get("workloads")["items"][0]
    assert {c["type"]: c["status"] for c in workload["status"]["conditions"]}["Admitted"] == "True"


def test_a_gang_of_four_on_three_nodes_waits_and_starts_whole(cluster):
    assert cluster.kubectl("apply", "-f", "-", stdin=queued_job("gang", pods=4)).code == 0

    def told():
        for workload in cluster.get("workloads")["items"]:
            if workload["metadata"]["name"].startswith("job-gang"):
                return [c["message"] for c in workload.get("status", {}).get("conditions", []) if c["type"] == "QuotaReserved" and c["status"] == "False"]
        return None

    message = wait_for(told, "a reason for waiting")[0]
    assert "4 GPUs" in message and "3" in message, message
    assert cluster.get("pods", "-l", "app=gang")["items"] == []
    assert cluster.kubectl("create", "-f", "-", stdin=node("kwok-3", 1)).code == 0
    wait_for(lambda: complete(cluster, "gang"), lambda: json.dumps(cluster.get("workloads")["items"], indent=1))
    assert len({p["spec"]["nodeName"] for p in cluster.get("pods", "-l", "app=gang")["items"]}) == 4


def test_a_controller_killed_while_it_admits_binds_nothing_twice(cluster):
    assert cluster.kubectl("apply", "-f", "-", stdin=queued_job("killed", pods=4)).code == 0
    wait_for(lambda: any(w["metadata"]["name"].startswith("job-killed") and w.get("status", {}).get("admission") for w in cluster.get("workloads")["items"]), "admission")
    cluster.controller.kill()
    cluster.controller.wait(20)
    cluster.start_controller()
    # The dead one's lease must run out first.
    wait_for(lambda: complete(cluster, "killed"), lambda: json.dumps(cluster.get("workloads")["items"], indent=1), seconds=90)
    pods = cluster.get("pods", "-l", "app=killed")["items"]
    assert len(pods) == 4 and len({p["spec"]["nodeName"] for p in pods}) == 4
    for pod in pods:
        assert cluster.our_writes(pod["metadata"]["name"]) == [("create", "binding")]


def test_pods_of_the_stock_scheduler_are_left_to_it_and_counted(cluster):
    others = json.loads(job("others"))["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "others"}, "spec": others["spec"]}
    pod["spec"]["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": "1"}
    # A KWOK pod runs on: only pods of Jobs are completed.
    assert cluster.kubectl("create", "-f", "-", stdin=json.dumps(pod)).code == 0
    bound = wait_for(lambda: cluster.get("pod", "others")["spec"].get("nodeName"), "the stock scheduler's binding")
    assert cluster.our_writes("others") == []
    assert cluster.kubectl("apply", "-f", "-", stdin=queued_job("beside", pods=4)).code == 0

    def told():
        found = [w for w in cluster.get("workloads")["items"] if w["metadata"]["name"].startswith("job-beside")]
        return [c["message"] for w in found for c in w.get("status", {}).get("conditions", []) if c["type"] == "QuotaReserved" and c["status"] == "False"]

    message = wait_for(told, "a reason for waiting")[0]
    assert "4 GPUs" in message and "3" in message, (message, bound)
    assert cluster.kubectl("delete", "pod", "others", "--force", "--grace-period=0").code == 0
    wait_for(lambda: complete(cluster, "beside"), lambda: json.dumps(cluster.get("workloads")["items"], indent=1))


def test_the_policy_queues_plain_jobs_of_opted_in_namespaces_alone(cluster):
    installed = run(TAU, "controller", "--install-policy", "--kubeconfig", cluster.env["KUBECONFIG"])
    assert installed.code == 0, installed
    again = run(TAU, "controller", "--install-policy", "--kubeconfig", cluster.env["KUBECONFIG"])
    assert again.code == 0, again
    for namespace in ("team", "no-queue", "free"):
        assert cluster.kubectl("create", "namespace", namespace).code == 0
    for namespace in ("team", "no-queue"):
        assert cluster.kubectl("label", "namespace", namespace, "taugrid.io/managed=true").code == 0
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "default"}, "spec": {"clusterQueue": "default"}}
    assert cluster.kubectl("apply", "-n", "team", "-f", "-", stdin=json.dumps(queue)).code == 0

    def created(namespace, name, **more):
        done = cluster.kubectl("create", "-n", namespace, "--dry-run=server", "-o", "json", "-f", "-", stdin=job(name, **more))
        return done.json()["spec"].get("suspend", False), done.json()["spec"]["template"]["spec"]["schedulerName"], done.json()["metadata"]["labels"].get("kueue.x-k8s.io/queue-name")

    # The API server takes a new policy, and a new queue, into use a moment later.
    wait_for(lambda: created("team", "probe")[0], "the policy in use")
    assert created("team", "plain") == (True, "taugrid", "default")
    assert created("team", "named", labels={"kueue.x-k8s.io/queue-name": "other"}) == (True, "taugrid", "other")
    assert created("no-queue", "plain") == (False, "default-scheduler", None)
    assert created("free", "plain") == (False, "default-scheduler", None)
    assert created("free", "named", labels={"kueue.x-k8s.io/queue-name": "other"}) == (False, "default-scheduler", "other")

    assert cluster.kubectl("create", "-n", "team", "-f", "-", stdin=job("plain", gpus=1)).code == 0
    wait_for(lambda: any(c["type"] == "Complete" and c["status"] == "True" for c in cluster.get("job", "plain", "-n", "team")["status"].get("conditions", [])),
             lambda: json.dumps(cluster.get("workloads", "-n", "team")["items"], indent=1))


def test_two_controllers_take_turns(cluster):
    """The second waits for the Lease; it leads once the first gives it back, and no pod is bound twice."""
    log = open(cluster.folder + "/second.log", "w")
    second = subprocess.Popen([TAU, "controller", "--kubeconfig", cluster.env["KUBECONFIG"], "--state", cluster.folder + "/second"], stdout=log, stderr=log)
    try:
        wait_for(lambda: "waiting for its lease" in open(cluster.folder + "/second.log").read(), "the second waits")
        cluster.stop_controller()
        wait_for(lambda: "Ready" in open(cluster.folder + "/second.log").read(), "the second leads", seconds=30)
        assert cluster.kubectl("apply", "-f", "-", stdin=queued_job("handed-over", pods=2)).code == 0
        wait_for(lambda: complete(cluster, "handed-over"), lambda: open(cluster.folder + "/second.log").read()[-2000:])
        for pod in cluster.get("pods", "-l", "app=handed-over")["items"]:
            assert cluster.our_writes(pod["metadata"]["name"]) == [("create", "binding")]
    finally:
        second.terminate()
        second.wait(20)
