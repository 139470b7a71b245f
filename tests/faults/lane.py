# SPDX-License-Identifier: MIT
"""Fails allocations and system calls, one at a time; run.sh and sample.sh call
it (README)."""
import argparse
import errno
import gzip
import hashlib
import json
import mmap
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, namedtuple
from pathlib import Path

from scenarios import SCENARIOS, House

# -- what can fail, and how ---------------------------------------------------

ROLES = {'program': 1, 'child': 2, 'compile': 3, 'measure': 4, 'courier': 5,
         'relay': 6, 'application': 7}
KINDS = {'memory': 1, 'system': 2}
ONCE, FROM_THERE_ON, SHORT = range(3)
SHORT_TEXT = 'short'
ON_TEXT = 'on'         # this allocation fails, and all after it
FAULTS = {name: faults.split() for names, faults in (
    ('malloc calloc realloc reallocarray aligned_alloc posix_memalign',
     'ENOMEM'),
    ('open open64 openat fopen fopen64 opendir', 'EMFILE EACCES ENOMEM'),
    ('fdopendir fdopen', 'ENOMEM'),
    ('freopen', 'EMFILE'),
    ('read pread', 'EIO EINTR short'),
    ('write', 'ENOSPC EIO EINTR short'),
    ('send', 'ENOMEM EINTR short'),
    ('close fclose', 'EIO'),
    ('fsync', 'EIO EINTR'),
    ('ftruncate rename renameat mkdir mkdirat mkdtemp', 'ENOSPC EACCES'),
    ('unlink unlinkat remove rmdir', 'EACCES'),
    ('stat fstat fstatat access', 'EACCES EIO'),
    ('readdir readlink readlinkat realpath lseek', 'EIO'),
    ('getcwd', 'EACCES'),
    ('glob', 'ENOMEM EIO'),
    ('flock', 'ENOLCK'),
    ('fchmod prctl setrlimit setpgid sched_getaffinity', 'EPERM'),
    ('fcntl', 'EMFILE'),
    ('ioctl', 'ENOTTY'),
    ('getrlimit sysconf', 'EINVAL'),
    ('close_range', 'ENOSYS'),
    ('dup2', 'EMFILE'),
    ('fork', 'EAGAIN ENOMEM'),
    ('execv', 'EACCES ENOMEM'),
    ('pipe2 socketpair', 'EMFILE'),
    ('poll', 'ENOMEM EINTR'),
    ('waitpid waitid', 'EINTR'),
    ('kill', 'EPERM'),
    ('nanosleep', 'EINTR'),
    ('pthread_create', 'EAGAIN'),
    ('pthread_mutex_init', 'ENOMEM'),
    ('dlopen', 'EMFILE'),
    ('fputs fputc putc puts putchar fwrite fflush printf fprintf', 'ENOSPC'),
    ('fgets getc', 'EISDIR'),
) for name in names.split()}
PRINTS = {'fputs', 'fputc', 'putc', 'puts', 'putchar', 'fwrite', 'fflush',
          'printf', 'fprintf'}
REMOVES = {'unlink', 'unlinkat', 'remove', 'rmdir', 'kill'}
# Refusals of our own, as docs/commands.md lists them, without wrong usage
# and without a defect.
DOCUMENTED = {2, 3, 4, 5, 6, 7, 8, 9, 10, 130}
LIMIT_S = 30

Point = namedtuple('Point', 'role kind number call fault')
Run = namedtuple('Run', 'status out err')

# struct plan of shim.c
HEAD = struct.Struct('<QIIiIiIQ20s4x')
FRAMES, OBJECT, CALLS, NAME = 24, 256, 1 << 18, 20
FRAMES_AT = HEAD.size
CALLS_AT = FRAMES_AT + FRAMES * (8 + OBJECT)
SIZE = CALLS_AT + CALLS * NAME


