"""The acceptance walk's first step, command by command, with stock kubectl."""
import os
import subprocess

import pytest

from support import TAU, job, run, wait_for

EXAMPLE = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "gpu-smoke-test.yaml")
KUBECTLS = [os.environ[k] for k in ("KUBECTL_136", "KUBECTL_137") if k in os.environ] or ["kubectl"]


@pytest.mark.parametrize("kubectl", KUBECTLS)
def test_the_smoke_test_step_by_step(start, kubectl):
    p = start()
    p.kubectl_path = kubectl
    watch = subprocess.Popen([kubectl, "get", "pod", "-l", "app=gpu-smoke-test", "-w"], env={**os.environ, **p.env}, stdout=subprocess.PIPE, text=True)
    try:
        done = p.kubectl("apply", "-f", EXAMPLE)
        assert done.code == 0 and "job.batch/gpu-smoke-test created" in done.out, done
        done = p.kubectl("wait", "--for=condition=complete", "job/gpu-smoke-test", "--timeout=60s")
        assert done.code == 0, done
        done = p.kubectl("get", "job,pod", "-l", "app=gpu-smoke-test")
        assert "1/1" in done.out and "Completed" in done.out, done
        log = p.kubectl("logs", "-l", "app=gpu-smoke-test").out
        assert "GPU visibility check" in log and log.count("GPU-51300000-") == 1 and "H100" in log, log
        described = p.kubectl("describe", "pod", "-l", "app=gpu-smoke-test").out
        for reason in ("Scheduled", "Pulled", "Created", "Started"):
            assert reason in described, described
        nodes = p.kubectl("get", "nodes", "-o", r"custom-columns=NODE:.metadata.name,CAP:.status.capacity.nvidia\.com/gpu,ALLOC:.status.allocatable.nvidia\.com/gpu").out
        assert [line.split() for line in nodes.splitlines() if line.startswith("sim-")] == [["sim-0", "8", "8"], ["sim-1", "8", "8"]], nodes
        view = p.run_view("gpu-smoke-test")
        assert view["phase"] == "Succeeded" and view["queue"] == "default" and view["podList"][0]["gpus"][0] in log
        done = p.kubectl("apply", "-f", EXAMPLE)
        assert "unchanged" in done.out, done
        done = p.kubectl("delete", "job", "gpu-smoke-test")
        assert done.code == 0, done
    finally:
        watch.terminate()
        seen = watch.communicate()[0]
    assert "Completed" in seen, seen


def test_the_ttl_removes_the_job_and_its_gpu_is_still_known(start):
    p = start("1x8xH100")
    assert p.kubectl("apply", "-f", "-", stdin=job("short", ttl=1)).code == 0
    wait_for(lambda: p.kubectl("get", "job", "short").code != 0 and p.run_view("short").get("deleted"), "the Job's removal")
    wait_for(lambda: p.get("pods")["items"] == [], "the pods' removal")
    view = p.run_view("short")
    assert view["phase"] == "Succeeded" and view["podList"][0]["gpus"][0].startswith("GPU-51300000-")


def test_a_gang_of_four_on_three_free_nodes(start):
    p = start("4x1xH100")
    go = p.state + "/go"
    assert p.kubectl("apply", "-f", "-", stdin=job("holder", command=f"while [ ! -e {go} ]; do sleep 0.1; done")).code == 0
    p.wait_phase("holder", "Running")
    assert p.kubectl("apply", "-f", "-", stdin=job("gang", pods=4)).code == 0
    text = wait_for(lambda: (lambda out: out if "CAPACITY" in out else None)(p.tau("why", "gang").out), lambda: p.tau("why", "gang"))
    assert "3 of 4 pods fit at once" in text and "needs 4 GPUs, 3 free" in text, text
    assert p.get("pods", "-l", "app=gang")["items"] == []
    open(go, "w").close()
    p.wait_phase("gang", "Succeeded")
    assert len(p.run_view("gang")["nodes"]) == 4


