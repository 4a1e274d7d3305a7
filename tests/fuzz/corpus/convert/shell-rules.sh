0#!/bin/bash
N=2; G=4; A=(--lr 1e-3 "b c"); A+=(--x ${1:-"d"})
if [[ "$N" == "2" ]] && [ -z "$Q" ]; then A+=(--y $((N * G))); elif [ -f z ]; then exit 1; fi
case $N in 1|2) B=${A[0]#--};; *) B=x;; esac
run() { local n=$1; shift; torchrun --nproc_per_node "$n" train.py "$@" "${A[@]}" $B; }
cat <<E > f.json
{"n": $N}
E
for i in {1..2}; do run $i `echo q` $(dirname /a/b); done
