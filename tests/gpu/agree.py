# SPDX-License-Identifier: MIT
"""agree.py DIR DIR: do two tunings choose the same, or within each other's
tie sets?  One line a device, kernel and size that the second tuned anew; the
exit status says whether all do."""
import glob
import os
import sys

import yaml


def entries(folder):
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*", "*.yaml"))):
        with open(path) as file:
            tuning = yaml.safe_load(file)
        for one in tuning["tuned"]:
            key = (tuning["device"]["name"], tuning["kernel"],
                   tuple(one["size"].items()))
            found[key] = one
    return found


def ties(one):
    """A tie stands as what differs from the winner."""
    return [{**one["configuration"], **tie} for tie in one["ties"]]


def main():
    a, b = (entries(folder) for folder in sys.argv[1:3])
    apart = sorted(set(b) - set(a))
    bad = len(apart)
    for key in apart:
        print("only in the second:", key)
    for key in sorted(set(a) & set(b)):
        x, y = a[key], b[key]
        if x == y:
            continue
        tie = (x["configuration"] in ties(y) or
               y["configuration"] in ties(x))
        same = x["configuration"] == y["configuration"]
        word = "same" if same else "tie" if tie else "DIFFERENT"
        bad += word == "DIFFERENT"
        times = [one["result"]["time_us"] for one in (x, y)]
        print(f"{key[1]:12} {dict(key[2])} {word} {times[0]} us, "
              f"{times[1]} us, {times[1] / times[0]:.4f}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
