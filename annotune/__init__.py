"""annotune: annotated C loop nests become checked CUDA, OpenACC and OpenMP."""

__version__ = "0.1.0"
