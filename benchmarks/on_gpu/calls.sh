#!/bin/bash
# Times whole calls from a program on a GPU, with the copies of the program's arrays.
#
#     bash benchmarks/on_gpu/calls.sh write DIR      # emits the texts; needs no GPU
#     bash benchmarks/on_gpu/calls.sh run DIR        # builds them with nvcc and times them
#
# Each text is built to run as one (-DANNOTUNE_MOST_PARTS=1), in parts as by default, and in others; with
# "sent" what kernels only add to is sent as well, in place of being added to on the host, which may end
# in other last bits. With "both-" the host computes that share of each call, with "gpus-2" two GPUs share it,
# if there are two. $PYTHON is the interpreter that has annotune, $ARCH the GPU's.
set -e
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../c_examples
shares="0 0.1 0.25 counter"
mode=$1 dir=$2
[ -n "$dir" ] || { sed -n 2,9p "$0"; exit 2; }

write() {
    mkdir -p "$dir"
    cat > "$dir/triad.c" <<'END'
void triad(int n, double *restrict a, const double *restrict b, const double *restrict c)
{
    /*@ begin PerfTuning (def input_params { param n = 100000000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 3.0 * c[i];
    /*@ end @*/
}
END
    emit="${PYTHON:-python} -m annotune emit --target cuda"
    $emit "$dir/triad.c" -o "$dir/TRIAD"
    for share in $shares; do
        $emit "$dir/triad.c" --both $share -o "$dir/TRIAD-both-$share"
        $emit "$examples/nwchem/sd_t_d1.c" --function sd_t_d1_1 --set p4u=64 --both $share \
            -o "$dir/LONG_TRIPLES-both-$share"
    done
    $emit "$dir/triad.c" --gpus 2 -o "$dir/TRIAD-gpus-2"
    $emit "$examples/nwchem/sd_t_d1.c" --function sd_t_d1_1 --set p4u=64 --gpus 2 -o "$dir/LONG_TRIPLES-gpus-2"
    $emit "$examples/gemm/gemm.c" --set m=4096 --set n=4096 --set k=4096 -o "$dir/GEMM"
    $emit "$examples/nwchem/sd_t_d1.c" --function sd_t_d1_1 -o "$dir/TRIPLES"
    $emit "$examples/nekbone/local_grad3.c" -o "$dir/GRADIENT"
    $emit "$examples/nekbone/solve.c" -o "$dir/SOLVE"
    cp "$here/calls.c" "$examples/nekbone/solve.c" "$examples/nekbone/solve_main.c" "$dir"
}

build() { # NAME VARIANT FLAGS...
    local name=$1 out=$2
    shift 2
    local from=$dir/$name
    [ -d "$dir/$name-$out" ] && from=$dir/$name-$out
    nvcc -O3 -arch="${ARCH:-sm_90}" "$@" "-D$name" "$dir/calls.c" "$from"/*.cu "$from"/*.c \
        -o "$dir/$name-$out.x" 2>/dev/null
}

run() {
    nvcc -O3 -arch="${ARCH:-sm_90}" -DBUS "$dir/calls.c" -o "$dir/bus" &
    for name in TRIAD GEMM TRIPLES GRADIENT; do
        build $name whole -DANNOTUNE_MOST_PARTS=1 &
        build $name parts &
        build $name sent -DANNOTUNE_ADD_ON_HOST=0 &
        build $name parts-4M "-DANNOTUNE_PART=(4<<20)" -DANNOTUNE_MOST_PARTS=32 &
        build $name parts-16M "-DANNOTUNE_PART=(16<<20)" &
        build $name copiers-20 -DANNOTUNE_COPIERS=20 &
        build $name slots-32 -DANNOTUNE_SLOTS=32 &
        build $name chunk-512K "-DANNOTUNE_CHUNK=(1<<19)" &
    done
    # Threads of OpenMP that wait by spinning would take the processors from those that copy.
    export OMP_WAIT_POLICY=passive
    local shared=
    for share in $shares; do
        shared="$shared both-$share"
    done
    [ "$(nvidia-smi -L | wc -l)" -lt 2 ] || shared="$shared gpus-2"
    for name in TRIAD LONG_TRIPLES; do
        for out in $shared; do
            build $name $out -Xcompiler=-fopenmp,-march=native &
        done
    done
    nvcc -O3 -arch="${ARCH:-sm_90}" -Dcg=cg_original -c "$dir/solve.c" -o "$dir/original.o" && \
        nvcc -O3 -arch="${ARCH:-sm_90}" "$dir/solve_main.c" "$dir/original.o" "$dir"/SOLVE/*.cu \
            "$dir"/SOLVE/*.c -lm -o "$dir/solve" &
    wait
    "$dir/bus"
    for name in TRIAD GEMM TRIPLES GRADIENT; do
        for out in whole parts sent parts-4M parts-16M copiers-20 slots-32 chunk-512K; do
            for kind in malloc pinned; do
                printf '%-9s %-11s ' $name $out
                "$dir/$name-$out.x" $kind
            done
        done
    done
    for name in TRIAD LONG_TRIPLES; do
        for out in $shared; do
            for kind in malloc pinned; do
                printf '%-12s %-12s ' $name $out
                "$dir/$name-$out.x" $kind
            done
        done
    done
    for n in 1 2 3; do "$dir/solve"; done
}

$mode
