# SPDX-License-Identifier: MIT
"""Plants faults and runs the tests against each; run.sh calls it (README)."""
import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import builds
from sites import Mutant, mutants

HERE = 'tests/mutation'
# The driver and the worker of tests without a GPU, which programs load and
# start but for those of ALONE, and what scripts among the tests run.
FAKES = ['tests/fake/fake_cuda.la', 'tests/fake/worker']
HELPERS = ['shmtune', 'libshmtune.la', *FAKES, 'tests/unit/expr/eval',
           'tests/support/choose']
ALONE = {'base', 'expr', 'yaml', 'space', 'kernel', 'device', 'record', 'data',
         'search', 'exchange', 'score'}
# Tests of a module beside tests/unit/MODULE.
BESIDE = {
    'command': ['tests/cli/'],
    'target': ['tests/cli/worker.sh', 'tests/cli/inspect.sh',
               'tests/cli/tune_faults.sh', 'tests/cli/jobs.sh'],
    'tune': ['tests/cli/tune.sh', 'tests/cli/resume.sh',
             'tests/cli/tune_faults.sh'],
    'profile': ['tests/cli/explain.sh'],
    'figure': ['tests/cli/figures.sh'],
    'exchange': ['tests/cli/import.sh', 'tests/cli/show.sh'],
    'record': ['tests/cli/resume.sh', 'tests/cli/ship.sh'],
    'search': ['tests/unit/score/', 'tests/unit/tune/'],
    'engine': ['tests/unit/search/', 'tests/unit/score/'],
    'space': ['tests/unit/kernel/', 'tests/cli/space.sh'],
    'main': ['tests/cli/'],
    'data': ['tests/unit/bench/'],
    'gpu': ['tests/unit/bench/', 'tests/unit/runtime/'],
}
# A machine that others use too can be some times slower than it was.
LIMIT_S = 600
PATIENCE_S, PATIENCE = 20, 10
QUICK_S = 3
# --gpu: what runs on the device, and what speaks to it.
GPU_FILES = ('src/bench/bench.c', 'src/bench/probe.c', 'src/bench/run.c',
             'src/bench/source.c', 'src/gpu/driver.c', 'src/gpu/module.c')


def module_of(file):
    if file.startswith('search/'):
        return 'engine' if '/engine/' in file else 'search'
    parts = file.split('/')
    return parts[1] if len(parts) > 2 else 'main'


def copy(root, tree):
    """Makes the copy what the checkout is; what differs gets today's time, so
    that make builds it again."""
    if not tree.exists():
        tree.mkdir(parents=True)
        shutil.copytree(root / 'build', tree / 'build', symlinks=True,
                        ignore=lambda d, n: ['mutation']
                        if Path(d) == root / 'build' else [])
    skip = {'.git', 'build', 'deps', 'autom4te.cache'}
    for path in sorted(root.iterdir()):
        if path.name in skip or path.name.startswith('build-') and \
                path.name != 'build-aux':
            continue
        for file in [path] if path.is_file() else path.rglob('*'):
            there = tree / file.relative_to(root)
            if file.is_dir() and not file.is_symlink():
                there.mkdir(parents=True, exist_ok=True)
            elif not there.exists() and not there.is_symlink():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, there, follow_symlinks=False)
            elif file.is_file() and \
                    file.read_bytes() != there.read_bytes():
                shutil.copyfile(file, there)
    for file in [p for d in ('src', 'search', 'tests')
                 for p in (tree / d).rglob('*.[ch]')]:
        if not (root / file.relative_to(tree)).exists():
            file.unlink()


