"""Writes programs that time points of search spaces on a GPU, and a script that runs them there.

    python benchmarks/point_programs.py --workloads 'ax-*' batched_gemm-8 --points 6 -o DIR
    (on the machine with the GPU)  sh DIR/run.sh

Each program has the CUDA of one point: it compares its results with those of the nest as written,
run by one thread of the device, and times it between events. 64 points of 20 workloads took 41 s on
an H200, 13 of them to compile, where `annotune run` takes some 20 s for each workload.
``DIR/points.tsv`` says which point each is, and what the model takes it for.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from machine_code.workloads import UnknownWorkload, Workload, all_workloads, chosen

from annotune.codegen.cuda.target import CudaTarget
from annotune.codegen.names import interface
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Int
from annotune.ir.fold import fold
from annotune.pipeline import check, spaces
from annotune.space.variants import Variant

# Iterations of what a kernel runs for any number of, in the comparison; and its work at most, in
# flop: one thread of a device makes some 50 million each second.
FEW = 7
MOST_FLOP = 1e8
NUMBER = "1.25"

_OF_TYPE = """
__global__ void fill_TYPE(TYPE *to, long long count)
{
    for (long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x; k < count;
         k += (long long)gridDim.x * blockDim.x)
        to[k] = (TYPE)((k * 2654435761u >> 7) % 17) / 8 - 1;
}

static TYPE *filled_TYPE(long long count)
{
    TYPE *made = NULL;
    if (cudaMalloc((void **)&made, (count + 8) * sizeof(TYPE)) != cudaSuccess)
        return NULL;
    fill_TYPE<<<2048, 256>>>(made, count);
    return made;
}

