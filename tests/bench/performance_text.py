# SPDX-License-Identifier: MIT
"""What the page of performance says, section by section.  Figures come from
the data, sentences are ours."""
import csv
import os
import statistics

import page_svg as svg
from claims_data import Data
from page import Page, count
from peers_table import duration, shape_of


class Figures(Page):
    """The page, and the tables that it is made of."""

    def __init__(self, folder):
        super().__init__("performance")
        self.folder = folder
        self.data = Data()
        self.sources = {row["name"]: row for row in self.rows("sources")}
        self.values = {row["name"]: row for row in self.rows("figures")}
        self.used = set()

    def rows(self, name):
        with open(os.path.join(self.folder, name + ".csv"),
                  newline="") as file:
            return list(csv.DictReader(file))

    def has(self, name):
        return os.path.exists(os.path.join(self.folder, name + ".csv"))

    def figure(self, name):
        self.used.add(name)
        return self.values[name]["value"]

    def tell(self, text):
        """A paragraph in which {name} is a figure."""
        self.say(text.format_map(self))

    def __getitem__(self, name):
        return self.figure(name)

    def source(self, name):
        """The line under a table: where, when and how it was measured."""
        row = self.sources[name]
        self.say("(%s, %s: `%s`)" % (row["device"], row["date"],
                                     row["command"]))


def introduction(page):
    page.text.append("# Performance\n\n")
    page.say("""How fast the tuned kernels, the tuner and the library are, each
        figure with the command that measures it. Kernels are compared with the
        vendors' libraries in one process, interleaved, and verified first.""")
    page.say("""The page is generated: its tables and figures are files in
        `tests/bench/data/performance`, with the command, the device and the
        date of each ([below](#where-the-figures-come-from)). `python3
        tests/bench/performance.py` makes it, and `make check` holds that it is
        what the data make. Why tuned configurations are faster, by the
        hardware's counters, stands in
        [claims.md](claims.md#why-the-tuned-configurations-are-faster).""")


# -- kernels ------------------------------------------------------------------

def ratio_plot(page, name, title, rows, column):
    kernels = []
    bars = []
    for row in rows:
        if row["kernel"] not in kernels:
            kernels.append(row["kernel"])
        ratio = float(row[column])
        bars.append(("%s %s" % (row["kernel"], shape_of(row["kernel"],
                                                        row["size"])),
                     ratio, "%.2f" % ratio,
                     len(kernels) % 2))   # neighbours tell apart
    page.plot(name, title, svg.bars(title, "times as fast (logarithmic)",
                                    bars, left=280, base=1.0))


def libraries(page):
    page.head("Beside the vendors' libraries")
    rows = page.rows("libraries")
    with_peer = [row for row in rows if row["library"]]
    faster = sum(float(row["over_library"]) > 1.02 for row in with_peer)
    slower = sum(float(row["over_library"]) < 0.98 for row in with_peer)
    page.say("""Of %d problems with a library to stand beside, the tuned kernel
        is more than 2 %% faster in %d, and more than 2 %% slower in %s.""" % (
            len(with_peer), faster, slower or "none"))
    ratio_plot(page, "libraries", "The tuned kernel against the library",
               with_peer, "over_library")
    cells = []
    for row in rows:
        cells.append([
            row["kernel"], shape_of(row["kernel"], row["size"]),
            duration(float(row["default_us"])) if row["default_us"] else "",
            duration(float(row["tuned_us"])), row["over_default"],
            "%s %s" % (row["library"], duration(float(row["library_us"])))
            if row["library"] else "",
            row["over_library"], row["over_library_warm"],
            row["floor_percent"] + " %"])
    page.table(["kernel", "problem", "default", "tuned", "x default",
                "library", "x library", "warm", "floor"], cells)
    page.source("libraries")
    page.items("""Times are medians with a cold L2 cache. `x default` and `x
        library` say how many times as fast the tuned kernel is. `warm` is the
        ratio to the library with what fits left in the L2 cache.
        |Each tuned kernel ran through libshmtune. The default's time is that of
        the tuning.
        |The floor is the larger of bytes over the rate of a copy and flops over
        the multiply-add rate, both measured in the same process: 100 % is as
        fast as that.
        |Of `nbody` the floor counts twelve multiply-adds an interaction, as if
        each stood by itself. The kernel shares the distance of two bodies
        between them, which takes eight and a half. By the multiply-adds that it does, it
        runs at {nbody_share_1}, {nbody_share_2} and {nbody_share_3} % of the
        multiply-add rate.
        |Softmax against PyTorch 2.11 on the same day: {pytorch_1}, {pytorch_2} and
        {pytorch_3} times as fast at the three shapes.
        |`scan` reaches the speed of a copy by blocks that stay, carry their own
        sum, and publish that of each tile before they store the one before: no
        sum is passed on from tile to tile (`kernels/scan_ahead.cuh`).
        |`tunings/` has what was found on an H100 80GB HBM3 and on an
        H200, every kernel on both.""".format_map(page).split("|"))


