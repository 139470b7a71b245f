# SPDX-License-Identifier: MIT
"""Builds beside the usual one: with the sanitizers, and programs with a fault
each for gpu.sh, which tries them on another machine, one with a GPU and maybe
without a compiler or the libraries.  mutate.py calls it.
"""
import re
import shutil
import subprocess
import sys

PROGRAMS = ['shmtune', 'tests/gpu/oracle', 'tests/gpu/requests',
            'tests/gpu/launch']


def settings(root):
    makefile = (root / 'build' / 'Makefile').read_text()
    return dict(re.findall(r'^(CC|CUDA_DIR) = (.*)$', makefile, re.M))


def configure(root, folder, words):
    """As the usual build but for these."""
    had = settings(root)
    if not (folder / 'Makefile').exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([root / 'configure', '-q', f'CC={had["CC"]}',
                        f'--with-cuda={had["CUDA_DIR"]}', *words],
                       cwd=folder, check=True)


def static_libraries(root):
    """Words for configure, so that programs need the C library alone."""
    words = ['--disable-shared']
    for name in ('yaml', 'jansson', 'z'):
        file = subprocess.run(
            [*settings(root)['CC'].split(), f'-print-file-name=lib{name}.a'],
            stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        if '/' not in file:
            sys.exit(f'mutation: no static lib{name}.a for programs of '
                     f'another machine; install its development package')
        words.append(f'{"zlib" if name == "z" else name}_LIBS='.upper() + file)
    return words


def make(folder, log):
    with open(log, 'w', encoding='utf-8') as out:
        return subprocess.run(['make', '-s', '-C', folder, 'WARN_CFLAGS=-w',
                               *PROGRAMS], stdout=out,
                              stderr=out).returncode == 0


def put(folder, there, shown):
    """The programs, small, and what was done to them."""
    for program in PROGRAMS:
        (there / program).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(['strip', '-o', there / program, folder / program],
                       check=True)
    (there / 'mutant').write_text(shown + '\n')


def for_gpu(root, work, drawn):
    folder, out, log = work / 'gpu-build', work / 'gpu', work / 'log'
    configure(root, folder, static_libraries(root))
    if not make(folder, log):
        sys.exit(f'mutation: the programs do not build; see {log}')
    shutil.rmtree(out, ignore_errors=True)
    put(folder, out / 'none', 'none')
    for mutant in drawn:
        path = root / mutant.file
        text = path.read_text()
        path.write_text(mutant.apply(text))
        shown = f'{mutant.file}:{mutant.line}: {mutant.rule}: {mutant.shown}'
        try:
            built = make(folder, log)
        finally:
            path.write_text(text)
        if built:
            put(folder, out / mutant.name, shown)
        print(f'{mutant.name}\t{"built" if built else "unbuilt"}\t{shown}',
              flush=True)
    return 0
