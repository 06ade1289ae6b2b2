#!/bin/sh
# exports.sh NM LIBRARY FOLDER: FOLDER/exports.map exports the names that LIBRARY exports, and nothing else; FOLDER/wanted.ld names them
# as undefined symbols, so that the linker takes them from archives.
set -eu
nm=$1 library=$2 folder=$3
"$nm" -D --defined-only "$library" | awk '$2 ~ /[TDBWVR]/ { sub(/@.*/, "", $3); print $3 }' |
  grep -vE '^((__)?xerbla_?|_init|_fini|_edata|_end|__bss_start)$' | sort -u > "$folder/exports.txt"
test "$(wc -l < "$folder/exports.txt")" -gt 1900
{ echo '{ global:'; sed 's/$/;/' "$folder/exports.txt"; echo 'local: *; };'; } > "$folder/exports.map"
{ echo 'EXTERN('; cat "$folder/exports.txt"; echo ')'; } > "$folder/wanted.ld"