static double apart(const TYPE *one, const TYPE *other, long long count)
{
    TYPE *const a = (TYPE *)malloc(count * sizeof(TYPE));
    TYPE *const b = (TYPE *)malloc(count * sizeof(TYPE));
    cudaMemcpy(a, one, count * sizeof(TYPE), cudaMemcpyDeviceToHost);
    cudaMemcpy(b, other, count * sizeof(TYPE), cudaMemcpyDeviceToHost);
    double most = 0;
    for (long long k = 0; k < count; k++) {
        const double error = fabs((double)a[k] - (double)b[k]) / (1 + fabs((double)b[k]));
        most = error <= most ? most : error;
    }
    free(a);
    free(b);
    return most;
}
"""
_DRIVER = """
static int in_order(const void *a, const void *b)
{
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

int main()
{
    double error = -1;
COMPARED    cudaEvent_t begun, ended;
    cudaEventCreate(&begun);
    cudaEventCreate(&ended);
    float times[15];
    {
MADE        for (int turn = -3; turn < 15; turn++) {
            cudaEventRecord(begun);
            CALL;
            cudaEventRecord(ended);
            cudaEventSynchronize(ended);
            if (turn >= 0)
                cudaEventElapsedTime(&times[turn], begun, ended);
        }
    }
    const cudaError_t status = cudaDeviceSynchronize();
    qsort(times, 15, sizeof *times, in_order);
    printf("%s\\t%.2f\\t%.1e\\t%s\\n", "NAME", times[7] * 1e3, error, cudaGetErrorString(status));
    return status != cudaSuccess;
}
"""
_RUN = """\
#!/bin/sh
# Compiles all programs here and runs one after the other: name, microseconds, the largest relative
# difference from the nest as written (-1 where that takes too long), and CUDA's status.
cd "$(dirname "$0")" || exit 1
nvidia-smi --query-gpu=name --format=csv,noheader
ls *.cu | sed 's/[.]cu$//' | xargs -P "$(nproc)" -I{} sh -c \\
    'nvcc -O3 -arch=${ARCH:-sm_90} {}.cu -o {}.program > {}.log 2>&1 || echo "{}: see {}.log"'
for program in *.program; do timeout 60 "./$program"; done
"""


def program(variant: Variant, name: str) -> str:
    """Return the text of the program for a point; its data are on the device."""
    target = CudaTarget()
    device = target.standalone(target.region(variant, resident=True))
    region = variant.analysis.region
    open_sizes = {name for kernel in variant.tuned.kernels() for name in kernel.any_sizes}
    sizes = region.known_sizes
    few = {name: FEW if name in open_sizes else size for name, size in sizes.items()}
    types = dict.fromkeys(array.element for array in interface(variant.analysis).arrays)
    return "".join(
        [device, "#include <cmath>\n", *(_OF_TYPE.replace("TYPE", t) for t in types)]
    ) + (
        _DRIVER.replace("COMPARED", _compared(variant, few))
        .replace("MADE", _arrays(variant, sizes, "", "        "))
        .replace("CALL", f"{region.entry}({_arguments(variant, sizes)})")
        .replace("NAME", name)
    )


def _compared(variant: Variant, sizes: Mapping[str, int]) -> str:
    """Return the comparison with the nest as written, nothing where one thread takes too long."""
    analysis, region = variant.analysis, variant.analysis.region
    share = 1.0
    for name, size in region.known_sizes.items():
        share *= sizes[name] / max(1, size)
    if sum(work.flop for work in analysis.work.values()) * share > MOST_FLOP:
        return ""
    call, inner = _arguments(variant, sizes), "        "
    lines = [f"{region.entry}({call});"]
    lines.append(f"{region.label}_original<<<1, 1>>>({_arguments(variant, sizes, 'own_')});")
    for name in sorted(n for n in interface(analysis).written if not analysis.stays_on_device(n)):
        count = _length(variant, name, sizes)
        lines.append(f"const double of_{name} = apart({name}, own_{name}, {count});")
        lines.append(f"error = error >= of_{name} ? error : of_{name};")
    made = _arrays(variant, sizes, "", inner) + _arrays(variant, sizes, "own_", inner)
    arrays = interface(analysis).arrays
    lines += [f"cudaFree({prefix}{a.name});" for prefix in ("", "own_") for a in arrays]
    return "    {\n" + made + "".join(f"{inner}{line}\n" for line in lines) + "    }\n"


def _arguments(variant: Variant, sizes: Mapping[str, int], prefix: str = "") -> str:
    """Return what the entry is called with; with a prefix, what the nest as written is."""
    outer = interface(variant.analysis)
    if not prefix:
        # What is the region's alone the entry has memory for.
        kept = variant.analysis.stays_on_device
        outer = outer.without({array.name for array in outer.arrays if kept(array.name)})
    scalars = [str(sizes.get(scalar.name, NUMBER)) for scalar in outer.scalars]
    return ", ".join([*scalars, *(f"{prefix}{array.name}" for array in outer.arrays)])


def _arrays(variant: Variant, sizes: Mapping[str, int], prefix: str, indent: str) -> str:
    lines = []
    for array in interface(variant.analysis).arrays:
        kind, count = array.element, _length(variant, array.name, sizes)
        lines.append(f"{indent}{kind} *{prefix}{array.name} = filled_{kind}({count});\n")
    return "".join(lines)


def _length(variant: Variant, array: str, sizes: Mapping[str, int]) -> int:
    """Return the elements of an array from its first one to the last that a call touches."""
    shape = variant.analysis.shapes[array]
    ends = (fold(shape.lowest, sizes), fold(shape.length, sizes))
    return sum(end.value for end in ends if isinstance(end, Int))


def write(workload: Workload, count: int, containing: str, folder: Path) -> list[str]:
    """Write the programs for the first points of a workload, and return a line for each.

    Of the points behind the first those count whose settings have `containing` in them.
    """
    settings = workload.settings()
    (listing, *_) = (found["cuda"] for found in spaces(check(settings), settings))
    every = listing.variants()
    first = list(islice(every, 1))
    others = (v for v in every if containing in _settings(v))
    lines = []
    for number, variant in enumerate([*first, *islice(others, count - 1)]):
        name = f"{workload.name}-{number}"
        (folder / f"{name}.cu").write_text(program(variant, name))
        predicted = "" if variant.predicted_s is None else f"{variant.predicted_s * 1e6:.4g}"
        lines.append(f"{name}\t{predicted}\t{_settings(variant)}")
    return lines


def _settings(variant: Variant) -> str:
    return ", ".join(f"{key}={value}" for key, value in variant.config.items())


def main(words: Sequence[str]) -> int:
    """Write what the command line asks for, and return the exit code."""
    parser = argparse.ArgumentParser(prog="point_programs.py", description="see docs/benchmarks.md")
    parser.add_argument("--workloads", nargs="+", metavar="NAME", required=True)
    parser.add_argument("--points", type=int, default=4, metavar="N", help="of each workload")
    parser.add_argument("--containing", default="", metavar="WORDS", help="in a point's settings")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    given = parser.parse_args(words)
    given.output.mkdir(parents=True, exist_ok=True)
    lines = ["program\tpredicted_us\tpoint"]
    try:
        for workload in chosen(given.workloads, all_workloads()):
            lines += write(workload, given.points, given.containing, given.output)
    except (UnknownWorkload, AnnotuneError) as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return 2
    (given.output / "points.tsv").write_text("\n".join(lines) + "\n")
    (given.output / "run.sh").write_text(_RUN)
    print(f"{len(lines) - 1} programs in {given.output}; run.sh there compiles and runs them")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