def defaults(page):
    page.head("Beside the default configuration")
    page.say("""The default of a spec is the plain form that the textbooks end
        with. The same problems as above:""")
    ratio_plot(page, "defaults",
               "The tuned configuration against the default",
               page.rows("libraries"), "over_default")


def nearest(page):
    page.head("Sizes that nobody tuned")
    page.tell("""{held_out_sizes} sizes were run by the configuration that the
        library chooses for them, and tuned besides. What choosing by the
        nearest size costs: {held_out_median} % in the median, {held_out_worst} %
        at worst ({held_out_worst_size}), {held_out_next} % at the next.""")
    rows = page.rows("nearest")
    page.say("""Of these, %d have a library to stand beside. How many times as
        fast as it the chosen configuration is:""" % sum(
            int(row["sizes"]) for row in rows))
    page.table(["kernel", "sizes", "x library"],
               [[row["kernel"], row["sizes"],
                 "%s to %s" % (row["low"], row["high"])] for row in rows])
    page.source("nearest")
    page.tell("""(`stencil2d` is compared with a copy each step. `conv2d` is at
        {nearest_conv2d_1} and {nearest_conv2d_2} % of the floor's speed, and,
        of two million outputs of a 15 x 15 filter, at {wide_filter_floor} %:
        [below](#short-of-the-aim).)""")


def agreement(page):
    page.head("Two tunings agree")
    page.tell("""All kernels were tuned twice on an H100, with other seeds, one
        after the other; the second tuning had the first one's winners among its
        candidates. Of {agree_problems} problems {agree_agreed} chose the same, or
        within each other's tie sets. The others were up to {agree_apart_most} %
        apart: {agree_apart}. A third tuning, which knew both, agreed with one of
        them, and that choice ships; but for scan of 2^24, where the three are
        within {agree_scan} % and the second one's choice ships.""")
    page.tell("""On an H200 {agree_h200_problems} problems were tuned twice:
        {agree_h200_agreed} agree; the others are up to {agree_h200_apart_most} %
        apart.""")
    page.tell("""{longer_problems} of these problems were tuned once more on the
        H100, with a third seed, two to ten times as long, the shipped winners
        among the candidates. {longer_better} had a better winner
        ({longer_better_names}), which a fourth seed found again: these ship. The
        others chose the same or within the ties, {longer_fourth} of them by that
        fourth run.""")


