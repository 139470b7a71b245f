#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hecbench.py BUILD SOURCES --out OUT [PROGRAM]...: how far programs are
captured that nobody here has seen, as they are.

SOURCES is the folder src of a checkout of HeCBench; without a PROGRAM,
"accuracy-cuda", all of its CUDA programs are taken that need no data from
elsewhere and no library.  Each is built by its own Makefile with -lineinfo, run
under `shmtune capture --propose` with the arguments that its Makefile gives it,
for --run seconds at most, and up to --most of its launches are checked.  Of the
first that passes --candidates are tuned.  --jobs programs are at work at once,
so that times mean nothing here.

With --put-back SECONDS the launches that pass are tuned afterwards, for as long
each and one program after the other, and the programs are run alone, by
`shmtune run`, and by it with --no-trial, --rounds times in turn.  What counts
is what a program itself says of times, in lines that have one; all else that
it says has to stay the same.  "accuracy-cuda:5000" has 5000 for its last
argument, which mostly is how often it launches: a trial needs some thousand
launches.  "adam-cuda::t,step" is run with --any t --any step.

With --for SECONDS, what has not ended by then is left out and soon ended.
Prints what came of all, and keeps it in OUT/report.json, with each program's
log and drafts beside it.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ELSEWHERE = re.compile(
    r'\.\./|\.(dat|txt|data|bin|bmp|ppm|pgm|png|jpg|fa|fasta|mtx|csv|params|gr'
    r'|raw|in)\b')
LIBRARIES = re.compile(
    r'#include\s*[<"]((mpi|nccl|cublas|cufft|cusparse|cusolver|curand|cudnn'
    r'|boost|omp\.h|gsl)|(thrust|cub)/)')
OPTIONS = re.compile(
    r'-D.|-I.|-std=.|--?use_fast_math|--?expt-|--extended-lambda')
# A number and its unit, "12.5 (us)": what a program says that it took.
TOOK = re.compile(r'(\d[\d.]*(?:e[-+]?\d+)?)\s*[(\[]?'
                  r'(nanoseconds|ns|usec|us|ms|msec|milliseconds|s|sec'
                  r'|seconds)\b')
UNITS = {'n': 1e-9, 'u': 1e-6, 'm': 1e-3, 's': 1.0}


def text_of(path):
    with open(path, errors='replace') as file:
        return file.read()


def stands_alone(folder):
    """Whether it needs nothing that does not lie in its folder."""
    makefile = os.path.join(folder, 'Makefile')
    if not os.path.isfile(makefile):
        return False
    run = re.search(r'^run:.*\n((?:\t.*\n?)+)', text_of(makefile), re.M)
    built = re.findall(r'^(?:source|CFLAGS|include|LDFLAGS|.*-I).*$',
                       text_of(makefile), re.M)
    if run is None or 'LAUNCHER' not in run.group(1) or \
            ELSEWHERE.search(run.group(1)) or '../' in ''.join(built):
        return False
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith('.dvc') or (
                    name.endswith(('.cu', '.cuh', '.h', '.hpp', '.cpp', '.c'))
                    and LIBRARIES.search(text_of(os.path.join(place, name)))):
                return False
    return True


