"""Writes programs that time points of search spaces on a GPU, and a script that runs them there.

    python benchmarks/point_programs.py --workloads 'ax-*' batched_gemm-8 --points 6 -o DIR
    (on the machine with the GPU)  sh DIR/run.sh

Each program has the CUDA of one point: it compares its results with those of the nest as written,
run by the host, and times the kernels between events: many launches that follow each other, with
what they read in the caches, and one without. 64 points of 20 workloads took 41 s on an H200, 13 of
them to compile, where `annotune run` takes some 20 s for each workload. ``DIR/points.tsv`` says
which point each is, and what the model takes it for.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from machine_code.workloads import UnknownWorkload, Workload, all_workloads, chosen

from annotune.annotation.devices import load_device
from annotune.codegen.cuda.target import CudaTarget
from annotune.codegen.names import interface
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Int
from annotune.ir.fold import fold
from annotune.model.bounds import least_time
from annotune.pipeline import check, spaces
from annotune.runtime.texts import standalone_text
from annotune.space.variants import Variant

# Iterations of what a kernel runs for any number of, in the comparison; and its work at most, in
# flop: a nest as written does some thousand million each second.
FEW = 7
MOST_FLOP = 1e9
NUMBER = "1.25"

_OF_TYPE = """
__global__ void fill_TYPE(TYPE *to, long long count, long long salt)
{
    for (long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x; k < count;
         k += (long long)gridDim.x * blockDim.x)
        to[k] = (TYPE)(((k + salt) * 2654435761u >> 7) % 17) / 8 - 1 + (TYPE)(salt % 89) / 1024;
}

static TYPE *filled_TYPE(long long count, long long salt)
{
    TYPE *made = NULL;
    if (cudaMalloc((void **)&made, (count + 8) * sizeof(TYPE)) != cudaSuccess)
        return NULL;
    fill_TYPE<<<2048, 256>>>(made, count, salt);
    return made;
}

static TYPE *fetched(const TYPE *from, long long count)
{
    TYPE *const made = (TYPE *)malloc((count + 8) * sizeof(TYPE));
    cudaMemcpy(made, from, count * sizeof(TYPE), cudaMemcpyDeviceToHost);
    return made;
}

