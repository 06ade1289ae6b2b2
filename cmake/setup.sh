# Sourced by ./run and ./test: installs missing packages, configures and builds. Quiet when there is nothing to do.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release

# Installs what a list of packages names and this machine lacks; a stamp remembers that a given list was complete.
install_packages() {
  local stamp=$root/build/packages.$(cksum <"$1" | tr ' ' '.')
  [ -e "$stamp" ] && return
  local names missing=() name
  names=$(grep -v '^#' "$1")
  for name in $names; do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    local sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    echo "Installing ${missing[*]} ..." >&2
    $sudo apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
  fi
  mkdir -p "$root/build"
  touch "$stamp"
}

configure() {
  [ -e "$build/build.ninja" ] || cmake --preset release -S "$root" >&2
}

# The documentation site, into build/site: packages of its own, no network once they are there, nothing of C++.
build_site() {
  install_packages "$root/docs/site/packages.txt"
  python3 -B "$root/docs/site/test_site.py" "$root/build" >&2
  echo "open $root/build/site/index.html"
  echo "or, for the search: python3 -m http.server -d $root/build/site 8000, then http://localhost:8000"
}