class Slot:
    """A folder that a scenario runs in, and the shim's plan."""
    def __init__(self, house, template, number):
        self.house, self.template = house, template
        self.folder = house.work / f'slot{number}'
        self.path = house.work / f'plan{number}'
        with open(self.path, 'wb') as file:
            file.truncate(SIZE)
        with open(self.path, 'r+b') as file:
            self.plan = mmap.mmap(file.fileno(), SIZE)
        self.restore(template)

    def restore(self, template):
        self.template = template
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(template, self.folder, symlinks=True)
        self.fresh = stamps(self.folder)

    def clean(self):
        return stamps(self.folder) == self.fresh

    def arm(self, role, kind, at=0, only='', fault='ENOMEM'):
        how = {SHORT_TEXT: SHORT, ON_TEXT: FROM_THERE_ON}.get(fault, ONCE)
        code = getattr(errno, fault, errno.ENOMEM)
        self.plan[FRAMES_AT:CALLS_AT] = bytes(CALLS_AT - FRAMES_AT)
        HEAD.pack_into(self.plan, 0, at, KINDS[kind], ROLES[role], code, how,
                       os.getpid(), 0, 0, only.encode())

    def fired(self):
        return HEAD.unpack_from(self.plan, 0)[6] == 1

    def calls(self):
        count = min(HEAD.unpack_from(self.plan, 0)[7], CALLS)
        return [self.plan[at:at + NAME].rstrip(b'\0').decode()
                for at in range(CALLS_AT, CALLS_AT + count * NAME, NAME)]

    def frames(self):
        found = []
        for at in range(FRAMES_AT, CALLS_AT, 8 + OBJECT):
            offset, = struct.unpack_from('<Q', self.plan, at)
            name = self.plan[at + 8:at + 8 + OBJECT].rstrip(b'\0').decode()
            if name:
                found.append((name, offset))
        return found

    def run(self, scenario, faulty=True):
        house = self.house
        env = house.environment(self.folder, scenario)
        if faulty:
            env['LD_PRELOAD'] = str(house.build /
                                    'tests/faults/.libs/shim.so')
            env['SHMT_FAULTS'] = str(self.path)
        source = self.folder / scenario.stdin if scenario.stdin else \
            os.devnull
        with open(source, 'rb') as stdin:
            process = subprocess.Popen(
                house.words(scenario), stdin=stdin, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, cwd=self.folder, env=env,
                start_new_session=True)
        try:
            out, err = process.communicate(timeout=LIMIT_S)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            status = None
        if scenario.far and not wait_for_session(process.pid):
            status = None
        return Run(status, self.plainly(out), self.plainly(err))

    def plainly(self, text):
        """What is printed, without folders and what a clock measured."""
        text = text.decode(errors='replace')
        text = text.replace(str(self.folder), 'SLOT')
        text = text.replace(str(self.house.build), 'BUILD')
        for pattern, by in CLOCKS:
            text = pattern.sub(by, text)
        return text


CLOCKS = [(re.compile(pattern, re.M), by) for pattern, by in (
    (r' +', ' '),
    (r'in [0-9.]+ m?s\b', 'in T'),
    (r'as [0-9,]+ nodes \([0-9.]+ [KM]iB\)', 'as NODES'),
    (r'"(build_ms|nodes|bytes|search_s|gpu_busy|candidates_per_s|'
     r'us_per_ask|resumed|elapsed_s)": [0-9.e+-]+', r'"\1": T'),
    (r'\([0-9.,]+/s, GPU busy [0-9,]+ %\)', '(RATE)'),
    (r'( % \d+ \d+) \S+ \S+ (?:% )?(BLOCK_X|TILE)=', r'\1 RATE \2='),
    (r'\b(at|compile_ms|measure_ms|elapsed_s): [0-9.e+-]+', r'\1: T'),
    (r'shmtune(-counters)?-[A-Za-z0-9]{6}\b', 'SCRATCH'),
    (r'^(model|random|hill)( .*) [0-9.]+$', r'\1\2 T'),
)]