class Tests:
    """The tests of the build, how they are built and how long they take."""

    def __init__(self, root, work, asan=False):
        self.root = root
        self.build = work / 'asan' if asan else root / 'build'
        self.log = work / 'log'
        self.baseline = work / f'baseline{"-asan" if asan else ""}.tsv'
        if asan:
            builds.configure(root, self.build, ['--enable-sanitizers'])
        self.make(['Makefile'])
        makefile = (self.build / 'Makefile').read_text().replace('\\\n', ' ')
        variables = dict(re.findall(r'^(\w+) = (.*)$', makefile, re.M))

        def words(name):
            out = []
            for word in variables.get(name, '').split():
                inner = re.fullmatch(r'\$\((\w+)\)', word)
                out += words(inner.group(1)) if inner else \
                    [word.replace('$(EXEEXT)', '')]
            return out
        self.programs = set(words('check_PROGRAMS'))
        self.all = [t for t in words('TESTS')
                    if not t.startswith(('tests/rules/', 'tests/gpu/'))]
        self.seconds = {}
        if self.baseline.exists():
            for line in self.baseline.read_text().splitlines():
                name, seconds = line.split('\t')
                self.seconds[name] = float(seconds)

    def make(self, targets):
        command = ['make', '-s', '-C', str(self.build), 'WARN_CFLAGS=-w',
                   *targets]
        with open(self.log, 'w') as log:
            return subprocess.run(command, stdout=log, stderr=log).returncode

    def build_for(self, test):
        targets = HELPERS
        if test in self.programs:
            targets = [test]
            if test.split('/')[2] not in ALONE:
                targets = [test, *FAKES]
        return self.make(targets) == 0

    def run(self, test):
        """Whether it passes; what it says is in the log."""
        file = self.build / test if test in self.programs else \
            self.root / test
        limit = PATIENCE_S + PATIENCE * self.seconds[test] \
            if test in self.seconds else LIMIT_S
        shell = f'ulimit -S -f 2000000; cd "{self.build}"; "{file}"; exit $?'
        # Process 1 is a shell, which waits for the orphans it is given.
        command = ['unshare', '--pid', '--fork', '--mount-proc',
                   '--kill-child', 'sh', '-c', '"$@"; exit $?', 'sh',
                   'timeout', '-s', 'KILL', str(int(limit)), 'sh', '-c',
                   shell]
        environment = dict(os.environ, SHMT_SRCDIR=str(self.root),
                           SHMT_BUILDDIR=str(self.build))
        with open(self.log, 'wb') as log:
            code = subprocess.run(command, stdout=log, stderr=log,
                                  stdin=subprocess.DEVNULL,
                                  env=environment).returncode
        said = self.log.read_bytes()
        return code in (0, 77) and not re.search(rb'^not ok', said, re.M)

    def measure(self, tests):
        """Each passes today, and takes so long."""
        for test in tests:
            if test in self.seconds:
                continue
            if not self.build_for(test):
                sys.exit(f'mutation: {test} does not build; see {self.log}')
            begin = time.monotonic()
            if not self.run(test):
                print(f'mutation: {test} fails without a fault and is left '
                      f'out:', file=sys.stderr)
                print(*self.log.read_text(errors='replace').splitlines()[-40:],
                      sep='\n', file=sys.stderr)
                self.all = [t for t in self.all if t != test]
                continue
            self.seconds[test] = time.monotonic() - begin
            with open(self.baseline, 'a') as out:
                out.write(f'{test}\t{self.seconds[test]:.2f}\n')

    def of(self, file):
        """Those of its module: its namesakes first, then the quick ones; slow
        scripts that are neither namesakes nor in BESIDE by their own name
        wait for --suite."""
        module = module_of(file)
        beside = BESIDE.get(module, [])
        mine = [t for t in self.all
                if t.startswith((f'tests/unit/{module}/', *beside))]
        self.measure(mine)
        stem = Path(file).stem.split('_')[0]
        mine = [t for t in mine if t in self.seconds and
                (t in self.programs or t in beside or stem in t or
                 self.seconds[t] < QUICK_S)]
        return sorted(mine, key=lambda t: (stem not in t, self.seconds[t]))


def try_one(tests, mutant, chosen):
    """(verdict, by) of a fault: noticed, survived or unbuilt."""
    path = tests.root / mutant.file
    text = path.read_text()
    path.write_text(mutant.apply(text))
    try:
        for test in chosen:
            if not tests.build_for(test):
                return 'unbuilt', '-'
            if not tests.run(test):
                return 'noticed', test
        return 'survived', '-'
    finally:
        path.write_text(text)


# -- the checked-in list ---------------------------------------------------

def read_list(root):
    """Blocks of short.list: `# name`, `in MODULE` (a folder), `- ` lines,
    `+ ` lines, `by TEST...`, and `as root` where a test gives files away."""
    for block in (root / HERE / 'short.list').read_text().split('\n\n'):
        entry = {'-': [], '+': []}
        for line in block.splitlines():
            if line.startswith('# '):
                entry['name'] = line[2:]
            elif line[:3] in ('in ', 'by ', 'as '):
                entry[line[:2]] = line[3:].split()
            elif line[:1] in ('-', '+'):
                entry[line[0]].append(line[2:])
        if 'in' in entry:
            yield entry


