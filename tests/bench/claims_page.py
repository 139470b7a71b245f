# SPDX-License-Identifier: MIT
"""The page of claims: each claim of the tutorials, with what was measured.
Numbers come from the data, sentences are ours."""
import math

from claims_data import Data
from page import Page, run

REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_%s.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum"
WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum"
INSTRUCTIONS = "smsp__inst_executed_op_shared_%s.sum"
LOCAL = "l1tex__t_sectors_pipe_lsu_mem_local_op_%s.sum"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
EFFICIENCY = "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"
READ, WRITE = "dram__bytes_read.sum", "dram__bytes_write.sum"

SUMMARY = "(the summary)"


class Claims(Page):
    def __init__(self, data):
        super().__init__("claims")
        self.data = data
        self.summary = []

    def claimed(self, text):
        self.say("**Claimed:** " + text)

    def measured(self, text):
        self.say("**Measured:** " + text)

    def claim(self, claim, claimed, measured, holds):
        """A row of the summary, linked to the section that is being said."""
        self.summary.append(["[%s](#%s)" % (claim, self.anchor), claimed,
                             measured, holds])

    # -- numbers ------------------------------------------------------------

    def time(self, experiment, variant, x):
        return self.data.get(experiment, variant, x, "time_us")

    def count(self, experiment, variant, x, metric):
        return self.data.get(experiment, variant, x, metric)

    def per_request(self, experiment, variant, x, op):
        return (self.count(experiment, variant, x, SECTORS % op) /
                self.count(experiment, variant, x, REQUESTS % op))

    def ways(self, experiment, variant, x, op):
        """Steps taken over those needed."""
        waves = self.count(experiment, variant, x, WAVES % op)
        conflicts = self.count(experiment, variant, x, CONFLICTS % op)
        return waves / (waves - conflicts) if waves > conflicts else math.nan


def verdict(holds, partly=False):
    return "yes" if holds else "in part" if partly else "no"


# -- all of it ----------------------------------------------------------------

def build(data):
    from claims_text import write
    page = Claims(data)
    write(page)
    at = page.text.index(SUMMARY)
    rows, page.text, rest = page.summary, page.text[:at], page.text[at + 1:]
    page.table(["claim", "claimed", "measured here", "holds?"], rows)
    page.text += rest
    return page


def main(arguments):
    return run(build(Data()), arguments)
