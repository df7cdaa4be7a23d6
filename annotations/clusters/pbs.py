"""Workers of annotune on a cluster with PBS Professional: one for each GPU of each node.

Copy this file, put in the names of your cluster, and start on its login node:

    pip install 'annotune[cluster,gpu]'
    annotune run FILE.c --workers parsl:pbs.py

annotune waits for the first node; the time of `--time` begins when it is there. docs/clusters.md
says what the workers need.
"""

from parsl.addresses import address_by_hostname
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.launchers import MpiExecLauncher
from parsl.providers import PBSProProvider

GPUS_PER_NODE = 4
CORES_PER_NODE = 64

config = Config(
    executors=[
        HighThroughputExecutor(
            label="gpus",
            # The address at which the nodes reach the login node: the name of an interface of the
            # fast network, with parsl.addresses.address_by_interface, where this one is not routed.
            address=address_by_hostname(),
            # One worker for each GPU. Parsl sets CUDA_VISIBLE_DEVICES, so that a worker sees only
            # its own.
            available_accelerators=GPUS_PER_NODE,
            # Compilers of one worker stay off the cores of another.
            cpu_affinity="block",
            provider=PBSProProvider(
                queue="gpu",
                account="project",
                # A block is a job of PBS. All start at once; each ends when the run does.
                nodes_per_block=1,
                init_blocks=1,
                max_blocks=1,
                cpus_per_node=CORES_PER_NODE,
                walltime="00:30:00",
                # Also the file systems that the job needs, where the cluster asks for them.
                select_options=f"ngpus={GPUS_PER_NODE}",
                scheduler_options="#PBS -l place=scatter:excl",
                # What makes the compilers and the Python of the login node those of a node.
                worker_init="module load cuda gcc; source $HOME/annotune/bin/activate",
                # One manager for each node, which starts the node's workers.
                launcher=MpiExecLauncher(bind_cmd="--cpu-bind", overrides="--depth=64 --ppn 1"),
            ),
        )
    ],
    # Where Parsl keeps its log, and the job scripts with what they printed.
    run_dir="annotune-parsl",
    # annotune does itself what a worker took with it, and never a third time.
    retries=0,
)