def wait_for_session(leader):
    """What is on another machine ends by itself, a little later.  False: it
    does not."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        alive = False
        for process in filter(str.isdigit, os.listdir('/proc')):
            try:
                words = Path('/proc', process, 'stat').read_text().rpartition(
                    ')')[2].split()
            except OSError:
                continue
            alive |= int(words[3]) == leader and words[0] != 'Z'
        if not alive:
            return True
        time.sleep(0.01)
    return False


def stamps(folder):
    found = {}
    for base, folders, files in os.walk(folder):
        for name in folders:
            found[os.path.join(base, name)] = None
        for name in files:
            path = os.path.join(base, name)
            about = os.lstat(path)
            found[path] = (about.st_mode, about.st_size, about.st_mtime_ns,
                           about.st_ino)
    return found


def content(path, data):
    """A file as it should be whenever it was made: of a journal the results,
    each once."""
    if path.endswith('.gz'):
        data = gzip.decompress(data)
    # A draft names its source by the folder of the slot.
    text = re.sub(r'/slot\d+/', '/SLOT/', data.decode(errors='replace'))
    if '.journal' in path:
        lines = [re.sub(r'\b(at|compile_ms|measure_ms): [0-9.e+-]+', '', line)
                 for line in text.splitlines() if '- {try:' not in line]
        head = [line for line in lines if not line.startswith('- {')]
        return '\n'.join(head + sorted(set(lines) - set(head)))
    if path.endswith('/launch.yaml'):      # addresses, and where it ran
        text = re.sub(r'^folder: ".*"$', 'folder: SLOT', text, flags=re.M)
        return re.sub(r'(bytes: ")[0-9a-f]{12}0000', r'\1', text)
    if path.endswith(('.cubin', '.res')):
        return 'a binary'
    # Of a run that was made meanwhile: its times are others each time.
    if path in ('r.svg', 'r.html'):
        end = '</svg>' if path == 'r.svg' else '</html>'
        return 'a whole page' if text.rstrip().endswith(end) else text
    return re.sub(r'(elapsed_s|compile_ms): [0-9.e+-]+', r'\1: T', text)


def tree(folder):
    """Every file; one that cannot be read as what its name says is a text that
    says so."""
    found = {}
    for base, folders, files in os.walk(folder):
        at = os.path.relpath(base, folder)
        for name in folders:
            found[os.path.normpath(f'{at}/{name}/')] = None
        for name in files:
            path = os.path.normpath(f'{at}/{name}')
            try:
                found[path] = content(path, Path(base, name).read_bytes())
            except (OSError, EOFError, ValueError) as reason:
                found[path] = f'broken: {reason}'
    return found


# -- what must hold -----------------------------------------------------------

def message(run):
    found = re.findall(r'^shmtune: (?:error: )?(.+)$', run.err, re.M)
    return found[-1] if found else ''


def wrong_refusal(point, run):
    """The command gave up: with the right status and words?"""
    text = message(run)
    if run.status not in DOCUMENTED:
        return f'exit status {run.status}: {text or run.err[-200:]}'
    if not text:
        return None if point.call in PRINTS else \
            f'exit status {run.status} without a word'
    if point.fault in ('ENOMEM', ON_TEXT):
        good = run.status == 7 and 'memory' in text or \
            point.kind == 'system' and 'memory' in text and run.status == 5
        return None if good else f'memory is told as {run.status}: {text}'
    # The loader says why in words alone, so what it cannot open is not found.
    if point.call == 'dlopen' and run.status == 8 and 'cannot open' in text:
        return None
    if run.status not in (5, 6):
        return f'{point.fault} is told as {run.status}: {text}'
    if point.call not in PRINTS | {'dlopen', 'pthread_mutex_init'} and \
            os.strerror(getattr(errno, point.fault)) not in text and \
            'try again' not in text:
        return f'why is not told: {text}'
    return None


def wrong_result(scenario, point, plain, run):
    """What one run did after the fault, or None."""
    if run.status is None:
        return 'hangs'
    if run.status < 0:
        return f'killed by signal {-run.status}: {run.err[-300:]}'
    if 'Sanitizer' in run.err or 'runtime error: ' in run.err:
        return 'a sanitizer: ' + run.err[:1500]
    if (run.status, run.out) == (plain.status, plain.out):
        return None
    if scenario.name.startswith('library'):
        return wrong_library(plain, run)
    if scenario.name.startswith('worker') and run.status == 0 and \
            point.call not in PRINTS:
        return wrong_answers(plain, run)
    if point.fault in ('EINTR', SHORT_TEXT):
        return f'{point.fault} is not transparent: {message(run)}'
    # Its findings are its words, one of them what was found instead.
    if scenario.name.startswith('doctor') and run.status in (plain.status, 6) and \
            set(run.out.splitlines()) - set(plain.out.splitlines()):
        return None
    if run.status == plain.status:
        told = set(run.err.splitlines()) - set(plain.err.splitlines())
        # What a section lacks stands in it.
        told |= {line for line in run.out.splitlines()
                 if line not in plain.out and 'no CUDA driver' in line}
        # No memory is no damage; but a dlopen without says otherwise, and an
        # application goes on.
        noted = scenario.notes and told and (
            point.call != 'malloc' or
            scenario.name.startswith('doctor') or
            point.role == 'application' or
            any('no CUDA driver' in line for line in told))
        return None if noted or point.call in PRINTS else \
            'another result, and no word of it: ' + first_new(run, plain)
    if '--json' in scenario.words and point.call not in PRINTS:
        try:
            read = json.loads(run.out.replace(': T', ': 0'))
            if read.get('status', run.status) != run.status:
                return 'its JSON has another status'
        except ValueError as reason:
            return f'no JSON ({reason}): {run.out[:100]}'
    if scenario.name.startswith('check') and run.status == 2 and (
            point.call == 'dlopen' or
            os.strerror(getattr(errno, point.fault)) in
            ' '.join(run.out.split())):
        return None        # what cannot be checked is a finding
    return wrong_refusal(point, run)


def first_new(run, plain):
    new = set(run.out.splitlines()) - set(plain.out.splitlines())
    return next((line for line in run.out.splitlines() if line in new),
                'lines are missing')


def wrong_library(plain, run):
    """One time may fail, with words; the other is as ever."""
    first, found, second = run.out.partition('again: 0 \n')
    if run.status != 0 or not found:
        return f'exit status {run.status}: {run.out[-200:]}{run.err[-300:]}'
    noted = run.out.count('\nnote: ') > plain.out.count('\nnote: ')
    for line in run.out.splitlines():
        what, code, words = re.match(r'(.*?): (\d+) (.*)$', line).groups()
        if what != 'right elements' and code != '0' and not words and \
                not (what == 'kernel' and noted):
            return f'no word of why: {line}'
    usual = plain.out.partition('again: 0 \n')
    if second == usual[2] or first == usual[0]:
        return None
    # Whether there is a driver is looked up once in a process.
    if re.search(r'^device: 6 ', first, re.M) and \
            re.search(r'^device: 6 ', second, re.M):
        return None
    return f'the second time differs: {first_new(run, plain)}'


def wrong_answers(plain, run):
    """A worker answers a request with what went wrong."""
    if 'verdict: out_of_memory' in run.out or \
            len(run.out.splitlines()) != len(plain.out.splitlines()):
        return f'answers {run.out}'
    told = [line for line in run.out.splitlines()
            if line not in plain.out.splitlines()]
    bad = [line for line in told if ' error: ' not in line]
    return f'answers {bad[0]}' if bad else None


class Expected:
    """What the scenario does without a fault: at first, and once more."""
    def __init__(self, slot, scenario):
        self.template = slot.template
        if scenario.before:
            slot.restore(slot.template)
            slot.house.plain(slot.folder, scenario, scenario.before)
            self.template = slot.house.work / f'before-{scenario.name}'
            shutil.rmtree(self.template, ignore_errors=True)
            shutil.copytree(slot.folder, self.template, symlinks=True)
        slot.restore(self.template)
        self.start = tree(slot.folder)
        self.runs, self.trees = [], []
        for _ in range(2):
            self.runs.append(slot.run(scenario, faulty=False))
            self.trees.append(tree(slot.folder))
        slot.restore(self.template)

    def wrong_left(self, point, found, noted):
        """What the fault may have left behind: of each file the old or a new
        one, of a journal any number of results, and nothing else; but where
        removing fails, what was to be removed."""
        for path, now in found.items():
            allowed = [each[path] for each in (self.start, *self.trees)
                       if path in each]
            if not allowed and (point.call in REMOVES or
                                path.startswith(('tmp/shmtune-',
                                                 'made/.capture-'))):
                continue
            if not allowed:
                return f'left behind: {path}'
            if now in allowed or now is None:
                continue
            if path.endswith('.journal') and not str(now).startswith('broken'):
                continue
            # Of what could be read, where a note says what could not.
            if noted and (path.startswith('made/blend') or
                          path.endswith('.html') and
                          now.rstrip().endswith('</html>')):
                continue
            return f'half a file: {path}: {str(now)[:100]}'
        gone = [path for path in self.start if path not in found and
                path in self.trees[0]]
        return f'gone: {gone[0]}' if gone else None

    def wrong_again(self, point, run, found, noted):
        """The plain run after it.  It removes what an earlier one left, but
        for what that one was not able to."""
        if point.call in REMOVES:
            found = {path: data for path, data in found.items()
                     if path in self.trees[0] or path in self.start}
        if run.status != self.runs[0].status:
            return f'the plain run after it: {run.status} {message(run)}'
        if run.out not in [each.out for each in self.runs]:
            return f'the plain run after it prints: {run.out[:300]}'
        # Where the run that failed has begun a journal, that is another old
        # one.
        found = {path: data for path, data in found.items()
                 if not path.endswith('.journal.old.2')}
        # What could not be captured whole has taken the first name.
        trees = self.trees
        if noted:
            found, *trees = [{path: data for path, data in each.items()
                              if not path.startswith('made/blend')}
                             for each in (found, *trees)]
        if found not in trees:
            for expected in trees[:1]:
                for path in sorted(set(found) | set(expected)):
                    if found.get(path) != expected.get(path):
                        return f'the plain run after it: {path} differs'
        return None


def judge(slot, scenario, expected, point):
    """None, or what is wrong.  The slot is fresh again afterwards."""
    slot.arm(point.role, point.kind, point.number,
             '' if point.kind == 'memory' else point.call, point.fault)
    run = slot.run(scenario)
    wrong = wrong_result(scenario, point, expected.runs[0], run)
    if slot.clean():
        return wrong, run
    noted = re.search(': left out: | is not kept: ', run.err)
    wrong = wrong or expected.wrong_left(point, tree(slot.folder), noted)
    again = slot.run(scenario, faulty=False)
    wrong = wrong or expected.wrong_again(point, again, tree(slot.folder),
                                          noted)
    slot.restore(expected.template)
    return wrong, run


# -- all of it ----------------------------------------------------------------

def points_of(slot, scenario, expected, every=1):
    found = []
    for role in scenario.roles:
        for kind in KINDS:
            slot.arm(role, kind)
            slot.run(scenario)
            calls = slot.calls()
            slot.restore(expected.template)
            seen = Counter()
            for number, call in enumerate(calls, 1):
                seen[call] += 1
                if call not in FAULTS:
                    raise SystemExit(f'faults: {call} is not in FAULTS')
                if kind == 'system':
                    number = seen[call]
                # A file that is read by characters has one call for each.
                if (kind == 'memory' or call == 'getc') and \
                        number % max(every, scenario.stride):
                    continue
                found += [Point(role, kind, number, call, fault)
                          for fault in FAULTS[call]]
    return found


def line_of(scenario, point, wrong):
    return '\t'.join([scenario.name, *map(str, point),
                      re.sub(r'\s+', ' ', wrong) if wrong else 'ok'])


class Results:
    """build/faults/results.tsv; of another program it begins anew."""
    def __init__(self, path, digest):
        self.path, self.done = path, {}
        self.lock = threading.Lock()
        lines = path.read_text().splitlines() if path.exists() else []
        if not lines or lines[0] != digest:
            path.write_text(digest + '\n')
            lines = []
        for line in lines[1:]:
            name, *point, wrong = line.split('\t')
            self.done[(name, *point)] = wrong
        self.file = open(path, 'a')

    @staticmethod
    def key(scenario, point):
        return (scenario.name, *map(str, point))

    def add(self, scenario, point, wrong):
        with self.lock:
            self.file.write(line_of(scenario, point, wrong) + '\n')
            self.file.flush()
            self.done[self.key(scenario, point)] = wrong or 'ok'


def in_parallel(slots, scenario, expected, points, results):
    todo = list(reversed(points))
    lock = threading.Lock()

    def work(slot):
        slot.restore(expected.template)
        while True:
            with lock:
                if not todo:
                    return
                point = todo.pop()
            wrong, _ = judge(slot, scenario, expected, point)
            results.add(scenario, point, wrong)

    threads = [threading.Thread(target=work, args=(slot,)) for slot in slots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def all_points(slots, scenarios, results, every):
    for scenario in scenarios:
        began = time.time()
        expected = Expected(slots[0], scenario)
        points = points_of(slots[0], scenario, expected, every)
        todo = [point for point in points
                if results.key(scenario, point) not in results.done]
        in_parallel(slots, scenario, expected, todo, results)
        bad = [point for point in points if
               results.done.get(results.key(scenario, point), 'ok') != 'ok']
        print(f'{scenario.name}: {len(points)} points, {len(bad)} wrong, '
              f'{time.time() - began:.0f} s', flush=True)


def report(results):
    groups = {}
    for (name, role, kind, number, call, fault), wrong in \
            results.done.items():
        if wrong != 'ok':
            words = re.sub(r'\d+', 'N', wrong)
            groups.setdefault((name, role, call, fault, words[:160]),
                              []).append((number, wrong))
    for (name, role, call, fault, _), found in groups.items():
        numbers = ' '.join(number for number, _ in found[:6])
        print(f'{name} {role} {call} {fault}: {len(found)} ({numbers}): '
              f'{found[0][1][:300]}')
    bad = sum(wrong != 'ok' for wrong in results.done.values())
    print(f'{len(results.done)} points, {bad} wrong')
    return bad


def places(frames):
    """Functions and lines, by addr2line."""
    for name, offset in frames:
        if not os.path.exists(name) or 'libc.so' in name:
            yield name
            continue
        out = subprocess.run(['addr2line', '-f', '-i', '-s', '-e', name,
                              hex(offset - 1)], capture_output=True,
                             text=True).stdout.split('\n')
        yield ' < '.join(f'{function} {line}' for function, line in
                         zip(out[::2], out[1::2]))


def show(slot, scenario, words):
    role, kind, number, call, *fault = words
    expected = Expected(slot, scenario)
    point = Point(role, kind, int(number), call, (fault or FAULTS[call])[0])
    wrong, run = judge(slot, scenario, expected, point)
    print(f'{point}\n{wrong or "ok"}\nexit status {run.status}\n{run.err}')
    print(run.out[-2000:])
    for place in places(slot.frames()):
        print('   ', place)


def sample(slots, scenarios):
    """TAP: each kind of call in two scenarios, and allocations of all."""
    draw = random.Random(1)
    seen = Counter()
    number, status = 0, 0
    for scenario in scenarios:
        expected = Expected(slots[0], scenario)
        by_call = {}
        for point in points_of(slots[0], scenario, expected):
            by_call.setdefault((point.role, point.kind, point.call),
                               []).append(point)
        chosen = []
        for (role, kind, call), points in by_call.items():
            seen[call, role] += 1
            pinned = [point for point in points if f'{call} {point.fault}' in
                      scenario.pinned]
            if scenario.stride > 1:     # takes too long for the rest
                chosen += pinned
            elif kind == 'memory' and scenario.spread:
                chosen += points[::scenario.spread]
            elif kind == 'memory':
                some = 6 if '--json' in scenario.words else 2
                chosen += draw.sample(points, min(some, len(points)))
            elif pinned:
                chosen += pinned
            elif seen[call, role] <= 2:
                chosen.append(draw.choice(points))
        wrong = [(point, judge(slots[0], scenario, expected, point)[0])
                 for point in chosen]
        number += 1
        bad = [line_of(scenario, *each) for each in wrong if each[1]]
        print(f'{"not " if bad else ""}ok {number} - {scenario.name}: '
              f'{len(chosen)} faults')
        for line in bad:
            print('#', line)
        status |= bool(bad)
    print(f'1..{number}')
    return status


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('source', type=Path)
    parser.add_argument('build', type=Path)
    parser.add_argument('--only', default='')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--report', action='store_true')
    parser.add_argument('--sample', action='store_true')
    parser.add_argument('--again', action='store_true')
    parser.add_argument('--show', nargs='+')
    options = parser.parse_args()
    only = options.only.split(',') if options.only else None
    scenarios = [each for each in SCENARIOS if not only or each.name in only]
    base = options.build / 'faults'
    base.mkdir(exist_ok=True)
    binary = options.build / 'shmtune'
    library = options.build / 'libshmtune-capture.so'
    digest = hashlib.sha256(binary.read_bytes() +
                            library.read_bytes()).hexdigest()
    if options.report:
        lines = (base / 'results.tsv').read_text().splitlines()
        return report(Results(base / 'results.tsv', lines[0])) > 0
    work = Path(tempfile.mkdtemp(prefix='faults-'))
    try:
        house = House(options.source, options.build, work)
        house.program.parent.mkdir()
        shutil.copy2(binary, house.program)
        shutil.copy2(library, house.program.parent)
        template = work / 'template'
        template.mkdir()
        house.make(template)
        slots = [Slot(house, template, k) for k in range(options.jobs)]
        if options.sample:
            return sample(slots, [s for s in scenarios if s.sampled and
                                  (s.stride == 1 or s.pinned)])
        if options.show:
            scenario, = [s for s in SCENARIOS if s.name == options.show[0]]
            show(slots[0], scenario, options.show[1:])
            return 0
        path = base / 'results.tsv'
        if options.again:
            digest_line = path.read_text().splitlines()[0]
            digest = digest_line
        all_points(slots, scenarios, Results(path, digest), options.every)
        return report(Results(path, digest)) > 0
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