def short(page):
    page.head("Short of the aim")
    page.tell("""**A 15 x 15 filter over two million outputs** takes
        {wide_filter_us} us, {wide_filter_floor} % of the floor's speed, where
        {wide_filter_aim} % was aimed at. That would be {wide_filter_aim_us} us.
        On the same clock an empty kernel takes {empty_us} us and a cold copy of
        the image {wide_filter_copy_us}; the multiply-adds alone take
        {wide_filter_multiply_us} at the data sheet's peak. Inside the kernel the
        median block has its inputs after {wide_filter_inputs_us} us and its last
        output at {wide_filter_last_us}, the last block at
        {wide_filter_last_block_us}. The counters: {wide_filter_warps} million
        warps' multiply-adds, {wide_filter_beyond} % of them beyond the image's
        edge; issue slots busy {wide_filter_issue} % of the cycles in which a
        multiprocessor was active, the multiply-add pipe {wide_filter_fma} %.
        Smaller tiles in more rounds, more outputs a thread, and fast FIR down the
        columns are in the space and lose there.""")
    page.tell("""Tried and left out, beside the tuned kernel in the same run: fast
        FIR across the rows by pairs of columns ({wide_filter_pairs}), by fours
        ({wide_filter_fours}) and in both directions at once
        ({wide_filter_both}). They take {wide_filter_saved} % of the multiply-adds
        away, and give it back in tiles that cost three times as much to load, and
        in weights that come from registers, two ports for three operands, where
        the plain form has them in uniform ones.""")
    page.tell("""**The sum of 2^22 floats** is at the edge of its aim, 1.3 times
        CUB's speed: {small_sum_cold_1} and {small_sum_cold_2} in two runs from a
        cold cache (warm {small_sum_warm_1} and {small_sum_warm_2}). Of its
        {small_sum_us} us an empty kernel takes {empty_us}, and reading 17 MB
        {small_sum_read_us}.""")


# -- the tuner ----------------------------------------------------------------

def tuning(page):
    page.head("How fast tuning is")
    page.table(["what", "measured"], [[cell.format_map(page) for cell in row]
                                      for row in (
        ["candidates compiled, verified and timed, transpose 8192 x 8192, all "
         "{rate_space} of the space", "{rate} a second, GPU busy {rate_busy} %"],
        ["the same space through Kernel Tuner 1.5.0 on the same kind of "
         "machine", "{rate_peer_1} and {rate_peer_2} a second in two runs; "
         "beside the first, 1,500 at random by shmtune: {rate_random} a second"],
        ["candidates a second where compiling is the smaller part: reduce 2^24, "
         "all {rate_reduce_space}",
         "{rate_reduce} a second, GPU busy {rate_reduce_busy} %"],
        ["all 118 built-in problems from nothing in nine minutes, one GPU with "
         "16 processors", "{sizes_rate} candidates a second, GPU busy "
         "{sizes_busy} %; beside the tunings that ship {sizes_mean} % faster "
         "in the geometric mean, {sizes_worst} % slower at worst; in three "
         "minutes {sizes_short_mean} % slower, {sizes_short_worst} % at worst"],
        ["all 118 built-in problems on four GPUs with 64 processors, {gpus_s} s "
         "(`--total`)", "one of them with 16 processors, while the other three "
         "tuned, too, had {gpus_one_total_s} s ({gpus_ratio} times): its "
         "winners are {gpus_behind} % faster; by the times that the searches "
         "saw, it was as far after {gpus_one_s} s ({gpus_search_ratio} times)"],
        ["the same with {gpus_fewer} of the processors, {gpus_fewer_s} s",
         "the winners of {gpus_fewer_one_s} s on the one are "
         "{gpus_fewer_behind} % faster; by the times that the searches saw, the "
         "four were as far after {gpus_fewer_at_s} s ({gpus_fewer_ratio} "
         "times)"],
        ["all 118 built-in problems on two H200 with 32 processors, "
         "{gpus_two_s} s, three quarters of them with a compile worker",
         "{gpus_two_rate} candidates a second, with 29 workers "
         "{gpus_two_more_rate}; the searches end {gpus_two_loss} % behind the "
         "best of all runs, with 29 workers {gpus_two_more_loss}, and those of "
         "one of them with 16 processors and {gpus_two_one_s} s (1.8 times) "
         "{gpus_two_one_loss} (each the mean of two)"],
        ["the same on four H200 with 64 processors, twice",
         "{gpus_four_rate} and {gpus_four_second_rate} candidates a second, "
         "with 60 workers {gpus_four_more_rate}; {gpus_four_loss} and "
         "{gpus_four_second_loss} % behind the best of all runs, each of the "
         "four alone with 16 processors and {gpus_four_one_s} s (3.6 times) "
         "{gpus_four_one_least} to {gpus_four_one_most}; side by side the "
         "winners of the four are {gpus_four_behind} % slower than those of "
         "the best of these"],
        ["matmul of 4096 x 4096 x 4096 alone on four H100, 17 s",
         "in {gpus_alone_s} s what one found in {gpus_alone_one_s} s: "
         "compiling is what takes the time"],
        ["transpose 8192 x 8192 through Kernel Tuner 1.5.0 and Ray on them",
         "{gpus_peer} candidates a second, on one of them without Ray "
         "{gpus_peer_one}"],
        ["the seven recordings replayed exhaustively ({replay_candidates} "
         "recorded candidates), 2 cores", "{replay_s} s"],
        ["the test suite, 2 cores", "{suite_s} s"])])


