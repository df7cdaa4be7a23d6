"""Workers of annotune on a cluster with Slurm: one for each GPU of each node.

Copy this file, put in the names of your cluster, and start on its login node:

    pip install 'annotune[cluster,gpu]'
    annotune run FILE.c --workers parsl:slurm.py

annotune waits for the first node; the time of `--time` begins when it is there. docs/clusters.md
says what the workers need.
"""

from parsl.addresses import address_by_hostname
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.launchers import SrunLauncher
from parsl.providers import SlurmProvider

GPUS_PER_NODE = 4

config = Config(
    executors=[
        HighThroughputExecutor(
            label="gpus",
            # The address at which the nodes reach the login node: the name of an interface of the
            # fast network, with parsl.addresses.address_by_interface, where this one is not routed.
            address=address_by_hostname(),
            # One worker for each GPU. Parsl sets CUDA_VISIBLE_DEVICES, so that a worker sees only
            # its own; ["0", "0", "1", "1"] gives two workers to a GPU, one of which compiles
            # while the other measures.
            available_accelerators=GPUS_PER_NODE,
            # Compilers of one worker stay off the cores of another.
            cpu_affinity="block",
            provider=SlurmProvider(
                partition="gpu",
                account="project",
                # A block is a job of Slurm. All start at once; each ends when the run does.
                nodes_per_block=1,
                init_blocks=1,
                max_blocks=1,
                walltime="00:30:00",
                exclusive=True,
                scheduler_options=f"#SBATCH --gpus-per-node={GPUS_PER_NODE}",
                # What makes the compilers and the Python of the login node those of a node.
                worker_init="module load cuda gcc; source $HOME/annotune/bin/activate",
                launcher=SrunLauncher(),
            ),
        )
    ],
    # Where Parsl keeps its log, and the job scripts with what they printed.
    run_dir="annotune-parsl",
    # annotune does itself what a worker took with it, and never a third time.
    retries=0,
)