def test_twelve_wanted_eight_free_runs_in_order(start):
    p = start("2x8xH100")
    go = p.state + "/go"
    assert p.kubectl("apply", "-f", "-", stdin=job("first", gpus=8, command=f"while [ ! -e {go} ]; do sleep 0.1; done")).code == 0
    p.wait_phase("first", "Running")
    for name in ("second", "third"):
        assert p.kubectl("apply", "-f", "-", stdin=job(name, pods=12)).code == 0
    text = wait_for(lambda: (lambda out: out if "WAITING_QUOTA" in out else None)(p.tau("why", "second").out), lambda: p.tau("why", "second"))
    assert "needs 12 GPUs, 8 of 16 free" in text, text
    assert p.run_view("third")["phase"] == "Queued"
    open(go, "w").close()
    p.wait_phase("third", "Succeeded")
    assert p.run_view("second")["admitted"] <= p.run_view("third")["admitted"]


def test_kubectl_also(shared, tmp_path):
    p = shared
    assert "containers" in p.kubectl("explain", "job.spec.template.spec").out
    done = p.kubectl("create", "--dry-run=server", "-o", "name", "-f", "-", stdin=job("dry"))
    assert done.code == 0 and p.kubectl("get", "job", "dry").code != 0, done
    assert p.kubectl("create", "-f", "-", stdin=job("also", command="sleep 300")).code == 0
    assert p.kubectl("patch", "job", "also", "-p", '{"metadata":{"labels":{"x":"before"}}}').code == 0
    assert p.get("job", "also")["metadata"]["labels"]["x"] == "before"
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/x: before/x: after/' \"$1\"\n")
    editor.chmod(0o755)
    p.env["KUBE_EDITOR"] = str(editor)
    assert p.kubectl("edit", "job", "also").code == 0
    assert p.get("job", "also")["metadata"]["labels"]["x"] == "after"
    for bad, words in ((job("bad").replace('"backoffLimit"', '"backoffLimits"'), ["unknown field", "spec.backoffLimits"]),
                       (job("bad").replace('"parallelism": 1', '"parallelism": "x"'), ["parallelism"])):
        done = p.kubectl("create", "-f", "-", stdin=bad)
        assert done.code != 0 and all(w in done.err for w in words), done
    done = p.kubectl("patch", "job", "also", "-p", '{"spec":{"completions":7}}')
    assert done.code != 0 and "immutable" in done.err, done
    assert p.kubectl("delete", "job", "also").code == 0
    wait_for(lambda: p.get("pods", "-l", "app=also")["items"] == [], "the pods' end")


def test_a_watch_survives_a_restart_and_running_pods_are_found_again(start):
    p = start("1x8xH100")
    go = p.state + "/go"
    assert p.kubectl("apply", "-f", "-", stdin=job("long", command=f"echo begin; while [ ! -e {go} ]; do sleep 0.1; done; echo end")).code == 0
    p.wait_phase("long", "Running")
    p.kill()
    p.up()
    assert p.run_view("long")["phase"] == "Running"
    open(go, "w").close()
    p.wait_phase("long", "Succeeded")
    assert p.kubectl("logs", "-l", "app=long").out.split() == ["begin", "end"]
    assert p.run_view("long")["podList"][0]["exitCode"] == 0


def test_the_command_line_speaks_clearly(shared):
    p = shared
    done = p.tau("ps", "-o", "json").json()
    assert done["kind"] == "RunList"
    assert p.tau("show", "nothing-like-it").code == 3
    assert "did you mean" in run(TAU, "statsu").err.lower()
    assert p.tau("run", "--name", "failing", "--wait", "--", "/bin/sh", "-c", "exit 7").code == 8
    assert p.tau("run", "--name", "fine", "--gpus", "1", "--wait", "--", "nvidia-smi", "-L").code == 0
    assert "GPU 0: NVIDIA H100" in p.tau("logs", "fine").out
    assert p.tau("cancel", "fine", "--yes").code == 5
    assert [q["name"] for q in p.tau("queue", "list", "-n", "default", "-o", "json").json()["items"]] == ["default"]
    assert p.tau("queue", "list", "-n", "kube-system", "-o", "json").json()["items"] == []
    assert p.tau("queue", "list").code == 0 and p.tau("node", "list", "-o", "wide").code == 0 and p.tau("status").code == 0
