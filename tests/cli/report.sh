#!/bin/sh
# SPDX-License-Identifier: MIT
#
# report: tunings and journals as a page: what is on it, that its numbers are
# those of `show`, that nothing of a file gets out of its text, and what is
# refused.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

page=$folder/page.html
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH
make_tuning "$root/tunings/scale/t.yaml"
make_journal "$root/tunings/scale/j.journal"

page_has() { grep -q -e "$1" "$page"; }
page_lacks() { ! page_has "$1"; }

# Every element that is opened is closed, there is one script, the policy
# names the style and the script that are there, and nothing is loaded.
is_page() {
    command -v python3 >/dev/null || return 0
    python3 - "$1" <<'END'
import base64, hashlib, html.parser, re, sys
text = open(sys.argv[1], encoding='utf-8').read()
void = {'meta', 'input', 'br'}
class Reader(html.parser.HTMLParser):
    open, tags, ids, links = [], [], set(), []
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith('on') and name != 'style', name
            assert name not in ('src', 'srcset'), name
            if name == 'href':
                assert value[0] == '#', value
                self.links.append(value[1:])
            if name == 'id':
                assert value not in self.ids, value
                self.ids.add(value)
        if tag not in void:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (self.open[-4:], tag)
        self.open.pop()
reader = Reader()
reader.feed(text)
reader.close()
assert reader.open == [], reader.open
assert reader.tags.count('script') == 1 and reader.tags.count('style') == 1
assert set(reader.links) <= reader.ids, set(reader.links) - reader.ids
known = {'html head meta title style body header h1 p nav a main section dl '
         'div dt dd span figure figcaption svg desc g path text circle rect '
         'h2 label input table thead tr th tbody td details summary b em h4 '
         'h5 ol ul li footer code script'}
assert set(reader.tags) <= set(' '.join(known).split()), set(reader.tags)
for tag in 'style', 'script':
    inside = re.search('<%s>(.*?)</%s>' % (tag, tag), text, re.S).group(1)
    digest = hashlib.sha256(inside.encode()).digest()
    word = "%s-src 'sha256-%s'" % (tag, base64.b64encode(digest).decode())
    assert word in text, word
END
}

# The rows of the page against `show --json` of the tuning.
same_numbers() {
    command -v python3 >/dev/null || return 0
    "$build/shmtune" show "$1" --json >"$folder/shown.json"
    python3 - "$folder/shown.json" "$page" <<'END'
import json, re, sys
shown = json.load(open(sys.argv[1]))
text = open(sys.argv[2], encoding='utf-8').read()
table = re.search('<table id="all">(.*?)</table>', text, re.S).group(1)
heads = [re.sub('<.*?>', '', h) for h in
         re.findall('<th[^>]*>(.*?)</th>', table.split('<tbody>')[0])]
rows = re.findall('<tr>(.*?)</tr>', table.split('<tbody>')[1], re.S)
found = {}
for row in rows:
    cells = re.findall('<t[hd]([^>]*)>(.*?)</t[hd]>', row, re.S)
    assert len(cells) == len(heads), (len(cells), len(heads))
    values = {}
    for head, (attributes, inside) in zip(heads, cells):
        number = re.search('data-v="(.*?)"', attributes)
        values[head] = (re.sub('<.*?>', '', inside) if number is None else
                        float(number.group(1) or -1))
    found[values['problem']] = values
assert len(found) == len(shown['tuned']) == len(rows)
for tuned in shown['tuned']:
    name = ' '.join('%s=%s' % item for item in tuned['size'].items())
    row, result = found[name], tuned['result']
    assert row['kernel'] == shown['kernel']
    assert row['device'] == shown['device']['name']
    for head, wanted in (
            ('time, \u00b5s', result['time_us']),
            ('default, \u00b5s', tuned['default_us']),
            ('gain', tuned['gain']),
            ('registers', result['registers']),
            ('spill, B', result['spill_store_bytes']),
            ('static, B', result['shared_static_bytes']),
            ('dynamic, B', result['shared_dynamic_bytes']),
            ('occupancy, %', result['occupancy_percent']),
            ('tried', tuned['tried']), ('ties', len(tuned['ties']))):
        assert abs(row[head] - wanted) <= 1e-8 * abs(wanted), (head, row)
    if tuned['floor_us'] is not None:
        share = 100 * tuned['floor_us'] / result['time_us']
        assert abs(row['of floor, %'] - share) <= 1e-6 * share
    rate = 8 * tuned['size']['n'] / result['time_us'] / 1e3
    assert abs(row['GB/s'] - rate) <= 1e-6 * rate
END
}