def spaces(page):
    page.head("Building spaces")
    rows = page.rows("spaces")
    page.say("""Reading, compiling, building and listing the spaces that the
        authors of Kernel Tuner published at ICPP'25, beside Kernel Tuner 1.5.0,
        on one core, in the same run. How it works: [space.md](space.md).""")
    page.plot("spaces", "Building published spaces, shmtune and Kernel Tuner",
              svg.bars("Building published spaces", "milliseconds "
                       "(logarithmic)",
                       [("%s, %s" % (row["space"], who), float(row[column]),
                         "%g" % float(row[column]), who)
                        for row in rows
                        for who, column in (("shmtune", "ours_ms"),
                                            ("Kernel Tuner", "peer_ms"))],
                       x_log=True))
    ours, peer = (sum(float(row[column]) for row in rows)
                  for column in ("ours_ms", "peer_ms"))
    page.table(["space", "combinations", "valid", "shmtune", "Kernel Tuner",
                ""],
               [[row["space"], count(int(row["combinations"])),
                 count(int(row["valid"])), row["ours_ms"] + " ms",
                 "%s ms" % format(float(row["peer_ms"]), ",g"),
                 row["ratio"] + "x"]
                for row in rows] +
               [["together", "", "", "%.1f ms" % ours,
                 "%s ms" % count(peer), "%.0fx" % (peer / ours)]])
    page.source("spaces")
    page.table(["step", "a space of 10^6 configurations",
                "the six published spaces"],
               [[what] + [cell.format_map(page) for cell in cells]
                for what, *cells in (
                   ("index to configuration", "{space_index_us} us",
                    "{published_index_us} us"),
                   ("configuration to index", "{space_back_us} us",
                    "{published_back_us} us"),
                   ("uniform draw", "{space_draw_us} us",
                    "{published_draw_us} us"),
                   ("all neighbours of a configuration",
                    "{space_neighbours_us} us ({space_neighbours} of them)",
                    "{published_neighbours_us} us"))])
    page.tell("""Ten parameters of ten values that must all differ (3.6 million of
        10^10) are built in {space_differ_ms} ms, ten whose sum is 45 (432 million
        of 10^10) in {space_sum_ms} ms.""")


