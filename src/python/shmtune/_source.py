# SPDX-License-Identifier: MIT
"""What the text of a CUDA source says of a kernel's parameters, as far as it
can be read without a compiler."""
import os
import re

from ._library import Error

MOST_HEADERS = 500      # in which a kernel is looked for

# A number's type in a spec, by the words of its parameter.
_TYPES = {
    "float": "f32", "double": "f64", "half": "f16", "__half": "f16",
    "__nv_bfloat16": "bf16", "bool": "bool", "signed char": "i8",
    "unsigned char": "u8", "short": "i16", "unsigned short": "u16",
    "int": "i32", "unsigned": "u32", "unsigned int": "u32", "long": "i64",
    "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64",
    "size_t": "u64",
    **{"%sint%d_t" % (sign, bits): "%s%d" % (sign or "i", bits)
       for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def own_name(entry):
    """"add" of "ns::add<float>"."""
    return entry.partition("<")[0].rpartition("::")[2].strip()


def _without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def _signature(text, entry):
    """(the parameters of a kernel as texts, its body); of a declaration there
    is no body."""
    text = _without_comments(text)
    declared = None, ""
    for found in re.finditer(
            r"__global__[^;{()]*?(?:__launch_bounds__\s*\([^)]*\)"
            r"[^;{()]*?)?\b%s\s*\(" % re.escape(entry), text):
        close = _matching(text, found.end() - 1, "()")
        inside = text[found.end():close].strip()
        parameters = _apart(inside)
        body = text.find("{", close)
        if body >= 0 and not text[close + 1:body].strip():
            return parameters, text[body:_matching(text, body, "{}") + 1]
        declared = parameters, ""
    return declared


def _apart(inside):
    """Parameters, where a comma may be one of a template's, view<float, 2>."""
    parts, depth = [""], 0
    for c in inside:
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts] if inside else []


def _matching(text, at, pair):
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] == pair[0]) - (text[k] == pair[1])
        if depth == 0:
            return k
    return len(text)


def with_headers(text, entry, folders):
    """The text that has the kernel: of a header, where the source has it from
    there."""
    seen, left = set(), [text]
    while left:
        now = left.pop(0)
        if _signature(now, entry)[0] is not None:
            return now
        for name in re.findall(r'(?m)^\s*#\s*include\s*["<]([^">]+)[">]', now):
            for folder in folders:
                path = os.path.join(folder, name)
                if path in seen or len(seen) > MOST_HEADERS:
                    continue
                seen.add(path)
                try:
                    with open(path, encoding="utf-8",
                              errors="replace") as file:
                        left.append(file.read())
                    break
                except OSError:
                    pass
    return text


def parameter_names(text, entry, count):
    parameters, _ = _signature(text, entry)
    if parameters is None:
        raise Error("the source has no __global__ function %s" % entry)
    if len(parameters) != count:
        raise Error("kernel %s has %d parameters, arguments has %d" % (
            entry, len(parameters), count))
    return [re.findall(r"[A-Za-z_]\w*", re.sub(
        r"\[[^]]*\]", " ", p.partition("=")[0]))[-1] for p in parameters]


def number_types(text, entry, count):
    """The types of a kernel's parameters in a spec; None of one that is no
    number, or of which the text does not say it."""
    parameters = _signature(text, entry)[0]
    if parameters is None or len(parameters) != count:
        return [None] * count
    return [_TYPES.get(" ".join(
        w for w in p.partition("=")[0].split()[:-1] if w != "const"))
        for p in parameters]


def pointer_type(text, entry, k):
    """What parameter k points to."""
    parameter = _signature(text, entry)[0][k]
    before = parameter.rpartition("*")[0]
    before = re.sub(r"\b(const|volatile|__restrict__)\b", " ", before)
    return " ".join(before.split()) or "void"


def may_write(text, entry, name):
    """Whether a kernel may write what a parameter points to: not if that is
    const, or if the parameter is only indexed, and never assigned to."""
    parameters, body = _signature(text, entry)
    own = [p for p in parameters if re.search(r"\b%s$" % re.escape(name), p)]
    if own and re.search(r"\bconst\b", own[0].partition("*")[0]):
        return False
    for found in re.finditer(r"\b%s\b" % re.escape(name), body):
        rest = body[found.end():].lstrip()
        before = body[:found.start()].rstrip()
        if before.endswith("__ldg(&"):
            before = before[:-len("__ldg(&")]
        if not rest.startswith("[") or before.endswith(("&", "++", "--")):
            return True
        after = rest[_matching(rest, 0, "[]") + 1:].lstrip()
        # A member of a vector: points[i].x
        after = re.sub(r"^\.\w+\s*", "", after)
        if re.match(r"(=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--|\[)", after):
            return True
    return False
