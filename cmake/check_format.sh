#!/usr/bin/env bash
# Every C++ file is as clang-format (Debian 12's, version 14) leaves it, and no line is longer than 120 columns.
# clang-format does not touch comments (.clang-format says why), so their width is looked at here.
# To repair: cmake/check_format.sh --repair
set -euo pipefail
cd "$(dirname "$0")/.."
files() { find apps blas capi/src capi/test comm comm_mpi core dropin examples fft include neuron python/src rand solver $(ls -d sparse tensor 2> /dev/null) tests tile tools -name '*.cpp' -o -name '*.hpp' -o -name '*.h'; }
if [ "${1:-}" = --repair ]; then
  files | xargs clang-format -i
fi
status=0
files | xargs clang-format --dry-run -Werror || status=1
# The web page of the reports is text of another language inside raw strings.
if files | grep -v '^neuron/src/report/html' | xargs awk 'length > 120 { print FILENAME ":" FNR ": longer than 120 columns"; found = 1 } END { exit found }'; then
  :
else
  status=1
fi
exit $status
