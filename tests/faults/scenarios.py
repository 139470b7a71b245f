# SPDX-License-Identifier: MIT
"""What the fault lane runs: every command with a small input, and the library;
and the folder that they run in."""
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass

SLUG = 'sm_90-pretended-h100'
RECORDING = f'root/tunings/toy/{SLUG}.4096x1.journal.gz'
SPEC = 'root/kernels/fake_kernel.yaml'
ONE = ['--size', 'n=4096,m=1']
TUNE = ['tune', 'toy', *ONE, '--strategy', 'random', '-j', '1']


@dataclass(frozen=True)
class Scenario:
    name: str
    words: tuple                # of the command; those of the library: none
    roles: tuple = ('program',)
    stdin: str = ''             # a file of the folder
    real: bool = False          # our own worker and the fake driver
    stride: int = 1             # of allocations and getc, where a run takes
                                # long
    before: tuple = ()          # another command, run once
    status: int = 0             # of the plain run
    notes: bool = False         # what is damaged is left out, and told
    pinned: tuple = ()          # in every sample: once they were defects
    spread: int = 0             # the sample has each so many-th allocation
    sampled: bool = True        # has a part in the sample
    far: bool = False           # the measure worker is another machine's
    app: bool = False           # runs an application, with a library in it


def command(name, *words, **rest):
    return Scenario(name, words, **rest)


WORKERS = ('program', 'child')
# APPLICATION: is written where the program is known.
BLEND = ('APPLICATION', 'opened', 'load', 'launch', 'sum')

