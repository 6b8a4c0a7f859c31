#!/usr/bin/env bash
# From a fresh Debian 12 machine to a finished GPU job: installs, builds, starts the platform with two simulated
# 8-GPU nodes, runs the smoke-test Job, shows what happened. Can be run again at any time.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
state=${TAU_STATE:-$HOME/.tau}

need_packages
say "building the release"
build release tau
tau="$PWD/build/release/src/cmd/tau"
if "$tau" --state "$state" status >/dev/null 2>&1; then
  say "using the platform that runs already"
else
  say "starting the platform in the background"
  "$tau" --state "$state" up --detach --nodes 2x8xH100
fi
run() { "$tau" "$@" --state "$state"; }

say "submitting examples/gpu-smoke-test.yaml"
run cancel gpu-smoke-test --yes >/dev/null 2>&1 || true
for _ in $(seq 1 100); do # a finished one of an earlier time makes way
  run delete-job gpu-smoke-test >/dev/null 2>&1 || break
done
run run -f examples/gpu-smoke-test.yaml --wait || die "the smoke-test Job did not succeed; see: $tau --state $state show gpu-smoke-test"

say "its queue"
run queue list
say "its log"
run logs gpu-smoke-test
say "what it got"
run show gpu-smoke-test
echo
say "Done. Go on:"
cat >&2 <<EOF
  export KUBECONFIG=$state/kubeconfig     stock kubectl works: kubectl get nodes,jobs,pods
  alias tau=$tau
  tau run --gpus 1 -- nvidia-smi          queue a command
  tau ps ; tau why RUN ; tau logs RUN     look
  tau down                                stop (state is kept in $state)
EOF