is_svg() {
    command -v python3 >/dev/null || return 0
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1"
}

not_in_page() {
    for text in "$@"; do
        ! grep -qF -e "$text" "$page" || return 1
    done
}

cd "$folder" || exit 1
run report -o "$page" "$root/tunings"
check "a folder" all "exits 0" out_empty "is_page '$page'" \
    "err_has '1 kernel, 2 problems, 1 device, from 2 files'" \
    "page_has '<h1>scale, tuned</h1>'" "page_has 'Test Device 3000'" \
    "page_has '2023-11-14 22:13 UTC'" "page_has 'y = a x, by way'"
check "its numbers are those of show" same_numbers "$root/tunings/scale/t.yaml"
check "a journal's charts" all "page_has 'The search over time'" \
    "page_has 'Occupancy against time'" "page_has 'Registers against time'" \
    "page_has '<figcaption>BLOCK</figcaption>'" \
    "page_has '<figcaption>BLOCK and PAD</figcaption>'" \
    "page_has '>default</text>'"
check "verdicts with an example" all "page_has '>wrong</th>'" \
    "page_has 'PAD=1 MEMORY=dynamic CARVEOUT=-1: y.3. is 0, expected 1.5'"
check "ties by what differs" all "page_has '<li>the winner</li>'" \
    "page_has '<li>CARVEOUT=100</li>'"
cp "$page" "$folder/first.html"
run report -o "$page" "$root/tunings" --jobs 1
check "the same page again" cmp "$page" "$folder/first.html"
(cd "$folder" && "$build/shmtune" report "$root/tunings" -o - \
    >"$folder/out" 2>"$folder/err")
check "with -o - it is printed, and no file made" all \
    "cmp '$folder/out' '$page'" "[ ! -e '$folder/-' ]"
run report "$root/tunings" -o - --json
check "beside JSON it cannot be" all "exits 1" \
    "err_has 'each want standard output; one can have it'"
run report -o "$page" "$root/tunings" "$root/tunings/scale/t.yaml" \
    "$root/tunings/scale/../scale/j.journal"
check "a file twice is there once" all "exits 0" "err_has 'from 2 files'"
run report -o "$folder/all.html"
check "without ./tunings what is shipped" all "exits 0" \
    "is_page all.html" \
    "err_has 'all.html: [0-9]* kernels'" "grep -q '>scale</a>' all.html"
mkdir "$folder/tunings"
cp "$root/tunings/scale/j.journal" "$folder/tunings/"
run report
check "./tunings and report.html where nothing is said" all "exits 0" \
    "err_has '^shmtune: report.html: .*from 1 file;'" "is_page report.html"
run report tunings --json
check "as JSON" all "exits 0" err_empty is_json \
    "out_has '\"page\": \"report.html\"'" "out_has '\"problems\": 1'"
run -q report -o "$page" tunings
check "quietly" all "exits 0" out_empty err_empty

sed 's/name: Test Device 3000/name: Other Device/' \
    "$root/tunings/scale/t.yaml" >"$folder/other.yaml"
run report -o "$page" "$root/tunings" other.yaml
check "devices side by side" all "exits 0" "is_page '$page'" \
    "err_has '2 problems, 2 devices'" "page_has '>Other Device</th><th '"

# What gets into a file, through the strict readers.
evil='<\/script><img src=x onerror=alert(1)>\\"'"\\&'"
sed -e "s/name: Test Device 3000/name: \"$evil\\\\u202E<b>\"/" \
    -e "s/strategy: exhaustive/strategy: \"$evil\"/" \
    -e 's/^kernel: scale/kernel: unknown/' \
    "$root/tunings/scale/t.yaml" >"$folder/evil.yaml"
sed -e "s/name: Test Device 3000/name: \"$evil\"/" \
    -e "s/y.3. is 0, expected 1.5/$evil\\\\u202E\\\\u2066/" \
    "$root/tunings/scale/j.journal" >"$folder/evil.journal"