SCENARIOS = [
    command('help', '--help'),
    command('list', 'list', notes=True,
            pinned=('read short', 'opendir EMFILE')),
    command('list_json', 'list', '--json', notes=True),
    command('space', 'space', 'scale', pinned=('opendir EMFILE', 'stat EIO')),
    command('space_json', 'space', 'scale', '--json'),
    command('space_list', 'space', 'scale', '--list'),
    command('space_count', 'space', 'toy', '--count', sampled=False),
    command('inspect', 'inspect', 'toy', '--limit', '2', roles=WORKERS,
            pinned=('poll EINTR', 'poll ENOMEM')),
    command('inspect_json', 'inspect', 'toy', '--limit', '2', '--json',
            sampled=False),
    command('show_tuning', 'show', 'root/tunings/scale/a.yaml',
            sampled=False),
    command('show_journal', 'show', 'root/tunings/scale/b.journal'),
    command('show_json', 'show', 'root/tunings/scale/b.journal', '--json'),
    command('check', 'check', 'root/kernels/toy.yaml',
            'root/tunings/scale/a.yaml', 'root/tunings/scale/b.journal',
            sampled=False),
    command('check_json', 'check', 'root/tunings/scale/a.yaml', '--json'),
    command('explain', 'explain', 'toy', '--device', f'replay:{RECORDING}',
            '--no-counters', pinned=('stat EACCES',)),
    command('explain_json', 'explain', 'toy', '--device',
            f'replay:{RECORDING}', '--no-counters', '--json', sampled=False),
    command('report_plot', 'report', 'root/tunings/scale/b.journal', '--plot',
            'r.svg', '--jobs', '1', stride=3),
    command('doctor', 'doctor', real=True, notes=True),
    command('doctor_bare', 'doctor', notes=True),    # no GPU
    command('report', 'report', 'root/tunings/scale', '-o', 'r.html'),
    command('init', 'init', 'root/kernels/toy.cu', '-o', 'made.yaml',
            '--force', notes=True),
    command('init_build', 'init', 'project/parts.cu', '-o', 'made.yaml',
            '--force', sampled=False, notes=True),
    command('data', 'data', 'scale', '--size', 'n=64', '-o', 'made'),
    command('completion', 'completion', 'bash'),
    command('capture', 'capture', '-o', 'made', '--', *BLEND,
            roles=(*WORKERS, 'application'), app=True, notes=True),
    command('capture_list', 'capture', '--list', '--', *BLEND,
            roles=('program', 'application'), app=True, notes=True,
            sampled=False),
    command('run', 'run', '--captured', 'made', '--', *BLEND,
            roles=(*WORKERS, 'application'), app=True, notes=True,
            before=('capture', '-o', 'made', '--', *BLEND)),
    command('score', 'score', 'v.journal', '--repeats', '2', '--strategies',
            'random,hill,model', '--jobs', '1', '--plot', 'v.svg'),
    command('score_jobs', 'score', 'v.journal', '--repeats', '2',
            '--strategies', 'random', '--jobs', '2', '--json', sampled=False),
    command('import_t1', 'import', 't1.json', '-o', 'made', '--force',
            pinned=('fstat EIO', 'stat EIO')),
    command('import_cache', 'import', 'cache.json', '-o', 'made', '--json',
            '--force'),
    command('import_t4', 'import', 't4.json.gz', '-o', 'made', '--name', 'b',
            '--device', 'My GPU', '--force'),
    command('import_ktt', 'import', 'ktt.json', '-o', 'made', '--name', 'k',
            '--force'),
    command('pack', 'pack', 'root', '-o', 'root.pack'),
    command('pack_arch', 'pack', 'root', '--arch', 'sm_90', '-j', '1', '-o',
            'root.pack', roles=WORKERS, stride=7, sampled=False),
    command('export_t1', 'export', 'scale', '--to', 't1'),
    command('export_t4', 'export', RECORDING, '--to', 't4', '-o',
            'made.json.gz'),
    command('export_cache', 'export', RECORDING, '--to', 'kernel-tuner', '-o',
            'made.json', '--json'),
    command('export_header', 'export', 'root/tunings/scale/a.yaml', '--to',
            'header', '-o', 'made.h', '--json'),
    command('tune', *TUNE, '--budget', '4', '--record', 'made',
            roles=WORKERS, pinned=('fsync EINTR', 'stat EACCES')),
    command('tune_report', *TUNE, '--budget', '2', '--report', 'r.html',
            '--plot', 'r.svg', stride=7, sampled=False),
    command('tune_resume', *TUNE, '--budget', '5', roles=WORKERS,
            before=(*TUNE, '--budget', '3')),
    command('tune_renew', *TUNE, '--budget', '2', '--no-resume',
            before=(*TUNE, '--budget', '3'), pinned=('open EMFILE',),
            sampled=False),
    command('tune_replay', 'tune', 'toy', '--device', f'replay:{RECORDING}',
            '--strategy', 'exhaustive', '--json', sampled=False),
    command('tune_real', 'tune', 'fake_kernel', '--device', '0',
            '--strategy', 'exhaustive', '--budget', '2', '-j', '1',
            roles=('program', 'compile', 'measure'), real=True, stride=31,
            pinned=('renameat EACCES', 'flock ENOLCK')),
    command('relay', 'tune', 'fake_kernel', '--on', 'env', '--strategy',
            'exhaustive', '--budget', '2', '-j', '1',
            roles=('courier', 'relay'), real=True, stride=31, far=True,
            sampled=False,
            pinned=('read EINTR', 'read EIO', 'open EMFILE', 'open ENOMEM',
                    'waitpid EINTR')),
    command('worker', 'worker', '--spec', SPEC, '--images',
            'images', '--device', '0', stdin='requests', real=True,
            before=('worker', '--spec', SPEC, '--images',
                    'images', '--arch', 'sm_90'), spread=24,
            pinned=('read EIO', 'openat EMFILE', 'fstat EIO'),
            sampled=False),
    command('worker_compile', 'worker', '--spec', SPEC,
            '--images', 'images', '--arch', 'sm_90', stdin='inspections',
            real=True),
    command('explain_counters', 'explain', 'fake_kernel', '--device',
            '0', '--config', 'TILE=32', '-q',
            roles=('program', 'child', 'measure'), real=True, stride=7,
            pinned=('stat EACCES', 'access EACCES', 'flock ENOLCK',
                    'waitpid EINTR', 'waitid EINTR', 'fflush ENOSPC')),
    Scenario('library', (), real=True, notes=True, before=('compile',)),
    Scenario('library_compile', ('compile',), real=True,
             notes=True),
]


# -- the folder that they run in ---------------------------------------------

VALLEY = '''format: kernel/1
name: valley
parameters:
  A: {values: [1, 2, 3, 4], default: 1}
  B: {values: [1, 2, 3], default: 1}
'''