static double apart(const TYPE *one, const TYPE *other, long long count)
{
    TYPE *const own = fetched(one, count);
    double most = 0;
    for (long long k = 0; k < count; k++) {
        const double error = fabs((double)own[k] - (double)other[k]) / (1 + fabs((double)other[k]));
        most = error <= most ? most : error;
    }
    free(own);
    return most;
}
"""
_DRIVER = """
static int in_order(const void *a, const void *b)
{
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

/* More than the caches hold; and launches that follow each other between two events, as many as
 * take so many milliseconds: what lies between one and the next event does not count. */
enum { FLUSHED = 256 << 20, MOST_TOGETHER = 100 };
static const float TOGETHER = 2;

int main()
{
    double error = -1;
COMPARED    cudaEvent_t begun, ended;
    cudaEventCreate(&begun);
    cudaEventCreate(&ended);
    float times[2][15];
    int together = 1;
    void *flushed = NULL;
    cudaError_t status = cudaMalloc(&flushed, FLUSHED);
    {
MADE        for (int turn = -3; turn < 30 && status == cudaSuccess; turn++) {
            if (turn >= 15)
                cudaMemset(flushed, turn, FLUSHED);
            const int launches = turn >= 0 && turn < 15 ? together : 1;
            cudaEventRecord(begun);
            for (int k = 0; k < launches && status == cudaSuccess; k++)
                status = CALL;
            cudaEventRecord(ended);
            cudaEventSynchronize(ended);
            float taken = 0;
            cudaEventElapsedTime(&taken, begun, ended);
            if (turn < 0)
                together = taken < TOGETHER / MOST_TOGETHER ? MOST_TOGETHER
                    : taken < TOGETHER ? (int)(TOGETHER / taken) : 1;
            else
                times[turn / 15][turn % 15] = taken / launches;
        }
    }
    const cudaError_t last = cudaDeviceSynchronize();
    status = status == cudaSuccess ? last : status;
    for (int k = 0; k < 2; k++)
        qsort(times[k], 15, sizeof *times[k], in_order);
    printf("%s\\t%.2f\\t%.1e\\t%s\\t%.2f\\n", "NAME", times[0][7] * 1e3, error,
           cudaGetErrorString(status), times[1][7] * 1e3);
    return status != cudaSuccess;
}
"""
_RUN = """\
#!/bin/sh
# Compiles all programs here and runs one after the other: name, microseconds, the largest relative
# difference from the nest as written (-1 where that takes too long), CUDA's status, and
# microseconds with what is read in no cache.
cd "$(dirname "$0")" || exit 1
nvidia-smi --query-gpu=name --format=csv,noheader
ls *.cu | sed 's/[.]cu$//' | xargs -P "$(nproc)" -I{} sh -c \\
    'nvcc -O3 -arch=${ARCH:-sm_90} {}.cu -o {}.program > {}.log 2>&1 || echo "{}: see {}.log"'
for program in *.program; do timeout 60 "./$program"; done
"""


def program(variant: Variant, name: str) -> str:
    """Return the text of the program for a point; its data are on the device."""
    target = CudaTarget()
    text = standalone_text(target.device_file(target.region(variant, resident=False)))
    region = variant.analysis.region
    open_sizes = {name for kernel in variant.tuned.kernels() for name in kernel.any_sizes}
    sizes = region.known_sizes
    few = {name: FEW if name in open_sizes else size for name, size in sizes.items()}
    memory = _memory(variant, text, sizes)
    types = dict.fromkeys(kind for kind, _ in memory.values())
    return "".join([text, "#include <cmath>\n", *(_OF_TYPE.replace("TYPE", t) for t in types)]) + (
        _DRIVER.replace("COMPARED", _compared(variant, text, few))
        .replace("MADE", _filled(memory, "        "))
        .replace("CALL", _call(text, f"{region.label}_launch", sizes))
        .replace("NAME", name)
    )


def _compared(variant: Variant, text: str, few: Mapping[str, int]) -> str:
    """Return the comparison with the nest as written, nothing where the host takes too long."""
    analysis, region = variant.analysis, variant.analysis.region
    share = 1.0
    for name, size in region.known_sizes.items():
        share *= few[name] / max(1, size)
    if sum(work.flop for work in analysis.work.values()) * share > MOST_FLOP:
        return ""
    inner, memory = "        ", _memory(variant, text, few, "original")
    read = {a.name for a in interface(analysis).arrays} - interface(analysis).written
    lines = [f"{kind} *own_{name} = fetched({name}, {n});" for name, (kind, n) in memory.items()]
    lines.append(f"{_call(text, f'{region.label}_launch', few)};")
    lines.append(f"{_call(text, f'{region.label}_original', few, 'own_')};")
    for name, (_, count) in memory.items():
        if name in read or analysis.stays_on_device(name):
            continue
        lines.append(f"const double of_{name} = apart({name}, own_{name}, {count});")
        lines.append(f"error = error >= of_{name} ? error : of_{name};")
    lines += [f"cudaFree({name});" for name in memory]
    lines += [f"free(own_{name});" for name in memory]
    made = _filled(memory, inner)
    return "    {\n" + made + "".join(f"{inner}{line}\n" for line in lines) + "    }\n"


def _parameters(text: str, function: str) -> list[tuple[str, str]]:
    """Return the types and names of what a function of the text takes."""
    head = re.search(rf"^static \w+ {function}\(([^)]*)\)", text, re.MULTILINE)
    assert head is not None, function
    found = (re.fullmatch(r"\s*(.*?)(\w+)\s*", one, re.DOTALL) for one in head[1].split(","))
    return [(one[1].strip(), one[2]) for one in found if one is not None]


def _call(text: str, function: str, sizes: Mapping[str, int], prefix: str = "") -> str:
    """Return a call of a function of the text; its arrays have a prefix before their names."""
    arguments = (
        f"{prefix}{name}" if kind.endswith("*") else str(sizes.get(name, NUMBER))
        for kind, name in _parameters(text, function)
    )
    return f"{function}({', '.join(arguments)})"


def _memory(
    variant: Variant, text: str, sizes: Mapping[str, int], *more: str
) -> Mapping[str, tuple[str, int]]:
    """Return the element type and the length of all that kernels reach, by its name.

    So of what `more` functions of the region reach. A number that the nest computes is an array of
    one element.
    """
    arrays = {array.name for array in interface(variant.analysis).arrays}
    label = variant.analysis.region.label
    every = [one for end in ("launch", *more) for one in _parameters(text, f"{label}_{end}")]
    return {
        name: (
            kind.removeprefix("const ").rstrip("* "),
            _length(variant, name, sizes) if name in arrays else 1,
        )
        for kind, name in every
        if kind.endswith("*")
    }


def _filled(memory: Mapping[str, tuple[str, int]], indent: str) -> str:
    """Return the text that makes arrays, each with values of its own.

    Those of several would cancel otherwise, and what is divided by zero takes longer.
    """
    return "".join(
        f"{indent}{kind} *{name} = filled_{kind}({n}, {1009 * number});\n"
        for number, (name, (kind, n)) in enumerate(memory.items())
    )


def _length(variant: Variant, array: str, sizes: Mapping[str, int]) -> int:
    """Return the elements of an array from its first one to the last that a call touches."""
    shape = variant.analysis.shapes[array]
    ends = (fold(shape.lowest, sizes), fold(shape.length, sizes))
    return sum(end.value for end in ends if isinstance(end, Int))


def write(workload: Workload, count: int, containing: str, folder: Path) -> list[str]:
    """Write the programs for the first points of a workload, and return a line for each.

    Of the points behind the first those count whose settings have `containing` in them. A line has
    the program's name, the model's time and the roofline's in microseconds, and the settings.
    """
    settings = workload.settings()
    device = load_device(settings.device)
    found, _ = spaces(check(settings), settings)
    listing = found[0]["cuda"]
    every = listing.variants()
    first = list(islice(every, 1))
    others = (v for v in every if containing in _settings(v))
    lines = []
    for number, variant in enumerate([*first, *islice(others, count - 1)]):
        name = f"{workload.name}-{number}"
        (folder / f"{name}.cu").write_text(program(variant, name))
        predicted = "" if variant.predicted_s is None else f"{variant.predicted_s * 1e6:.4g}"
        roof_s = least_time(variant.analysis.total, variant.analysis.region, device)
        lines.append(f"{name}\t{predicted}\t{roof_s * 1e6:.4g}\t{_settings(variant)}")
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
    lines = ["program\tpredicted_us\troof_us\tpoint"]
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
