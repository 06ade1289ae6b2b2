# Sourced by ./run and ./test: installs missing packages, configures and builds. Quiet when there is nothing to do.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release

# Installs what packages.txt names and this machine lacks; a stamp remembers that a given list was complete.
install_packages() {
  local stamp=$root/build/packages.$(cksum <"$root/packages.txt" | tr ' ' '.')
  [ -e "$stamp" ] && return
  local names missing=() name
  names=$(grep -v '^#' "$root/packages.txt")
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
