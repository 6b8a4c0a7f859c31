"""The verbs that need no platform: benches, scenarios, the simulation."""
import re
from pathlib import Path

from support import TAU, run

scenarios = sorted(str(p) for p in (Path(__file__).parents[2] / "scenarios").glob("*.yaml"))


def test_benches_print_rows_for_programs():
    for bench in ("engine", "apiserver"):
        done = run(TAU, "bench", bench, "--runs", "1", "--json")
        assert done.code == 0, done
        rows = done.json()["items"]
        assert rows and all(row["seconds"] > 0 for row in rows), rows
    refused = run(TAU, "bench", "apiserver", "--runs", "0")
    assert refused.code == 2 and "--runs" in refused.err, refused


def test_no_scenario_differs():
    done = run(TAU, "scenario", *scenarios)
    passed, failed, skipped = map(int, re.search(r"(\d+) passed, (\d+) failed, (\d+) skipped", done.out).groups())
    assert done.code == 0 and failed == 0 and passed > 40, done
    # What is not supported is named, and never counted as passed.
    assert done.out.count("not supported") == skipped, done


def test_a_seed_does_again_what_it_did():
    first, second = (run(TAU, "simulate", "--seed", "3..4", "--log") for _ in range(2))
    assert first.code == 0 and "2 passed, 0 failed" in first.out, first
    assert first.out == second.out


def test_the_program_needs_only_what_every_machine_has():
    """It is one file to copy: the C library, and OpenSSL from the system so that its fixes come from there."""
    done = run("ldd", TAU)
    names = {line.split()[0].split("/")[-1].split(".so")[0] for line in done.out.splitlines()}
    assert names <= {"linux-vdso", "libssl", "libcrypto", "libc", "libm", "libpthread", "libdl", "librt", "ld-linux-x86-64"}, done