def strategies(page):
    page.head("Search strategies")
    rows = page.rows("strategies")
    page.tell("""On nine recordings: the four public ones of Kernel Tuner's authors
        (A100 and RTX 3090), and `conv2d`, `matmul`, `reduce`, `scan` and
        `transpose` of ours (H100; of the first two {strategies_sample} random
        configurations each). {strategies_ours_runs} runs of ours,
        {strategies_peer_runs} of each of Kernel Tuner's in the table and
        {strategies_peer_runs_slow} of the others, each on a space of its own. Kernel
        Tuner's have its defaults; "tuned" are its authors' published hyper-parameters. 0 is no
        better than random search, 1 is the optimum at once:
        [how scores are made](searching.md#scores).""")
    page.plot("strategies", "Scores of search strategies",
              svg.bars("Scores over nine recordings",
                       "score: 0 random search, 1 the optimum at once",
                       [("%s, %s" % (row["kind"], row["strategy"]),
                         float(row["score"]), "%.2f" % float(row["score"]),
                         row["kind"]) for row in rows
                        if float(row["score"]) > 0], left=300))
    cells = []
    for row in rows:
        name = "%s `%s`" % (row["kind"], row["strategy"].split(",")[0])
        name += "," + row["strategy"].split(",")[1] if "," in row[
            "strategy"] else ""
        within = [row["within_%d" % k] or "*" for k in (10, 5, 1)]
        cells.append([name, row["score"] + (
            " (%s)" % row["error"] if row["error"] else ""),
            " / ".join(within)])
    cells.append(["Kernel Tuner, {strategies_others} others",
                  "{strategies_others_score}", ""])
    page.table(["strategy", "score", "evaluations to within 10 / 5 / 1 %"],
               [[cell.format_map(page) for cell in row] for row in cells])
    page.tell("""(In brackets the error of the mean. Evaluations are geometric means
        over the recordings. *: {strategies_ours_within_5} to within 5 % and
        {strategies_ours_within_1} to within 1 %.)""")
    page.source("strategies")
    page.table(["recording", "`model`, one run", "Kernel Tuner's best",
                "its second best"],
               [[row["recording"], "%s +- %s" % (row["model"],
                                                 row["model_deviation"]),
                 "%s %s" % (row["best"], row["best_strategy"]),
                 "%s %s" % (row["second"], row["second_strategy"])]
                for row in page.rows("recordings")])
    page.text.append("![Improvement over random search against the budget "
                     "spent, five recordings](media/convergence.svg)\n\n")
    page.say("""(`shmtune score --recorded
        tunings/{conv2d,matmul,reduce,scan,transpose}/*.gz --plot FILE.svg`)""")
    page.items("""`model` is above the best of Kernel Tuner's on eight (on pnpoly
        by {strategies_pnpoly_margin}); on convolution one is above it.
        |With 16 candidates in flight (`--ahead 16 --start`, 50 runs), as on a
        machine with 16 processors, it has {strategies_flight}, without a margin
        that an improvement has to exceed {strategies_flight_before}.
        |`hybrid_vndx`, the best on five, has {strategies_hybrid_all} over all nine;
        `diff_evo`, the best of Kernel Tuner's on scan,
        {strategies_diff_evo_all}.
        |Scan's best configurations are of one method, a third of the space, which
        wants six other parameters to be as they must: a search that changes one
        at a time and begins elsewhere hardly gets there.
        |Two more recordings are not in the means: `bank_conflict` and `coalescing`,
        kernels that show one effect, where random search needs
        {strategies_demo_evaluations} evaluations and a score says how lucky the
        first five were (a run of random search: +- {strategies_demo_spread}). There
        `model` has {strategies_demo_ours}, the best of Kernel Tuner's
        {strategies_demo_peer}.
        |Kernel Tuner's `greedy_ils` does not end on matmul's recording; runs that
        think for too long, or fail, are scored as they stand.
        |Choosing takes `model` {strategies_model_ms} ms a candidate, the others
        {strategies_other_us} us at most.""".format_map(page).split("|"))


# -- the live league ------------------------------------------------------------

TUNERS = {"shmtune": "shmtune", "kernel-tuner": "Kernel Tuner"}
# Whose source a kernel is, unedited; of the others it is ours.
AUTHORS = {"convolution": "Kernel Tuner", "pnpoly": "Kernel Tuner",
           "hotspot": "Auto-Tuning Benchmark Hub",
           "dedispersion": "Auto-Tuning Benchmark Hub",
           "clconv": "CLTune, by KTT", "gemm": "CLTune, by KTT",
           "coulomb": "KTT", "nbody": "KTT"}


def seconds_of(row):
    """Infinite where the run had not come within 5 %."""
    return float(row["seconds"] or "inf")


