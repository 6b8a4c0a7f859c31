#!/usr/bin/env python3
"""The rules that a machine can check. Prints each violation as FILE:LINE: what; exit 1 if there is one.

Run from anywhere, no dependencies. Exceptions are below, each with its reason.
"""
import re
import subprocess
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent

system_modules = {"host", "cmd"}  # these may touch the operating system
max_file_lines, max_readme_lines = 500, 40

long_file_exceptions = [
    (r"_test\.cc$", "tables of cases"),
    (r"^src/kube/(types|schema_text)_\w+\.cc$", "field and schema tables"),
    (r"^scenarios/", "each scenario stands for itself"),
    (r"^tests/", "end-to-end tests read as one story"),
    (r"^(LICENSE|deploy/crds/)", "not written by hand"),
]
banned_call_exceptions = {}  # (file, pattern name) -> reason
word_exceptions = {"tools/tidy.py": "lists the words"}

banned_calls = {
    "a clock": r"\b(system|steady|high_resolution)_clock::now",
    "a thread": r"\bstd::(jthread|thread)\b|#include <thread>",
    "a mutex": r"\bstd::(\w+_)?mutex\b|#include <(shared_)?mutex>",
    "a file": r"#include <fstream>|\bfopen\(",
    "a socket": r"#include <(sys/socket|netinet/\w+|arpa/inet|netdb)\.h>|#include <boost/asio",
    "the environment": r"\b(secure_)?getenv\(",
    "chance of its own": r"(?<![\w.>:])s?rand\(|\bstd::rand\b|\brandom_device\b",
    "a sleep": r"\bsleep_(for|until)\b|(?<![\w.>:])u?sleep\(",
}
forbidden_words = [r"/work/", r"\bsub-?agent", r"\bissue #?\d+"]

problems = []


def report(path, line, what):
    problems.append(f"{path}:{line}: {what}")


def tracked_files():
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):  # a source archive
        skipped = {"build", ".git"}
        listed = [str(p.relative_to(root)) for p in root.rglob("*")
                  if p.is_file() and p.relative_to(root).parts[0] not in skipped]
    return sorted(f for f in listed if (root / f).is_file() and not f.startswith("shared/"))


def text_of(path):
    try:
        return (root / path).read_text()
    except UnicodeDecodeError:
        return ""


def read_modules(files):
    """folder -> (name, allowed modules, modules allowed to tests)"""
    modules = {}
    for path in files:
        if not (path.startswith("src/") and path.endswith("CMakeLists.txt")):
            continue
        text = re.sub(r"#.*", "", text_of(path))
        for body in re.findall(r"\btau_module\(([^)]*)\)", text):
            words, lists, key = body.split(), {"DEPS": [], "LIBS": [], "TEST_DEPS": []}, None
            for word in words[1:]:
                if word in lists:
                    key = word
                elif key:
                    lists[key].append(word)
            modules[str(Path(path).parent)] = (words[0], set(lists["DEPS"]), set(lists["TEST_DEPS"]))
    return modules


def module_of(path, modules):
    folder = Path(path).parent
    while str(folder) not in ("", "."):
        if str(folder) in modules:
            return str(folder)
        folder = folder.parent
    return None


def is_test(path):
    name = Path(path).name
    return name.endswith("_test.cc") or "/testing/" in path


def check_includes(path, text, modules):
    folder = module_of(path, modules)
    if folder is None:
        return
    name, allowed, for_tests = modules[folder]
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'#include "([^"]+)"', line)
        if not found:
            continue
        target = "src/" + found[1]
        other = module_of(target, modules)
        if other is None or not (root / target).is_file():
            report(path, number, f'include "{found[1]}" is not a file of src/')
            continue
        other_name = modules[other][0]
        if other_name == name or other_name in allowed or (is_test(path) and other_name in for_tests):
            continue
        report(path, number, f"{name} may not include {other_name} (see DEPS in {folder}/CMakeLists.txt)")


def check_cycles(modules):
    deps = {name: allowed for name, allowed, _ in modules.values()}
    state = {}

    def visit(name, path):
        if state.get(name) == "done":
            return
        if name in path:
            report("src", 1, "modules depend on each other: " + " -> ".join(path[path.index(name):] + [name]))
            return
        for other in sorted(deps.get(name, ())):
            visit(other, path + [name])
        state[name] = "done"

    for name in sorted(deps):
        visit(name, [])
    for name, allowed in sorted(deps.items()):
        if "host" in allowed and name != "cmd":
            report("src", 1, f"{name} depends on host; only cmd may")
    if deps.get("engine", {"base"}) - {"base"}:
        report("src/engine/CMakeLists.txt", 1, "engine may depend on base alone")


def check_banned_calls(path, text, modules):
    folder = module_of(path, modules)
    if folder is None or modules[folder][0] in system_modules:
        return
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r'"(\\.|[^"\\])*"|//.*', '""', line) if not line.startswith("#include") else line
        for what, pattern in banned_calls.items():
            if re.search(pattern, code) and (path, what) not in banned_call_exceptions:
                report(path, number, f"{what}: only host may (pass Loop or Rng in)")


def check_header(path, text):
    if not text.startswith("//"):
        report(path, 1, "a header opens with a comment on what it is")
    if not re.search(r"^#pragma once$", text, re.M):
        report(path, 1, "no #pragma once")
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"#include <(iostream|regex)>", line):
            report(path, number, "no <iostream> or <regex> in a header")


def check_size(path, text):
    lines = text.count("\n")
    if lines > max_file_lines and not any(re.search(p, path) for p, _ in long_file_exceptions):
        report(path, lines, f"longer than {max_file_lines} lines: split by topic")


def check_readmes(modules):
    for folder, (name, _, _) in sorted(modules.items()):
        readme = root / folder / "README.md"
        if not readme.is_file():
            report(folder, 1, "no README.md")
        elif (lines := readme.read_text().count("\n")) > max_readme_lines:
            report(f"{folder}/README.md", lines, f"longer than {max_readme_lines} lines")


def check_links(path, text):
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            in_code = not in_code
        if in_code:
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            target = target.split("#")[0]
            if target and "://" not in target and not ((root / path).parent / target).exists():
                report(path, number, f"link to {target}, which is not there")


def check_named_files(path):
    """Every file that the page names in backquotes exists."""
    if not (root / path).is_file():
        report(path, 1, "is not there")
        return
    for number, line in enumerate(text_of(path).splitlines(), 1):
        for name in re.findall(r"`((?:src|examples|tools|scripts)/[\w./-]+\.\w+)`", line):
            if not (root / name).is_file():
                report(path, number, f"names {name}, which is not there")


def check_words(path, text):
    if path in word_exceptions:
        return
    for number, line in enumerate(text.splitlines(), 1):
        for pattern in forbidden_words:
            if found := re.search(pattern, line, re.I):
                report(path, number, f'"{found[0]}": the product speaks of itself alone')


def main():
    files = tracked_files()
    modules = read_modules(files)
    check_cycles(modules)
    check_readmes(modules)
    check_named_files("docs/life_of_a_pod.md")
    check_named_files("docs/architecture.md")
    for path in files:
        text = text_of(path)
        check_words(path, text)
        check_size(path, text)
        if path.endswith(".md"):
            check_links(path, text)
        if path.startswith("src/") and path.endswith((".h", ".cc")):
            check_includes(path, text, modules)
            check_banned_calls(path, text, modules)
        if path.startswith("src/") and path.endswith(".h"):
            check_header(path, text)
    for problem in problems:
        print(problem)
    print(f"tidy: {len(files)} files, {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