class Program:
    """One, in a folder of its own."""

    def __init__(self, job, name):
        self.job = job
        self.name, self.last, names = (name + '::').split(':')[:3]
        self.any = [f'--any={one}' for one in names.split(',') if one]
        self.folder = os.path.join(job.work, self.name)
        self.found = {'program': self.name, 'built': False, 'launches': {},
                      'left_out': []}

    def call(self, words, seconds, log):
        """Its exit status and all that it says; 124: it took too long."""
        if self.job.seconds:
            seconds = max(1, min(seconds, self.job.begun + self.job.seconds -
                                 time.monotonic()))
        try:
            done = subprocess.run(
                words, cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors='replace', timeout=seconds, check=False)
            status, said = done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            status = 124
            said = (late.stdout or b'').decode(errors='replace')
        with open(os.path.join(self.job.out, self.name, log), 'a') as file:
            file.write(said)
        return status, said

    def make(self, *words):
        return self.call(
            ['make', f'ARCH={self.job.arch}', 'CC=nvcc',
             'EXTRA_CFLAGS=-lineinfo', *words], 120, 'build.log')

    def build(self):
        shutil.copytree(os.path.join(self.job.sources, self.name), self.folder)
        os.makedirs(os.path.join(self.job.out, self.name), exist_ok=True)
        _, plan = self.make('-n')
        self.options = sorted({word for line in plan.splitlines()
                               if 'nvcc' in line for word in line.split()
                               if OPTIONS.match(word)})
        self.found['built'] = self.make()[0] == 0
        _, plan = self.make('-n', 'run', 'LAUNCHER=LAUNCHED')
        line = re.search(r'LAUNCHED\s+(\./\S.*)', plan)
        self.command = line.group(1).strip() if line else None
        if self.command and self.last:
            self.command = re.sub(r'\S+$', self.last, self.command)
        return self.found['built'] and self.command is not None

    def capture(self):
        run = f'exec timeout -k 2 {self.job.run} {self.command}'
        _, said = self.call(
            [self.job.shmtune, 'capture', '--propose', '--max-bytes', '2G',
             '-o', 'taken',
             *[f'--nvcc-option={option}' for option in self.options],
             '--', 'sh', '-c', run], self.job.run + 60, 'capture.log')
        self.found['left_out'] = re.findall(r'is left out: (.*)', said)
        for name, rest in re.findall(r'taken/(\S+): the launch(.*)', said):
            again = re.search(
                rf'taken/{re.escape(name)}: ((?:not )?made again.*)', said)
            self.found['launches'][name] = {
                'source': 'its source is' in rest,
                'again': again.group(1) if again else ''}

    def check(self):
        for name in sorted(self.found['launches'])[:self.job.most]:
            place = os.path.join('taken', name)
            shutil.copy(os.path.join(self.folder, place, 'kernel.yaml'),
                        os.path.join(self.job.out, self.name, name + '.yaml'))
            status, _ = self.call(
                [self.job.shmtune, 'check', place, '--sample', '4', '-j', '2'],
                60, 'check.log')
            self.found['launches'][name]['check'] = status

    def tune(self):
        for name, launch in sorted(self.found['launches'].items()):
            if launch.get('check') != 0:
                continue
            launch['tune'], _ = self.call(
                [self.job.shmtune, 'tune', os.path.join('taken', name), '-q',
                 '--device', '0', '--budget', str(self.job.candidates),
                 '-j', '2', '-o', 'tuned'], 60, 'tune.log')
            return

    def late(self):
        return self.job.seconds and \
            time.monotonic() > self.job.begun + self.job.seconds

    def go(self):
        """What came of it; None where there was no time for all of it."""
        try:
            if self.build():
                self.capture()
                self.check()
                if not self.job.put_back:
                    self.tune()
        finally:
            if not self.job.put_back:
                shutil.rmtree(self.folder, ignore_errors=True)
        return None if self.late() else self.found

    def run(self, *before):
        """The times that it says, by line, and all else."""
        status, said = self.call(
            [*before, 'sh', '-c',
             f'exec timeout -k 2 {self.job.run} {self.command}'],
            self.job.run + 5, 'rounds.log')
        times, rest = {}, [status]
        for line in said.splitlines():
            took = TOOK.search(line)
            if took:
                what = re.sub(r'[\d.]+', '#', line[:took.start()]).strip()
                times.setdefault(what, []).append(
                    float(took.group(1)) * UNITS[took.group(2)[0]])
            elif not line.startswith('shmtune: ') and \
                    not re.search(r'\d/s|[GM]B|FLOP', line, re.I):
                rest.append(line)
        return {what: statistics.median(all_of)
                for what, all_of in times.items()}, rest, said

    def put_back(self):
        """Tunes what was captured, and runs with it and alone in turn."""
        for name, launch in sorted(self.found['launches'].items()):
            if launch.get('check') == 0 and not self.late():
                launch['tune'], said = self.call(
                    [self.job.shmtune, 'tune', os.path.join('taken', name),
                     '--device', '0', '--warm', '--budget',
                     f'{self.job.put_back:g}s', '-o', 'tuned'],
                    self.job.put_back + 30, 'tune.log')
                won = re.findall(r'([\d.]+) times as fast', said)
                launch['won'] = float(won[-1]) if won else None
        if not any(one.get('tune') == 0
                   for one in self.found['launches'].values()):
            return
        put = [self.job.shmtune, 'run', '--captured', 'taken',
               '--tunings', 'tuned', *self.any]
        ways = {'alone': [], 'tried': [*put, '--'],
                'put in': [*put, '--no-trial', '--']}
        seen = {way: [] for way in ways}
        for _ in range(self.job.rounds):
            for way, before in ways.items():
                seen[way].append(self.run(*before))
            if self.late():
                return
        rest = [one[1] for way in ways for one in seen[way]]
        times = {way: [one[0] for one in seen[way]] for way in ways}
        self.found['rounds'] = {
            'same': all(one == rest[0] for one in rest),
            'lines': re.findall(r'^shmtune: .*', seen['tried'][-1][2], re.M),
            'ratios': {what: [ratio(times, way, what) for way in ways][1:]
                       for what in times['alone'][0]
                       if all(what in one for way in ways
                              for one in times[way])}}


