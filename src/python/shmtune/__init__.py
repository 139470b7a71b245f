# SPDX-License-Identifier: MIT
"""shmtune: tune CUDA kernels, and launch them in the configuration that was
measured to be the fastest for the device and the problem at hand.

    shmtune.open(path).kernel("transpose")(out, x)
    shmtune.tune(source, entry, problem, arguments, parameters, constraints)
    shmtune.tune_kernel(...), shmtune.run_kernel(...)
                                what Kernel Tuner's users call

docs/python.md has all of it.
"""
from ._kernel_tuner import run_kernel, tune_kernel
from ._library import Error
from ._open import Kernel, Library, open
from ._tune import ByValue, In, InOut, Out, Tuned, Variable, tune
from ._version import version as __version__

__all__ = ["ByValue", "Error", "In", "InOut", "Kernel", "Library", "Out",
           "Tuned", "Variable", "open", "run_kernel", "tune", "tune_kernel"]

# Tracebacks and help() call them by what a program imports.
for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
