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

# A run of an earlier time keeps its name until its time to live is over; then this one gets a name of its own.
name=gpu-smoke-test
run show $name >/dev/null 2>&1 && name=gpu-smoke-test-$(date +%H%M%S)
say "submitting examples/gpu-smoke-test.yaml as $name"
sed "s/^  name: gpu-smoke-test$/  name: $name/" examples/gpu-smoke-test.yaml >"$state/quickstart.yaml"
run run -f "$state/quickstart.yaml" --wait || die "the smoke-test Job did not succeed; see: $tau --state $state show $name"

say "its queue"
run queue list
say "its log"
run logs "$name"
say "what it got"
run show "$name"
echo
say "Done. Go on:"
cat >&2 <<EOF
  export KUBECONFIG=$state/kubeconfig     stock kubectl works: kubectl get nodes,jobs,pods
  alias tau=$tau
  tau run --gpus 1 -- nvidia-smi          queue a command
  tau ps ; tau why RUN ; tau logs RUN     look
  tau down                                stop (state is kept in $state)
EOF