def find_place(root, entry):
    """The one mutant that an entry describes, or why there is none."""
    old, new = '\n'.join(entry['-']), '\n'.join(entry['+'])
    places = [(str(path.relative_to(root)), m.start())
              for path in sorted((root / entry['in'][0]).glob('*.c'))
              for m in re.finditer(re.escape(old), path.read_text())]
    if len(places) != 1:
        return None, f'not planted: {entry["in"][0]} has its text ' \
            f'{len(places)} times; expected once: mend short.list'
    return Mutant(entry['name'], places[0][0], 0, 'list', places[0][1], old,
                  new, ''), ''


def is_root():
    """Not in a name space where nobody else is."""
    return int(Path('/proc/self/uid_map').read_text().split()[2]) > 1


def short(root, tests, only):
    count = failed = 0
    tests.seconds = {}      # every test has to pass today
    for entry in read_list(root):
        if only not in entry['name']:
            continue
        count += 1
        if 'as ' in entry and not is_root():
            print(f'ok {count} - {entry["name"]}  # SKIP only root can',
                  flush=True)
            continue
        mutant, verdict = find_place(root, entry)
        by = '-'
        if mutant is not None:
            tests.measure(entry['by'])
            verdict = 'not planted: a test fails without it'
            if all(test in tests.seconds for test in entry['by']):
                verdict, by = try_one(tests, mutant, entry['by'])
        failed += verdict != 'noticed'
        print(f'ok {count} - {entry["name"]}  # noticed by {by}'
              if verdict == 'noticed' else
              f'not ok {count} - {entry["name"]}  # {verdict}', flush=True)
    print(f'1..{count}')
    return failed


# -- those drawn by rule ---------------------------------------------------

def draw(root, seed, count, modules, of_gpu):
    """`count` mutants: each module has at least a few and else by its length;
    within one every rule is as likely.  Whether one is drawn hangs on its
    name, so that an edit elsewhere draws the same.  With `of_gpu` the files of
    GPU_FILES stand for the modules."""
    def lot(*words):
        return hashlib.sha256(' '.join([str(seed), *words]).encode()).digest()
    pools = {}
    for folder in ('src', 'search'):
        for path in sorted((root / folder).rglob('*.c')):
            file = str(path.relative_to(root))
            if of_gpu and file not in GPU_FILES:
                continue
            for mutant in mutants(file, path.read_text()):
                pools.setdefault(file if of_gpu else module_of(file), {}) \
                    .setdefault(mutant.rule, []).append(mutant)
    pools = {m: p for m, p in pools.items() if not modules or m in modules}
    sizes = {m: sum(map(len, p.values())) for m, p in pools.items()}
    total = sum(sizes.values())
    out = []
    for module, pool in pools.items():
        rules = sorted(pool, key=lambda rule: lot(module, rule))
        # The first of each rule, then the second of each.
        turns = sorted((k, rules.index(rule), mutant) for rule in rules
                       for k, mutant in enumerate(sorted(
                           pool[rule], key=lambda m: lot(m.name))))
        share = max(1 if of_gpu else 4, round(count * sizes[module] / total))
        out += [mutant for _, _, mutant in turns[:share]]
    # Mixed, so that a run that is cut has something of every module.
    return sorted(out, key=lambda m: lot(m.name))


def read_results(work):
    """The last result of each, with what gpu.sh said of those left here."""
    out = {}
    for path in (work / 'results.tsv', work / 'gpu.tsv'):
        for line in path.read_text().splitlines() if path.exists() else []:
            name, verdict, *rest = line.split('\t')
            if path.stem == 'results' or verdict == 'noticed':
                out[name] = (verdict, *rest)
    return out


def read_equivalents(root):
    """NAME: why no test can tell it from the source."""
    out = {}
    for line in (root / HERE / 'equivalent.list').read_text().splitlines():
        if line and not line.startswith('#'):
            name, why = line.split(' ', 1)
            out[name] = why
    return out