def shares(rows, cut):
    """A step for each run that came within 5 %, from the first of all on."""
    reached = sorted(s for s in map(seconds_of, rows) if s <= cut)
    points = []
    for k, at in enumerate(reached):
        points += [(at, 100 * k / len(rows)), (at, 100 * (k + 1) / len(rows))]
    return points + [(cut, 100 * len(reached) / len(rows))]


def cut_of(rows):
    """Seconds until which it is known of all runs whether they had come
    there."""
    return min([float(row["cut_s"]) for row in rows if not row["seconds"]]
               or [max(float(row["cut_s"]) for row in rows)])


def median_of(rows):
    """Of an even number of Kernel Tuner's the lower one, as league.py has it."""
    middle = statistics.median if rows[0]["tuner"] == "shmtune" \
        else statistics.median_low
    return middle(map(seconds_of, rows))


def league_cells(kernel, rows):
    own = {name: [row for row in rows if row["kernel"] == kernel and
                  row["tuner"] == name] for name in TUNERS}
    cut = cut_of(own["kernel-tuner"] or own["shmtune"])
    medians = {name: median_of(some) if some else None
               for name, some in own.items()}
    cells = [kernel, "planted" if any(
        row["planted"] == "1" for some in own.values() for row in some)
        else AUTHORS.get(kernel, "ours")]
    for name in TUNERS:
        cells.append("" if medians[name] is None else
                     "not reached" if name == "shmtune" and
                     medians[name] > cut else said(medians[name], cut))
    ours, theirs = medians["shmtune"], medians["kernel-tuner"]
    if theirs is not None and theirs > cut and all(
            float(row["took_s"]) < cut for row in own["kernel-tuner"]
            if not row["seconds"]):
        theirs, cells[-1] = None, "not reached"      # and ended by itself
    cells.append("" if None in (ours, theirs) or ours > cut else
                 "%s%.1f" % ("> " if theirs > cut else "",
                             min(theirs, cut) / ours))
    for name in TUNERS:
        losses = [float(row["loss"]) for row in own[name] if row["loss"]]
        cells.append("%.1f %%" % (100 * max(losses)) if losses else "")
    for name in TUNERS:
        cells.append("%d of %d" % (sum(row["wrong"] == "1"
                                       for row in own[name]), len(own[name])))
    return cells


def said(seconds, cut):
    return "> %g" % cut if seconds > cut else "%.1f" % seconds


def league(page):
    """Where it has been run: the file comes with the raw runs."""
    if not page.has("league"):
        return
    rows = page.rows("league")
    plain = [row for row in rows if row["planted"] == "0"]
    cut = cut_of(plain)
    cuts = sorted({float(row["cut_s"]) for row in plain
                   if row["tuner"] == "kernel-tuner"} or {cut})
    page.head("The live league")
    medians = {name: said(median_of(
        [row for row in plain if row["tuner"] == name]), cut)
        for name in TUNERS}
    page.say("""From the command to a verified result within 5 %% of the best
        known, by the wall clock: median %s s of shmtune's %d runs, %s s of
        Kernel Tuner 1.5.0's %d, which end after %s s at the latest. Each tunes
        from nothing, several seeds. Kernel Tuner has its best strategy and its fastest
        backend, and what makes inputs and expected results is not counted.
        At the end one run of shmtune measures and verifies all that was once
        the fastest of a run: by that clock a result is near, or wrong. Of ours
        those take part that Kernel Tuner can take, which is one launch without
        setup, at the sizes of their recordings. Three kernels are planted,
        which are wrong for some configurations, and are not in the medians and
        the plot.""" % (
            medians["shmtune"],
            sum(row["tuner"] == "shmtune" for row in plain),
            medians["kernel-tuner"],
            sum(row["tuner"] == "kernel-tuner" for row in plain),
            "%g" % cuts[0] if len(cuts) == 1
            else "%g to %g" % (cuts[0], cuts[-1])))
    title = "Runs with a verified result within 5 % of the best known"
    series = []
    for name, text in TUNERS.items():
        own = [row for row in plain if row["tuner"] == name]
        if own:
            series.append((text, shares(own, cut), False))
    page.plot("league", title, svg.lines(
        title, "seconds since the command (logarithmic)", "% of the runs",
        series, x_log=True, y_to=100))
    page.table(["kernel", "from", "shmtune, s", "Kernel Tuner, s", "times as fast",
                "worst loss, shmtune", "Kernel Tuner",
                "wrong winners, shmtune", "Kernel Tuner"],
               [league_cells(kernel, rows) for kernel in
                dict.fromkeys(row["kernel"] for row in rows)])
    page.source("league")
    page.say("""(Seconds are medians, of two runs of Kernel Tuner the faster;
        losses are those of the winners. The raw journals and caches lie in
        `tests/bench/data/league`.)""")