# Writes what Nsight Compute writes, as far as it is read.
PARTS = '''#include "part.h"
__device__ void keep(Part *p)
{
    __shared__ float all[TILE * 2];
    all[threadIdx.x] = p->at[0];
}
__global__ void move(Part *p, Part by, int n)
{
    __shared__ float s[TILE];
    p[blockIdx.x * blockDim.x + threadIdx.x].at[0] = by.id * HALF + n;
}
void go(Part *d, Part by, int n)
{
    cudaMalloc(&d, n * sizeof(Part));
    move<<<n / 64, 64>>>(d, by, n);
}
'''
NCU = r'''#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    --csv) shift; continue ;;
    --log-file) log=$2 ;;
    --metrics) metrics=$2 ;;
    --*) ;;
    *) break ;;
    esac
    shift 2
done
export FAKE_CUDA_PROFILE=$log.launches
rm -f "$FAKE_CUDA_PROFILE"
"$@" || exit
awk -v metrics="$metrics" -v launches="$(wc -l <"$FAKE_CUDA_PROFILE")" 'BEGIN {
    count = split(metrics, name, ",")
    printf "\"ID\",\"Kernel Name\""
    for (k = 1; k <= count; k++) printf ",\"%s\"", name[k]
    printf "\n\"\",\"\""
    for (k = 1; k <= count; k++) printf ",\"\""
    printf "\n"
    for (i = 0; i < launches; i++) {
        printf "\"%d\",\"scale\"", i
        for (k = 1; k <= count; k++) printf ",\"7\""
        printf "\n"
    }
}' >"$log"
rm -f "$FAKE_CUDA_PROFILE"
'''


def valley():
    """A whole recording of 4 x 3 configurations."""
    lines = ['nvrtc: 13000', 'protocol: cold-l2', 'size: {}', 'seed: 1',
             'space: 12', 'records:']
    for k in range(12):
        a, b = k // 3 + 1, k % 3 + 1
        time = 10 + (a - 3) ** 2 + (b - 2) ** 2
        lines.append(f'- {{config: {{A: {a}, B: {b}}}, at: {k + 1}, verdict: '
                     f'ok, registers: 32, compile_ms: 200, measure_ms: 10, '
                     f'time_us: {time}}}')
    return '\n'.join(lines) + '\n'


