"""What `gpu.py` measures on a GPU: its workloads, and the same by libraries."""
