#!/bin/sh
# rename.sh NM OBJCOPY ENTRIES FROM TO: copies the archive FROM to TO with every name that the archive ENTRIES defines for C prefixed by "trn_private_".
set -eu
nm=$1 objcopy=$2 entries=$3 from=$4 to=$5
# Defined symbols (text, data, weak) whose names are plain C: mangled ones begin with _Z.
"$nm" --defined-only --extern-only "$entries" | awk 'NF == 3 && $2 ~ /[TDBWVR]/ && $3 !~ /^_/ { print $3, "trn_private_" $3 }' | sort -u > "$to.names"
test -s "$to.names"
"$objcopy" --redefine-syms="$to.names" "$from" "$to.part"
mv "$to.part" "$to"
