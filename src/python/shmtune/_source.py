# SPDX-License-Identifier: MIT
"""What the text of a CUDA source says of a kernel's parameters: as the command
`init` reads it."""
import contextlib
import os
import re
import tempfile

from . import _command
from ._library import Error, INVALID_ARGUMENT
from ._spec import write_text


def own_name(entry):
    """"add" of "ns::add<float>"."""
    return entry.partition("<")[0].rpartition("::")[2].strip()


def parameters(text, entry, count, folders=()):
    """Of each parameter of the kernel, which may be in a header: its name, how
    it is declared, its type in a spec, or None, and of an array its role."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "source.cu")
        write_text(path, text)
        try:
            declared = _command.run(
                ["init", path, "--entry", entry, "-o",
                 os.path.join(folder, "draft.yaml"), "--", "nvcc",
                 *["-I" + one for one in [folder, *folders]]])["arguments"]
        except Error as error:
            if error.status != INVALID_ARGUMENT:
                raise
            raise Error("the source has no __global__ function %s"
                        % entry) from None
    if len(declared) != count:
        raise Error("kernel %s has %d parameters, arguments has %d" % (
            entry, len(declared), count))
    return declared


def number_types(text, entry, count):
    """The types of a kernel's parameters in a spec; None of one that is no
    number, or of which the text does not say it."""
    with contextlib.suppress(Error):
        return [None if one["array"] else one["type"]
                for one in parameters(text, entry, count)]
    return [None] * count


def is_written(parameter):
    """Whether a kernel may write what the parameter points to."""
    return parameter["array"] and parameter.get("role") != "input"


def points_to(parameter):
    """"float" of `const float *__restrict__ x`."""
    plain = re.sub(r"\b(const|volatile|__restrict__)\b", " ",
                   parameter["declared"])
    plain = plain.rpartition("*")[0] if "*" in plain else plain
    return " ".join(plain.split())