class House:
    """Where the program is, and what it needs."""
    def __init__(self, source, build, work):
        self.source, self.build, self.work = source, build, work
        self.program = work / 'bin' / 'shmtune'
        self.nvrtc = None      # the real one, once the program is there
        (work / 'kept').mkdir()

    def environment(self, folder, scenario):
        env = {'PATH': f'{self.program.parent}:{os.environ["PATH"]}',
               'LC_ALL': 'C',
               'SHMTUNE_PATH': f'{folder}/root', 'HOME': f'{folder}/home',
               'TMPDIR': f'{folder}/tmp', 'SOURCE_DATE_EPOCH': '1700000000',
               'SHMTUNE_NCU': f'{folder}/ncu',
               'ASAN_OPTIONS': 'verify_asan_link_order=0:'
                               'allocator_may_return_null=1',
               'UBSAN_OPTIONS': 'print_stacktrace=1'}
        for name in ('CUDA_HOME', 'CUDA_PATH', 'SHMTUNE_CUDA'):
            if name in os.environ:
                env[name] = os.environ[name]
        env['SHMTUNE_NVRTC'] = f'{self.build}/tests/fake/.libs/nvrtc.so'
        env['FAKE_NVRTC_REAL'] = self.nvrtc or self._find_nvrtc()
        env['FAKE_NVRTC_KEPT'] = str(self.work / 'kept')
        if scenario.app:
            env['APPLICATION_NVRTC'] = env['SHMTUNE_NVRTC']
            env['LD_LIBRARY_PATH'] = \
                f'{self.build}/tests/fake:{os.path.dirname(self.nvrtc)}'
        if scenario.real:
            env['SHMTUNE_LIBCUDA'] = \
                f'{self.build}/tests/fake/.libs/fake_cuda.so'
        else:
            env['SHMTUNE_WORKER'] = f'{self.build}/tests/fake/worker'
        return env

    def _find_nvrtc(self):
        found = subprocess.run([str(self.program), 'doctor', '--json'],
                               capture_output=True, text=True)
        for each in json.loads(found.stdout)['checks']:
            if each['check'] == 'NVRTC':
                self.nvrtc = re.search(r'(/\S+)$', each['text']).group(1)
        return self.nvrtc

    def words(self, scenario, words=None):
        if scenario.name.startswith('library'):
            return [str(self.build / 'tests/faults/library'),
                    *(words or scenario.words)]
        return [str(self.program),
                *(str(self.build / 'tests/fake/application')
                  if word == 'APPLICATION' else word
                  for word in words or scenario.words)]

    def plain(self, folder, scenario, words=None):
        """Runs a command as it is."""
        source = folder / scenario.stdin if scenario.stdin else os.devnull
        with open(source, 'rb') as stdin:
            return subprocess.run(self.words(scenario, words), stdin=stdin,
                                  cwd=folder, capture_output=True,
                                  env=self.environment(folder, scenario),
                                  timeout=120)

    def digest(self, folder, kernel):
        run = self.plain(folder, SCENARIOS[1], ['list', 'kernels', '--json'])
        found = re.search(rf'"name": "{kernel}".*?"digest": "(\w+)"',
                          run.stdout.decode(), re.S)
        return found.group(1)

    def make(self, folder):
        """The folder, as each run finds it."""
        fake, data = self.source / 'tests/fake', self.source / 'tests/cli/data'
        corpus = self.source / 'tests/fuzz/corpus/import'
        for name in ('root/kernels', 'root/tunings/scale', 'home', 'tmp'):
            (folder / name).mkdir(parents=True)
        for path in (*data.glob('scale.*'), fake / 'data/toy.cu'):
            shutil.copyfile(path, folder / 'root/kernels' / path.name)
        self._small(fake / 'data/toy.yaml', folder, {
            'BLOCK_X': '[64, 128], default: 128',
            'UNROLL': '[1, 2], default: 1', 'PAD': '[0], default: 0'})
        for name in ('t1', 'cache', 't4', 'ktt'):
            shutil.copyfile(corpus / f'{name}.json', folder / f'{name}.json')
        subprocess.run(['gzip', '-n', 't4.json'], cwd=folder, check=True)
        (folder / 'root/kernels/valley.yaml').write_text(VALLEY)
        (folder / 'ncu').write_text(NCU)
        (folder / 'ncu').chmod(0o755)
        shutil.copyfile(fake / 'fake_kernel.cu',
                        folder / 'root/kernels/fake_kernel.cu')
        self._small(fake / 'fake_kernel.yaml', folder, {
            'TILE': '[32, 64], default: 64',
            'STATED': '[right], default: right',
            'COST': '[100], default: 100, scope: launch',
            'SCRATCH': '[1], default: 1, scope: launch',
            'FAULT': '[0], default: 0, scope: launch',
            'DYNAMIC': '[0], default: 0, scope: launch'})
        (folder / 'project/include').mkdir(parents=True)
        (folder / 'project/parts.cu').write_text(PARTS)
        (folder / 'project/include/part.h').write_text(
            'struct Part { float at[3]; int id; };\n')
        (folder / 'project/compile_commands.json').write_text(json.dumps([{
            'directory': '.', 'file': 'parts.cu',
            'command': 'nvcc -I include -DTILE=4 -DHALF=0.5 -maxrregcount 64 '
                       '-c parts.cu'}]))
        request = ('{{verb: {}, tag: {}, config: {{TILE: {}, STATED: right, '
                   'FAULT: 0, COST: 100, SCRATCH: 1, DYNAMIC: 0}}}}\n')
        (folder / 'requests').write_text(
            request.format('measure', 1, 64) +
            request.format('measure', 2, 32))
        (folder / 'inspections').write_text(request.format('inspect', 1, 64))
        device = (data / 'device.part').read_text()
        for name, kind in (('a.yaml', 'tuning'), ('b.journal', 'journal')):
            (folder / 'root/tunings/scale' / name).write_text(
                f'format: {kind}/1\nkernel: scale\ndigest: '
                f'"{self.digest(folder, "scale")}"\n' + device +
                (data / f'{kind}.part').read_text())
        (folder / 'v.journal').write_text(
            'format: journal/1\nkernel: valley\ndigest: '
            f'"{self.digest(folder, "valley")}"\n' + device + valley())
        self.plain(folder, SCENARIOS[1],
                   ['tune', 'toy', *ONE, '--strategy', 'exhaustive', '-q',
                    '-j', '1', '--record', 'root/tunings', '--output',
                    'root/tunings']).check_returncode()
        for path in (folder / 'root/tunings/toy').glob('*.journal'):
            path.unlink()

    @staticmethod
    def _small(spec, folder, values):
        """The spec, with fewer values."""
        text = spec.read_text()
        for name, given in values.items():
            text, count = re.subn(rf'^  {name}: {{.*}}$',
                                  f'  {name}: {{values: {given}}}', text,
                                  flags=re.M)
            assert count == 1, name
        (folder / 'root/kernels' / spec.name).write_text(text)
