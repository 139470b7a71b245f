# SPDX-License-Identifier: MIT
"""truth_answer: says what is right of truth_answer.yaml; needs no NumPy."""
import array
import json

with open("problem.json") as file:
    count = json.load(file)["size"]["n"]
with open("x.npy", "rb") as file:
    data = file.read()
begin = 10 + data[8] + 256 * data[9]
numbers = array.array("f", data[begin:])
assert len(numbers) == count, (len(numbers), count)
with open("y.answer.npy", "wb") as file:
    file.write(data[:begin])
    array.array("f", [2 * number for number in numbers]).tofile(file)
