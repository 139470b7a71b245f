# SPDX-License-Identifier: MIT
"""What the page says, section by section."""
import claims_page as p


def write(page):
    intro(page)
    reduction(page)
    transposing(page)
    multiplying(page)
    memory_kinds(page)
    coalescing(page)
    conflicts(page)
    blocks(page)
    cap(page)
    diverging(page)
    streaming(page)
    why(page)


def intro(page):
    page.text.append("# The kernels, and what is claimed of such kernels\n\n")
    page.say("""Tutorials on CUDA shared memory make claims with figures. This page
        has the same claims measured, on one GPU: %s. Every kernel's result was
        verified before it was timed; times are medians of 21 runs with a cold
        L2 cache unless a table says otherwise; counters are Nsight Compute's,
        of one launch.""" % page.data.device[0])
    page.say("""`sh tests/bench/claims.sh BUILD OUT` measures it again (95 seconds),
        `python3 tests/bench/claims.py take OUT` puts the data into
        `tests/bench/data` and `python3 tests/bench/claims.py` makes the page and
        its plots; `make check` holds that the page is what the data make.
        "Recorded" are exhaustive or sampled runs of the tuner on the same kind
        of GPU (`tunings/*/*.journal.gz`).""")


def reduction(page):
    page.head("Reduction, step by step")
    n = 1 << 24
    p.ladder(page)
    total, adds, stall = p.rounding(page)
    page.say("Float32 rounding: %s added ten million times gives %s, not "
             "12,300,000 (%.1f %% off); added on, the sum stops at %s after %s "
             "additions." % ("1.23", "{:,.0f}".format(total),
                             100 * abs(total / 12.3e6 - 1),
                             "{:,.0f}".format(stall),
                             "{:,.0f}".format(adds)))
    page.say("Recorded, all else equal: `WARP_UNROLL` 1 (last warp by "
             "`__syncwarp`) and 2 (by shuffles) against 0 (barriers to the "
             "end); then other axes; ratio of times, below 1 is faster:")
    rows = []
    for variant in ("WARP_UNROLL 1 against 0", "WARP_UNROLL 2 against 0",
                    "EXCHANGE warps against tree", "VECTOR 4 against 1",
                    "UNROLL 8 against 1", "FINISH ticket against stages"):
        for row in p.pair_rows(page, variant):
            if row[0].startswith("reduce"):
                rows.append(["`%s`" % variant] + row[1:])
    page.table(["reduce 2^24"] + p.PAIR_TITLES[1:], rows)


def transposing(page):
    page.head("Transpose: naive, tile, padded tile")
    p.transpose(page)
    page.table(["recorded, all else equal"] + p.PAIR_TITLES,
               [["`%s`" % variant] + row for variant in (
                   "PAD 0 against 1", "PAD 4 against 1",
                   "SWIZZLE 1 against 0", "VECTOR 4 against 1")
                for row in p.pair_rows(page, variant)
                if row[0].startswith("transpose")])


def multiplying(page):
    page.head("Matrix product: global memory against shared tiles")
    p.matmul(page)


def memory_kinds(page):
    page.head("Static against dynamic shared memory")
    p.static_dynamic(page)


def coalescing(page):
    page.head("Coalescing")
    p.stride_plot(page)
    p.orders(page)


def conflicts(page):
    page.head("Bank conflicts")
    p.banks(page)
    p.bank_once(page)


def blocks(page):
    page.head("Block size, registers, spills, occupancy")
    p.block_size(page)
    p.recorded_blocks(page)


def cap(page):
    page.head("48 KiB against 227 KiB")
    p.cap(page)


def diverging(page):
    page.head("Warp divergence")
    p.divergence(page)


def streaming(page):
    page.head("Streams and events")
    p.streams(page)


def why(page):
    page.head("Why the tuned configurations are faster")
    p.explained(page)