def refusals(page):
    page.head("Refusing candidates by the compiler's report")
    page.say("""How many candidates `--max-spill` and `--min-occupancy` would have
        refused on the recordings, and how much slower the best of the rest is
        than the best of all. Refusing saves little where it is harmless, and costs
        where it is not: so both options are off.""")
    options = ["--max-spill 0"] + ["--min-occupancy %d" % k
                                   for k in (25, 50, 75)]
    cells = []
    for name in sorted({key[0] for key in page.data.values
                        if key[0].startswith("recording ")}):
        best = page.data.get(name, "all", 0, "best_us")
        row = [name[len("recording "):]]
        for option in options:
            share = page.data.get(name, option, 0, "refused_percent")
            if not page.data.has(name, option, 0.0, "best_us"):
                row.append("all")
            elif share < 0.5:
                row.append("none")
            else:
                lost = page.data.get(name, option, 0, "best_us") / best - 1
                row.append("%.0f %%: %s" % (share, "+%.1f %%" % (100 * lost)
                                            if lost >= 0.0005 else "+0 %"))
        cells.append(row)
    page.table(["recording"] + ["`%s`" % option for option in options], cells)
    page.source("recordings")
    page.say("""Ordering the candidates that wait for the GPU by what the compiler
        reported was tried as well: on seven recordings, 100 runs each, it gained
        nothing that could be told from chance, for twice the work.""")


def library(page):
    page.head("The library")
    page.table(["what", "measured"], [[cell.format_map(page) for cell in row]
                                      for row in (
        ["`shmtune_select`, exact match", "{select_exact_ns} ns, up to "
         "{select_exact_busy_ns} while others use the machine; no allocation, "
         "no system call"],
        ["`shmtune_select`, nearest size", "{select_nearest_us} us"],
        ["`shmtune_select`, {select_random} random problems, few of which fit "
         "what was tuned", "{select_random_us} us in the median, "
         "{select_random_p99_us} in the 99th percentile, "
         "{select_random_worst_us} at most"],
        ["the same, {select_crowd} problems, and a folder of 64 tunings of 60 "
         "sizes each", "{select_crowd_us} us in the median, "
         "{select_crowd_p99_us} in the 99th percentile, "
         "{select_crowd_worst_us} at most"],
        ["`shmtune_open`, all that is shipped ({open_kernels} kernels, "
         "{open_problems})", "{open_ms} ms, {open_busy_ms} while others use "
         "the machine"])])
    page.source("select")
    page.source("select_random")


def origins(page):
    page.head("Where the figures come from")
    page.table(["what", "device", "date", "command"],
               [[row["what"], row["device"], row["date"],
                 "`%s`" % row["command"]] for row in page.sources.values()])


def build(folder):
    page = Figures(folder)
    introduction(page)
    for section in (libraries, defaults, nearest, agreement, tuning, spaces,
                    strategies, league, refusals, library, short, origins):
        section(page)
    unused = sorted(set(page.values) - page.used)
    strange = sorted({row["source"] for row in page.values.values()} -
                     set(page.sources))
    if unused or strange:
        raise ValueError("figures.csv: never said: %s; no such source: %s" %
                         (unused, strange))
    return page
