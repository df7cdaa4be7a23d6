"""What can be told of emitted CUDA without a GPU: its machine code, occupancy and accesses."""
