#!/usr/bin/env bash
# A real Kubernetes for tests, as plain processes on loopback, built once from Go modules and cached.
#   servers.sh build        builds etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK (about 10 minutes cold)
#   servers.sh start DIR    starts them with fresh data in DIR; writes DIR/kubeconfig and DIR/pids
#   servers.sh stop DIR
set -euo pipefail
cache=${TAU_KUBERNETES_CACHE:-$HOME/.cache/taugrid/kubernetes}
kubernetes=1.37.2 etcd=3.7.3 kwok=0.8.0

have_all() { for n in etcd kube-apiserver kube-controller-manager kube-scheduler kwok; do [ -x "$cache/bin/$n" ] || return 1; done; [ -s "$cache/kwok.yaml" ]; }

build() {
  have_all && return 0
  command -v go >/dev/null || { echo "go is not installed" >&2; return 1; }
  local minor; minor=$(go version | sed -n 's/.*go1\.\([0-9]*\).*/\1/p')
  [ "${minor:-0}" -ge 26 ] || { echo "Go 1.26 or newer is needed, this is 1.$minor" >&2; return 1; }
  export CGO_ENABLED=0 GOFLAGS="-mod=mod -buildvcs=false"
  mkdir -p "$cache"/{bin,k8s,etcd,kwok}
  if [ ! -s "$cache/k8s/go.mod" ]; then
    # Kubernetes' own staging modules must all be of one version: its go.mod lists them.
    local source; source=$(cd "$cache/k8s" && go mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/.*"Dir": "\(.*\)",*/\1/p')
    { printf 'module taugrid.local/kubernetes\n\ngo 1.26.0\n\ngodebug default=go1.26\n\ntool (\n  k8s.io/kubernetes/cmd/kube-apiserver\n  k8s.io/kubernetes/cmd/kube-controller-manager\n  k8s.io/kubernetes/cmd/kube-scheduler\n)\n\nrequire k8s.io/kubernetes v%s\n\nreplace (\n' "$kubernetes"
      sed -n '/^replace/,$p' "$source/go.mod" | awk -v v="v0.${kubernetes#1.}" '/=>/ {print "  " $1 " => " $1 " " v}'; echo ')'; } >"$cache/k8s/go.mod"
  fi
  local version=k8s.io/component-base/version
  for n in kube-apiserver kube-controller-manager kube-scheduler; do
    [ -x "$cache/bin/$n" ] || { echo "building $n" >&2; (cd "$cache/k8s" && go build -trimpath -ldflags "-s -w -X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=37" -o "$cache/bin/$n" "k8s.io/kubernetes/cmd/$n"); }
  done
  if [ ! -x "$cache/bin/etcd" ]; then
    echo "building etcd" >&2
    cd "$cache/etcd"
    [ -s go.mod ] || { go mod init taugrid.local/etcd && go get -tool "go.etcd.io/etcd/server/v3@v$etcd"; }
    go build -trimpath -ldflags "-s -w" -o "$cache/bin/etcd" go.etcd.io/etcd/server/v3
  fi
  if [ ! -x "$cache/bin/kwok" ] || [ ! -s "$cache/kwok.yaml" ]; then
    echo "building kwok" >&2
    cd "$cache/kwok"
    [ -s go.mod ] || { go mod init taugrid.local/kwok && go get -tool "sigs.k8s.io/kwok/cmd/kwok@v$kwok"; }
    go build -trimpath -ldflags "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=v$kwok" -o "$cache/bin/kwok" sigs.k8s.io/kwok/cmd/kwok
    local stages; stages=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
    # Stages: a node becomes Ready, a pod Running, a Job's pod Succeeded, a deleted pod goes.
    for s in node/fast/node-initialize pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do echo "---"; cat "$stages/$s.yaml"; done >"$cache/kwok.yaml"
  fi
  have_all
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
background() { # NAME COMMAND...
  local name=$1; shift
  setsid "$@" >"$dir/$name.log" 2>&1 </dev/null &
  echo $! >>"$dir/pids"
}

start() {
  dir=$(mkdir -p "$1" && cd "$1" && pwd)
  : >"$dir/pids"
  local client peer api; client=$(free_port) peer=$(free_port) api=$(free_port)
  openssl genrsa -out "$dir/sa.key" 2048 2>/dev/null
  local token; token=$(openssl rand -hex 16)
  echo "$token,admin,admin,system:masters" >"$dir/tokens.csv"
  background etcd "$cache/bin/etcd" --data-dir "$dir/etcd" --unsafe-no-fsync --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "default=http://127.0.0.1:$peer"
  background apiserver "$cache/bin/kube-apiserver" --etcd-servers "http://127.0.0.1:$client" --secure-port "$api" --bind-address 127.0.0.1 --cert-dir "$dir/certs" --token-auth-file "$dir/tokens.csv" \
    --authorization-mode RBAC --service-cluster-ip-range 10.0.0.0/24 --service-account-key-file "$dir/sa.key" --service-account-signing-key-file "$dir/sa.key" --service-account-issuer https://kubernetes.default.svc \
    --disable-admission-plugins ServiceAccount --audit-policy-file "$(dirname "${BASH_SOURCE[0]}")/audit.yaml" --audit-log-path "$dir/audit.log"
  cat >"$dir/kubeconfig" <<EOF
apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$api", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: $token}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
EOF
  chmod 600 "$dir/kubeconfig" "$dir/tokens.csv"
  for _ in $(seq 1 600); do curl -sk -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "https://127.0.0.1:$api/readyz" 2>/dev/null | grep -q 200 && break; sleep 0.1; done
  background controller-manager "$cache/bin/kube-controller-manager" --kubeconfig "$dir/kubeconfig" --service-account-private-key-file "$dir/sa.key" --use-service-account-credentials=false --leader-elect=false --bind-address 127.0.0.1 --secure-port 0 --allocate-node-cidrs=false --kube-api-qps=500 --kube-api-burst=1000
  # The stock scheduler beside ours: pods that do not name taugrid are its own.
  background scheduler "$cache/bin/kube-scheduler" --kubeconfig "$dir/kubeconfig" --authentication-kubeconfig "$dir/kubeconfig" --authorization-kubeconfig "$dir/kubeconfig" --leader-elect=false --bind-address 127.0.0.1 --secure-port "$(free_port)"
  background kwok "$cache/bin/kwok" --kubeconfig "$dir/kubeconfig" --config "$cache/kwok.yaml" --manage-all-nodes=true --node-lease-duration-seconds=40 --server-address "127.0.0.1:$(free_port)"
}

# Last started, first ended: an API server without its etcd does not end. What has not gone in 15 s is killed.
stop() {
  local pid
  for pid in $(tac "$1/pids"); do
    kill "$pid" 2>/dev/null || continue
    for _ in $(seq 1 150); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2>/dev/null || true
  done
}

case ${1:-} in
  build) build ;;
  start) start "$2" ;;
  stop) stop "$2" ;;
  *) sed -n '2,6p' "$0"; exit 2 ;;
esac
