# SPDX-License-Identifier: MIT
"""The faults that can be planted in a C source, by rule.

A Mutant is one edit of one file.  Its name is made of the file, the rule and
the text around, not of line numbers: it stays while the line does.
"""
import hashlib
import re
from dataclasses import dataclass

HIDDEN = re.compile(
    r'/\*.*?\*/'                                    # comments
    r'|"(?:\\.|[^"\\\n])*"'                         # strings
    r"|'(?:\\.|[^'\\\n])*'"                         # characters
    r'|^[ \t]*#(?:\\\n|[^\n])*',                    # the preprocessor
    re.S | re.M)

RELATIONAL = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=',
              '!=': '=='}
ARITHMETIC = {'+': '-', '-': '+', '*': '/', '/': '*', '%': '/'}
LOGICAL = {'&&': '||', '||': '&&'}
STEP = {'+=': '-=', '-=': '+='}

# Statements on one line.  What only frees is left to the sanitizers' build.
CALL = re.compile(r'^( +)((?:\(void\))?[A-Za-z_][\w.>\-\[\]]*\(.*\);)$', re.M)
FREES = re.compile(r'(?:^|_)(?:free|close|destroy|fclose|pclose|va_end)\(')
SET = re.compile(
    r'^( +)(\*?[A-Za-z_][\w.>\-\[\]]*(?: [-+*/%|&^]?= [^;{]*|\+\+|--);)$',
    re.M)
GUARD = re.compile(r'\bif \(')


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    line: int
    rule: str
    at: int
    old: str
    new: str
    shown: str

    def apply(self, text):
        assert text[self.at:self.at + len(self.old)] == self.old
        return text[:self.at] + self.new + text[self.at + len(self.old):]


def hide(text):
    """The text with comments, strings and directives blanked."""
    return HIDDEN.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)


def closing(text, at):
    """Where the parenthesis that opens at `at` closes; -1 when nowhere."""
    depth = 0
    for k in range(at, len(text)):
        if text[k] == '(':
            depth += 1
        elif text[k] == ')':
            depth -= 1
            if depth == 0:
                return k
    return -1


def operators(code, table, rule):
    words = sorted(table, key=len, reverse=True)
    pattern = r'(?<=[\w)\]] )(' + '|'.join(map(re.escape, words)) + \
        r')(?=[ \n])'
    for m in re.finditer(pattern, code):
        yield rule, m.start(), m.group(), table[m.group()]


def constants(code):
    for m in re.finditer(r'(?<![\w.])(\d{1,9})(?=[uUlL]*(?![\w.]))', code):
        after = code[m.end():m.end() + 2]
        # The length of an array is often more than is needed; `{0}` is all
        # zeros.
        before = code[m.start() - 1]
        if before == '[' and re.match(r'\][,;]', after) or \
                before == '{' and after[0] == '}':
            continue
        number = int(m.group())
        yield 'constant', m.start(), m.group(), str(number + 1)
        if number > 0:
            yield 'constant', m.start(), m.group(), str(number - 1)


def conditions(text, code):
    for m in re.finditer(r'\b(?:if|while) \(', code):
        begin = m.end() - 1
        end = closing(code, begin)
        if end < 0:
            continue
        old = text[begin:end + 1]
        yield 'negate', begin, old, '(!' + old + ')'
        if m.group().startswith('if') and \
                re.match(r'\)\n +return\b', code[end:end + 60]):
            yield 'guard', begin, old, '(0 && ' + old + ')'


def statements(text, code):
    for pattern in (CALL, SET):
        for m in pattern.finditer(code):
            begin, end = m.span(2)
            if FREES.search(code[begin:end].split('(')[0] + '('):
                continue
            yield 'remove', begin, text[begin:end], ';'


def sites(text):
    code = hide(text)
    yield from operators(code, RELATIONAL, 'relational')
    yield from operators(code, ARITHMETIC, 'arithmetic')
    yield from operators(code, LOGICAL, 'logical')
    yield from operators(code, STEP, 'arithmetic')
    yield from constants(code)
    yield from conditions(text, code)
    yield from statements(text, code)


def mutants(file, text):
    """All mutants of a file, each with a name of its own."""
    seen = {}
    for rule, at, old, new in sorted(set(sites(text)),
                                     key=lambda s: (s[1], s[0], s[3])):
        begin = text.rfind('\n', 0, at) + 1
        end = text.find('\n', at)
        line = text[begin:end]
        key = (rule, line.strip(), at - begin, new)
        seen[key] = seen.get(key, 0) + 1
        digest = hashlib.sha256(repr((file, key, seen[key])).encode())
        changed = text[begin:at] + new + text[at + len(old):end] \
            if at + len(old) <= end else text[begin:at] + new
        yield Mutant(digest.hexdigest()[:10], file,
                     text.count('\n', 0, at) + 1, rule, at, old, new,
                     ' '.join(f'{line}  ->  {changed}'.split()))