def report(root, drawn, results):
    equivalents = read_equivalents(root)
    rows = {}
    for mutant in drawn:
        verdict = results.get(mutant.name, ('not run',))[0]
        if mutant.name in equivalents:
            verdict = 'equivalent'
        row = rows.setdefault(module_of(mutant.file), {})
        row[verdict] = row.get(verdict, 0) + 1
        if verdict == 'survived':
            print(f'{mutant.name} {mutant.file}:{mutant.line}: '
                  f'{mutant.rule}: {mutant.shown}')
    names = ['noticed', 'survived', 'equivalent', 'unbuilt', 'not run']
    print(f'{"module":10}' + ''.join(f'{n:>11}' for n in names) + '   share')
    rows['all'] = {n: sum(r.get(n, 0) for r in rows.values()) for n in names}
    for module, row in rows.items():
        told = row.get('noticed', 0) + row.get('survived', 0)
        share = f'{100 * row.get("noticed", 0) / told:.0f} %' if told else '-'
        print(f'{module:10}' + ''.join(f'{row.get(n, 0):11}' for n in names) +
              f'{share:>8}')


def main():
    parser = argparse.ArgumentParser(prog='run.sh', description=__doc__)
    parser.add_argument('root', type=Path, help=argparse.SUPPRESS)
    parser.add_argument('work', type=Path, help=argparse.SUPPRESS)
    parser.add_argument('--copy', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--short', action='store_true',
                        help='the checked-in list, as CI runs it')
    parser.add_argument('--only', default='',
                        help='those with this in their name')
    parser.add_argument('--tests', default='',
                        help='with these tests alone, with commas')
    parser.add_argument('--count', type=int, default=200,
                        help='how many to draw (default: %(default)s)')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--modules', default='',
                        help='of these modules alone, with commas')
    parser.add_argument('--minutes', type=float, default=1e9,
                        help='begin none after so long')
    parser.add_argument('--suite', action='store_true',
                        help='what the tests of its module leave gets all')
    parser.add_argument('--asan', action='store_true',
                        help='in a build with ASan and UBSan')
    parser.add_argument('--again', action='store_true',
                        help='try once more what survived')
    parser.add_argument('--gpu', action='store_true',
                        help='of what runs on a GPU, and what speaks to it')
    parser.add_argument('--gpu-build', action='store_true',
                        help='build these for gpu.sh on another machine')
    parser.add_argument('--report', action='store_true')
    parser.add_argument('--list', action='store_true')
    args = parser.parse_args()
    root, work = args.root, args.work
    if args.copy:
        copy(root, work / 'tree')
        return 0
    if args.short:
        return short(root, Tests(root, work), args.only) != 0
    drawn = draw(root, args.seed, args.count,
                 set(filter(None, args.modules.split(','))),
                 args.gpu or args.gpu_build)
    if args.list:
        for mutant in drawn:
            print(f'{mutant.name} {mutant.file}:{mutant.line}: '
                  f'{mutant.rule}: {mutant.shown}')
        return 0
    if args.report:
        report(root, drawn, read_results(work))
        return 0
    if args.gpu_build:
        return builds.for_gpu(root, work, drawn)
    return lane(root, work, drawn, args)


def lane(root, work, drawn, args):
    tests = Tests(root, work, args.asan)
    results = read_results(work)
    equivalents = read_equivalents(root)
    begin = time.monotonic()
    for mutant in drawn:
        had = results.get(mutant.name)
        if mutant.name in equivalents or args.only not in mutant.name or \
                had and not (had[0] == 'survived' and args.again):
            continue
        if time.monotonic() - begin > 60 * args.minutes:
            break
        chosen = list(filter(None, args.tests.split(',')))
        tests.measure(chosen)
        if not chosen:
            chosen = tests.of(mutant.file)
        elif not all(test in tests.seconds for test in chosen):
            return 'mutation: nothing was planted: a test fails without it'
        if args.suite:
            tests.measure(tests.all)
            chosen += sorted((t for t in tests.seconds if t in tests.all and
                              t not in chosen), key=tests.seconds.get)
        start = time.monotonic()
        verdict, by = try_one(tests, mutant, chosen)
        if args.asan and verdict == 'noticed':
            by = f'sanitizers {by}'
        results[mutant.name] = (verdict, by)
        line = f'{mutant.name}\t{verdict}\t{by}\t' \
            f'{time.monotonic() - start:.1f}\t{mutant.file}:{mutant.line}: ' \
            f'{mutant.rule}: {mutant.shown}'
        with open(work / 'results.tsv', 'a') as out:
            out.write(line + '\n')
        print(line, flush=True)
    report(root, drawn, results)
    return 0


if __name__ == '__main__':
    sys.exit(main())
