#!/bin/sh
# Runs again every command whose modelled result stands in README.md, docs/ and the components' READMEs, and prints each
# under its own line, file by file. Modelled times do not depend on the machine this runs on.
#   tools/modelled_figures.sh [path of trnsci]        default: ./run
set -u
T=${1:-./run}
show() { echo "\$ trnsci $*"; "$T" "$@" 2>&1; echo; }
model() { operation=$1; exec=$2; shift 2; show bench "$operation" --exec "$exec" --model-only "$@"; }
square() { n=$1; shift; model blas.gemm sim:trn2 --m "$n" --n "$n" --k "$n" "$@"; }
ALL=sim:trn1,sim:trn2,sim:trn3

echo "== README.md"
for n in 4096 2048 1024 512 256 128; do square $n --dtype bf16; done
for n in 4096 1024; do square $n --dtype fp32; done
square 4096 --dtype tf32
square 4096 --dtype fp32 --precision tf32x3
square 4096 --dtype fp32 --precision bf16x6
square 4096 --dtype fp64 --precision exact

echo "== docs/simulator.md"
show validate
echo "== docs/machine.md"
show info
echo "== docs/follow-one-gemm.md"
show profile blas.gemm --m 256 --n 512 --k 256 --dtype bf16
show profile blas.gemm --m 4096 --n 4096 --k 4096 --dtype bf16
echo "== docs/precision.md"
model blas.gemm sim:trn1,sim:trn2,sim:trn3 --m 4096 --n 4096 --k 4096 --dtype fp64 --precision exact
show profile blas.gemm --m 4096 --n 4096 --k 4096 --dtype fp64 --precision exact

echo "== docs/mp2.md"
for shape in "21 420 93" "40 672 152" "64 1536 448"; do
  set -- $shape
  for extra in "" "--precision native" "--dtype fp64"; do
    # shellcheck disable=SC2086
    show profile blas.pair_energy --nocc "$1" --naux "$2" --nvir "$3" $extra
  done
  for extra in "" "--cores 8" "--precision tf32x3" "--precision tf32x3 --cores 8"; do
    # shellcheck disable=SC2086
    show mp2-model --nocc "$1" --naux "$2" --nvir "$3" $extra
  done
done

echo "== blas/README.md"
model blas.pair_energy $ALL --nocc 64 --naux 1536 --nvir 448
model blas.pair_energy $ALL --nocc 64 --naux 1536 --nvir 448 --dtype fp64
for extra in "" "--precision tf32x3"; do
  # shellcheck disable=SC2086
  model blas.trsm $ALL --m 4096 --n 4096 $extra
done
model blas.gemm_batched $ALL
model blas.gemm_batched sim:trn2 --listed
model blas.trsm_batched sim:trn2

echo "== tensor/README.md"
e() { model tensor.einsum sim:trn2 --expression "$1" --sizes "$2"; }
g() { model blas.gemm sim:trn2 --m "$1" --n "$2" --k "$3" --dtype fp32; }
e "ca,bc->ba" a=5136,b=5136,c=5136
for x in "fbea,ecfd->dcba" "fbea,cedf->dcba" "dfae,cebf->dcba"; do e "$x" a=72,b=72,c=72,d=72,e=72,f=72; done
g 5136 5136 5136
g 5184 5184 5184
for x in "dca,bd->cba" "dca,cbd->ba"; do e "$x" a=312,b=296,c=296,d=312; done
g 92352 296 312
g 312 296 92352
for x in "ceda,dbe->cba" "ce,deba->dcba"; do e "$x" a=72,b=72,c=72,d=72,e=72; done
g 5184 72 5184
g 72 373248 72
e "adb,cd->cba" a=312,b=312,c=24,d=312
g 24 97344 312
e "aebd,ce->dcba" a=72,b=72,c=24,d=72,e=72
g 24 373248 72
e "dabfe,fc->edcba" a=48,b=32,c=24,d=32,e=48,f=32
g 2359296 24 32
e "bafg,cged->fedcba" a=24,b=16,c=16,d=24,e=16,f=16,g=24
model blas.gemm sim:trn2 --m 6144 --n 6144 --k 24 --dtype fp32 --op-a T
for x in "bafg,cged->fedcba" "gfab,degc->abcdef"; do e "$x" a=24,b=24,c=24,d=24,e=24,f=24,g=24; done
model blas.gemm sim:trn2 --m 13824 --n 13824 --k 24 --dtype fp32 --op-a T
e "klcd,ic,jd,ka,lb,be->ijae" i=10,j=10,k=10,l=10,a=40,b=40,c=40,d=40,e=40
model tensor.permute sim:trn2
model tensor.permute sim:trn2 --expression "dfce->efcd" --sizes c=72,d=72,e=72,f=72
model tensor.reduce sim:trn2

echo "== docs/fft-figures.md and fft/README.md"
f() { kind=$1; shift; model "fft.$kind" sim:trn2 "$@"; }
f c2c --n 128 --batch 65536
f c2c --n 128 --batch 65536 --precision tf32x3
for op in r2c c2r; do f $op --n 128 --batch 65536; done
f c2c --n 97 --batch 65536
f c2c --n 1024 --batch 8192
f c2c --n 16384 --batch 512
f c2c --n 16384 --batch 512 --precision tf32x3
f c2c --n 16384 --batch 512 --precision bf16x6
for op in r2c c2r; do f $op --n 16384 --batch 512; done
f r2c --n 16384 --batch 512 --precision tf32x3
f c2c --n 32768 --batch 256
for op in r2c c2r; do f $op --n 32768 --batch 256; f $op --n 262144 --batch 32; done
for op in c2c r2c c2r; do f $op --n 2097152 --batch 1; done
for op in c2c r2c; do f $op --n 128 128 128 --batch 1; done
for op in c2c r2c c2r; do f $op --n 1021 --batch 4096; done
f c2c --n 16384 --batch 32 --dtype fp64 --precision exact
f dct --n 16 --batch 65536
for p in native tf32 bf16 tf32x3 bf16x6; do
  f dct --n 128 --batch 65536 --precision $p
  f convolve --n 65536 --m 64 --batch 64 --method direct --precision $p
done
f dct --n 1024 --batch 8192
f dct --n 1024 --batch 8192 --type 4
f convolve --n 65536 --m 64 --batch 64 --method blocks
f stft --n 1048576 --batch 4 --n-fft 128 --hop 32
f stft --n 1048576 --batch 4 --n-fft 512 --hop 128

echo "== rand/README.md"
r() { draw=$1; shift; model "rand.$draw" $ALL --count 67108864 "$@"; show profile "rand.$draw" --count 67108864 "$@"; }
for d in raw32 normal log_normal exponential laplace weibull cauchy bernoulli; do r $d --algorithm philox; done
for d in raw32 normal exponential cauchy; do r $d --algorithm threefry; done
r raw32 --algorithm sobol32
r raw32 --algorithm sobol32 --position 5
r uniform --algorithm sobol32
model rand.raw32 sim:trn2 --count 4096 --algorithm philox