def ratio(times, way, what):
    """How many times as fast a program is, by one of its lines."""
    return statistics.median(
        alone[what] / max(put[what], 1e-12)
        for alone, put in zip(times['alone'], times[way]))


def again_of(launch):
    said = launch['again']
    return ('no word' if not said
            else 'the same' if said.startswith('made again it gives')
            else 'otherwise' if 'not what the application got' in said
            else 'varies' if said.startswith('made again') else 'not made')


def tell(found, total):
    launches = [one for program in found for one in
                program['launches'].values()]
    checks = [one['check'] for one in launches if 'check' in one]
    tunes = [one['tune'] for one in launches if 'tune' in one]
    again = collections.Counter(again_of(one) for one in launches)
    rows = [
        ('programs', f'{len(found)} of {total}'),
        ('built', sum(one['built'] for one in found)),
        ('captured from', sum(bool(one['launches']) for one in found)),
        ('launches', len(launches)),
        ('with their source', sum(one['source'] for one in launches)),
        *[(f'made again: {word}', again[word]) for word in
          ('the same', 'varies', 'otherwise', 'not made', 'no word')],
        ('checked', f'{checks.count(0)} of {len(checks)}'),
        ('tuned', f'{tunes.count(0)} of {len(tunes)}')]
    for name, value in rows:
        print(f'{name:22} {value}')
    for program in found:
        rounds = program.get('rounds', {'ratios': {}})
        for what, (tried, put_in) in rounds['ratios'].items():
            print(f'{program["program"]:28} {tried:6.3f} {put_in:6.3f}'
                  f'  {"" if rounds["same"] else "says otherwise: "}'
                  f'{what[:50]}')
    return dict(rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('sources')
    parser.add_argument('programs', nargs='*')
    parser.add_argument('--out', required=True)
    parser.add_argument('--arch', default='sm_90')
    parser.add_argument('--jobs', type=int, default=14)
    parser.add_argument('--run', type=int, default=25)
    parser.add_argument('--most', type=int, default=4)
    parser.add_argument('--candidates', type=int, default=8)
    parser.add_argument('--put-back', type=float, default=0)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--for', dest='seconds', type=float)
    job = parser.parse_intermixed_args()
    job.begun = time.monotonic()
    job.shmtune = os.path.join(os.path.abspath(job.build), 'shmtune')
    job.out = os.path.abspath(job.out)
    os.makedirs(job.out, exist_ok=True)
    names = job.programs or [
        name for name in sorted(os.listdir(job.sources))
        if name.endswith('-cuda')
        and stands_alone(os.path.join(job.sources, name))]
    with tempfile.TemporaryDirectory() as job.work:
        programs = [Program(job, name) for name in names]
        with concurrent.futures.ThreadPoolExecutor(job.jobs) as pool:
            found = [one for one in pool.map(Program.go, programs)
                     if one is not None]
        for program in programs if job.put_back else ():
            if not program.late():
                program.put_back()
    summary = tell(found, len(names))
    with open(os.path.join(job.out, 'report.json'), 'w') as file:
        json.dump({'summary': summary, 'programs': found}, file, indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