run report -o "$page" evil.journal
check "a hostile journal" all "exits 0" "is_page '$page'" \
    "page_has '&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;'" \
    "page_lacks '<img'" "page_has 'u{202e}'" "page_has 'u{2066}'" \
    "[ \$(grep -c '</script>' '$page') -eq 1 ]"
run report -o "$page" evil.yaml
check "a hostile tuning of an unknown kernel" all "exits 0" \
    "is_page '$page'" "page_lacks '<img'" "page_lacks '<b>\"'" \
    "page_has '<h1>unknown, tuned</h1>'" "page_has 'u{202e}'" \
    "[ \$(grep -c '</script>' '$page') -eq 1 ]"
check "no escape sequence, no mark of direction" \
    not_in_page "$(printf '\033')" "$(printf '\342\200\256')"

# 20,000 results are thinned, and the page says so.
cp "$root/tunings/scale/j.journal" "$folder/long.journal"
awk 'BEGIN {
    srand(1)
    for (k = 0; k < 20000; k++)
        printf "- {config: {BLOCK: 128, PAD: 0, MEMORY: static, " \
            "CARVEOUT: -1}, at: %.3f, verdict: ok, registers: %d, " \
            "occupancy_percent: %d, time_us: %.4f}\n", 2 + k / 100, \
            16 + k % 200, k % 100, 7 + 100 * rand()
}' >>"$folder/long.journal"
run report -o "$page" long.journal
check "a long journal is thinned, and that is said" all "exits 0" \
    "page_has 'of 20,003 timed candidates are drawn as points'" \
    "[ \$(wc -c <'$page') -lt 250000 ]"

run report "$root/tunings" --plot "$folder/run.svg"
check "a run as a drawing, and no page" all "exits 0" out_empty err_empty \
    "[ ! -e '$folder/run.html' ]" "grep -q '^<svg xmlns' '$folder/run.svg'" \
    "grep -q 'The search over time' '$folder/run.svg'" \
    "grep -q '>BLOCK<' '$folder/run.svg'" "is_svg '$folder/run.svg'"
run report evil.journal --plot "$folder/run.svg"
check "of a hostile journal" all "exits 0" "is_svg '$folder/run.svg'"
run report "$root/tunings" long.journal --plot "$folder/no.svg"
check "not of two journals" all "exits 1" out_empty \
    "err_has '2 journals are given'" "[ ! -e '$folder/no.svg' ]"
run report other.yaml --plot "$folder/no.svg"
check "nor of a tuning" all "exits 1" out_empty "err_has 'no journal is given'"

run report -o "$page" absent.yaml
check "an absent file" all "exits 5" out_empty "err_has absent.yaml"
run report -o "$page" "$root/kernels/scale.yaml"
check "a spec" all "exits 1" out_empty "err_has 'is a kernel spec'"
mkdir "$folder/empty"
run report -o "$page" empty
check "an empty folder" all "exits 5" out_empty "err_has 'no tuning and no j'"
sed 's/time_us: 2.0/time_us: -two/' other.yaml >"$folder/empty/bad.yaml"
run report -o "$page" empty/bad.yaml
check "a broken tuning that is named" all "exits 2" out_empty \
    "err_has 'bad.yaml:[0-9]*:[0-9]*: '"
cp other.yaml "$folder/empty/good.yaml"
run report -o "$page" empty
check "one that is found is left out, and said" all "exits 0" \
    "err_has 'left out: .*bad.yaml:'" "page_has '<h2>Left out</h2>'" \
    "page_has 'bad.yaml:'" "page_has 'Other Device'"
run report -o "$folder/absent/page.html"
check "a page that cannot be written" all "exits 5" out_empty \
    "err_has absent/page.html"
run report --scripts
check "an unknown option" all "exits 1" out_empty "err_has -- --scripts"
mv "$root/kernels/scale.yaml" "$folder/elsewhere.yaml"
cp "$data/scale.cu" "$data/scale.h" "$folder/"
run report -o "$page" tunings/j.journal
check "a journal without its kernel" all "exits 1" out_empty \
    "err_has -- --spec"
run report -o "$page" tunings/j.journal --spec elsewhere.yaml
check "with --spec" all "exits 0" "page_has 'The search over time'"
run report -o "$page" other.yaml
check "a tuning needs no kernel" all "exits 0" "page_lacks 'GB/s</th>'"
finish
