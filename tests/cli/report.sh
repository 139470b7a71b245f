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

check "what was tried" all "grep -q '<dt>candidates tried</dt><dd>4<' report.html" \
    "! grep -q 'not recorded' report.html"
sed 's/verdicts: {ok: 35, wrong: 1}/verdicts: {ok: 5, not_recorded: 31}/' \
    "$root/tunings/scale/t.yaml" >"$folder/sample.yaml"
run report -o "$page" sample.yaml
check "what a recording does not have was not tried" all "exits 0" \
    "is_page '$page'" "page_has '<dt>candidates tried</dt><dd>25<'" \
    "page_has '<dt>candidates not recorded</dt><dd>31<'" \
    "page_has '5 of 36 configurations were tried, 31 more were not recorded, in 1.5 s'"
sed 's/name: Test Device 3000/name: Other Device/' \
    "$root/tunings/scale/t.yaml" >"$folder/other.yaml"
run report -o "$page" "$root/tunings" other.yaml
check "devices side by side" all "exits 0" "is_page '$page'" \
    "err_has '2 problems, 2 devices'" "page_has '>Other Device</th><th '"
# A device that was tuned before its kernel had a parameter.
sed -e 's/name: Test Device 3000/name: An Older Device/' -e 's/PAD: 1, //' \
    -e "s/^digest: .*/digest: $(printf %064d 5)/" \
    "$root/tunings/scale/t.yaml" >"$folder/older.yaml"
run report -o "$page" "$root/tunings" older.yaml
check "parameters that only some devices have are there" all "exits 0" \
    "page_has '>PAD</th><td class=\"x\">-</td><td class=\"x\">-</td><td class=\"x\">0</td><td class=\"x v\">1</td>'" \
    "[ \$(grep -c '<tr><th scope=\"row\">BLOCK</th>' '$page') -eq 2 ]"

# Nothing that ran, or one candidate: no chart is promised that is not there.
sed -e '/BLOCK: \(256\|1024\)/d' -e '/^- {try/d' -e '/BLOCK: 128/d' \
    "$root/tunings/scale/j.journal" >"$folder/failed.journal"
run report -o "$page" failed.journal
check "failures alone" all "exits 0" "is_page '$page'" \
    "page_has 'The journal has 1 candidate of 44. '" "page_has 'None was timed'" \
    "page_has '>wrong</th>'" "page_lacks '<em>charts'" "page_lacks '<svg'" \
    "page_lacks 'won over the default'"
run show failed.journal
check "and in the terminal" out_has '^1 candidate of 44$'
sed '/BLOCK: \(256\|512\|1024\)/d' "$root/tunings/scale/j.journal" \
    >"$folder/one.journal"
run report -o "$page" one.journal
check "one candidate has no charts by value" all "exits 0" "is_page '$page'" \
    "page_has 'The search over time'" "page_lacks 'by the value of each'"
{
    sed '/BLOCK: \(256\|512\|1024\)/d' "$root/tunings/scale/j.journal"
    for config in '128, PAD: 1' '128, PAD: 16384' '64, PAD: 1' '64, PAD: 16384'
    do
        echo "- {config: {BLOCK: $config, MEMORY: dynamic, CARVEOUT: -1}," \
            "at: 1, verdict: ok, time_us: 25000.5}"
    done
} >"$folder/pairs.journal"
run report -o "$page" pairs.journal
check "of a pair, the parameter with more values has the rows" all "exits 0" \
    "page_has '<figcaption>PAD and BLOCK</figcaption>'" \
    "page_lacks '<figcaption>BLOCK and PAD'"
sed 's/time_us: 9.0/time_us: 2500000/' "$folder/one.journal" >slow.journal
run report -o "$page" slow.journal
check "a time of seconds can be read" all \
    "page_has 'data-v=\"2500000\">2,500,000<'" "page_has '<span class=\"s\">2,500,000 '"
check "a rate below 10 is not 0" page_has '<td class="x" data-v="0.0033[0-9]*">0.0034</td>'

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
    "page_has '<h1>scale, searched</h1>'" \
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
run report -o "$folder/none.html" empty
check "and alone in a folder" all "exits 2" out_empty \
    "err_has 'error: there is nothing to show: .*bad.yaml:[0-9]*:'" \
    "[ ! -e $folder/none.html ]"
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

# -- what is read stays ---------------------------------------------------------
mkdir stay
cp "$root/kernels/scale."* stay/
cp "$root/tunings/scale/t.yaml" stay/tuning.yaml
cp "$root/tunings/scale/j.journal" stay/run.journal
ln stay/run.journal stay/link
ln -s run.journal stay/soft
echo '{arch}' >stay/form
cp -r "$root" stay/root
find stay -type f -exec cksum {} + | sort >stays
stays() {
    find stay -type f -exec cksum {} + | sort >now
    cmp -s stays now
}
while read -r words; do
    # shellcheck disable=SC2086
    run $words
    check "it stays: $words" all "exits 1" out_empty stays \
        "err_has 'cannot be written: it is the file .*stay/.*, which is read'"
done <<'END'
report stay/tuning.yaml -o stay/tuning.yaml
report stay/tuning.yaml --plot stay/link stay/run.journal
report stay/run.journal -o ./stay/run.journal
report stay/run.journal -o stay/soft
report stay/run.journal -o stay/scale.cu --spec stay/scale.yaml
export stay/run.journal --to t4 -o stay/link
export stay/scale.yaml --to t1 -o stay/scale.h
export stay/tuning.yaml --to header -o stay/tuning.yaml
export stay/tuning.yaml --template stay/form -o stay/form
score stay/run.journal --plot stay/run.journal
init stay/scale.cu -o stay/scale.cu --force
pack stay/root -o stay/root/kernels/scale.yaml
tune stay/scale.yaml --plot stay/scale.yaml
tune scale --from stay/tuning.yaml --report stay/tuning.yaml
END
run report stay/run.journal -o both.svg --plot both.svg
check "two outputs in one file" all "exits 1" "[ ! -e both.svg ]" \
    "err_has 'are both both.svg'"
run tune scale --report both.svg --plot both.svg
check "nor has tune two in one" all "exits 1" "[ ! -e both.svg ]" \
    "err_has 'report and --plot are both both.svg'"
: >both.svg
run report stay/run.journal -o both.svg --plot ./both.svg
check "by whatever name" all "exits 1" "[ ! -s both.svg ]" \
    "err_has 'are both ./both.svg'"

# -- what the hardware counted -------------------------------------------------
cd "$folder" || exit 1
cat >explained.part <<'END'
  "device": {
    "name": "Test Device 3000",
    "uuid": "GPU-00000000-0000-0000-0000-000000000000",
    "compute_major": 9, "compute_minor": 0,
    "multiprocessors": 132,
    "registers_per_multiprocessor": 65536,
    "shared_per_block": 49152
  },
  "recorded": false,
  "protocol": "cold-l2",
  "configurations": [
    {
      "label": "default",
      "config": {"BLOCK": 128, "PAD": 0, "MEMORY": "static", "CARVEOUT": -1},
      "result": {"verdict": "ok", "stage": "done", "time_us": 3.0},
      "counters": {"dram__bytes_read.sum": 104972800, "odd.ratio": 0.125},
      "derived": {
        "sectors_per_load_request": 32.0,
        "load_bytes_used_percent": 12.5,
        "l2_hit_percent": null,
        "local_sectors": 123456,
        "of_tomorrow": 3
      },
      "remarks": ["a load request takes 32.0 sectors <b>& more"]
    },
    {
      "label": "config 1",
      "config": {"BLOCK": 64, "PAD": 0, "MEMORY": "static", "CARVEOUT": -1},
      "result": {"verdict": "ok", "stage": "done", "time_us": 2.5},
      "counters": {"dram__bytes_read.sum": 1, "odd.ratio": 1},
      "derived": {"sectors_per_load_request": 99.0},
      "remarks": ["of another configuration"]
    },
    {
      "label": "tuned",
      "config": {"CARVEOUT": -1, "BLOCK": 64, "PAD": 1, "MEMORY": "dynamic"},
      "result": {"verdict": "ok", "stage": "done", "time_us": 2.0},
      "counters": {"dram__bytes_read.sum": 52486400, "odd.ratio": 0.25},
      "derived": {
        "sectors_per_load_request": 4.0,
        "load_bytes_used_percent": 100,
        "l2_hit_percent": null,
        "local_sectors": 0,
        "of_tomorrow": 6
      },
      "remarks": ["DRAM is 91 % busy"]
    }
  ]
}
END
make_explained() { # FILE
    {
        printf '{\n  "format": "explain.json/1",\n  "kernel": "scale",\n'
        printf '  "digest": "%s",\n  "size": {"n": 1000},\n' \
            "$(digest_of_scale)"
        cat explained.part
    } >"$1"
}
row() { # TITLE CELL...: a row of the page, cells without their attributes
    wanted="<tr><th>$1</th>"
    shift
    for cell in "$@"; do
        wanted="$wanted<td>$cell</td>"
    done
    sed 's/<t\([hd]\) [^>]*>/<t\1>/g' "$page" | grep -qxF -e "$wanted</tr>"
}
mkdir counted
make_tuning counted/t.yaml
make_explained counted/scale.explain.json
x=$(printf '\303\227')
nbsp=$(printf '\302\240')
run report -o "$page" counted
check "counters are found in a folder" all "exits 0" "is_page '$page'" \
    "err_has 'from 2 files;'" "err_lacks 'left out'" \
    "page_has '<h5>What the hardware counted</h5>'" \
    "[ \$(grep -c 'hardware counted</h5>' '$page') -eq 1 ]" \
    "page_has 'From counted/scale.explain.json'"
check "the default against the winner, with the ratio" all \
    "row 'sectors a load request' 32.00 4.00 '0.12$x'" \
    "row '$nbsp${nbsp}of their bytes used, %' 12.5 100.0 '8.00$x'" \
    "row 'local-memory sectors' 123,456 0 '0.00$x'" \
    "page_lacks 99.00" "page_lacks 'of another configuration'"
check "what neither side has is no row" page_lacks 'L2 hits'
check "what a later version may count has its key" \
    row of_tomorrow 3.00 6.00 "2.00$x"
check "every counter by its name" all \
    "page_has '<summary>Every counter by its name</summary>'" \
    "row 'dram__bytes_read.sum, B' 104,972,800 52,486,400 '0.50$x'" \
    "row odd.ratio 0.12 0.25 '2.00$x'"
check "and what they mean" all \
    "page_has '<li><b>default</b>: a load request takes 32.0 sectors &lt;b&gt;&amp; more</li>'" \
    "page_has '<li><b>winner</b>: DRAM is 91 % busy</li>'" \
    "page_has 'A sector is 32 bytes.*did not fit the registers.</p>'"
run report -o "$page" counted --json
check "as JSON" all "exits 0" is_json "out_has '\"counted\": 1'" \
    "out_has '\"left_out\": \[\]'"
cp counted/scale.explain.json printed
run report -o "$page" counted/t.yaml printed
check "a file that is named is known by its format" all "exits 0" \
    "page_has 'From printed'"
sed -e '/"digest"/d' -e 's/"remarks"/"elsewhere"/' \
    counted/scale.explain.json >old.json
run report -o "$page" counted/t.yaml old.json
check "one of an older version has no sentences" all "exits 0" \
    "row 'sectors a load request' 32.00 4.00 '0.12$x'" \
    "page_lacks '<li><b>'"

other() { # NAME EDIT WHY: counters that belong to nothing are left out
    sed "$2" counted/scale.explain.json >other.explain.json
    run report -o "$page" counted/t.yaml other.explain.json
    check "counters of $1" all "exits 0" \
        "err_has 'left out: other.explain.json: counters of .*$3'" \
        "page_lacks 'hardware counted</h5>'" "is_page '$page'" \
        "page_has '<li>other.explain.json: counters of '" \
        "err_has 'from 1 file;'"
}
other "another kernel" 's/"kernel": "scale"/"kernel": "other"/' \
    'other, n=1000, on Test Device 3000: no tuning .* this kernel'
other "another size" 's/"n": 1000/"n": 1001/' 'n=1001, .*of this size'
other "a size with another dimension" 's/"n": 1000/"n": 1000, "m": 1/' \
    'n=1000 m=1, .*of this size'
other "another device" 's/Device 3000/Device 3001/' \
    'Device 3001: .*of this device'
other "a device with another limit" 's/"multiprocessors": 132/"multiprocessors": 114/' \
    'of this device'
other "other sources" 's/"digest": "../"digest": "zz/' \
    'the sources are others .*run .shmtune explain. again'
other "another winner" 's/"PAD": 1,/"PAD": 0,/' 'the winner is not among'
other "nothing" 's/"recorded": false/"no_counters": "no <ncu> here"/' \
    'are not there: no <ncu> here'
other "no numbers" \
    's/"derived"/"derived_"/; s/"counters"/"counters_"/' 'has no numbers'
run report -o "$page" counted/t.yaml other.explain.json --json
check "and said in JSON" all is_json \
    "out_has '\"file\": \"other.explain.json\"'" "out_has '\"counted\": 0'"
run report -o "$page" counted printed
check "one file a problem" all "exits 0" \
    "err_has 'left out: printed: .*another file has the counters'"
run report -o "$page" printed
check "counters alone are no report" all "exits 5" out_empty \
    "err_has 'no tuning and no journal is there'"

# What somebody else may have written.
sed -e "s/a load request/$evil\\\\u202e\\\\u001b[31m/" \
    -e "s/of_tomorrow/$evil/" -e "s/odd.ratio/$evil/" \
    -e 's/: 123456/: 1.5e308/' counted/scale.explain.json >evil.json
run report -o "$page" counted/t.yaml evil.json
check "hostile texts are texts" all "exits 0" "is_page '$page'" \
    "page_has 'hardware counted</h5>'" "page_lacks '<img'" \
    "page_has '<b>default</b>: &lt;/script&gt;&lt;img src=x'" \
    "page_has '<th scope=\"row\">&lt;/script&gt;&lt;img src=x'" \
    "page_has '>2e+308<\|>1e+308<'" \
    "[ \$(grep -c '</script>' '$page') -eq 1 ]" \
    "not_in_page '$(printf '\033')' '$(printf '\342\200\256')'"
wrong() { # NAME EDIT WHY
    sed "$2" counted/scale.explain.json >wrong.json
    rm -f "$page"
    run report -o "$page" counted/t.yaml wrong.json
    check "refused: $1" all "exits 2" out_empty \
        "err_has 'wrong.json:.*$3'" "[ ! -e '$page' ]"
}
wrong "another document" 's/explain.json/tune.json/' \
    'format: .tune.json/1., expected .explain.json/1.'
wrong "a later version" 's,explain.json/1,explain.json/2,' \
    'explain.json/2., expected .explain.json/1.*of this version'
wrong "no format" '/"format"/d' 'format: ""'
wrong "no kernel" '/"kernel"/d' 'kernel: it is not there, expected a string'
wrong "a kernel that is a list" 's/"scale"/["scale"]/' \
    'kernel: an array, expected a string'
wrong "a digest that is a number" 's/"digest": "[^"]*"/"digest": 1/' 'digest: an integer'
wrong "no device" 's/"device"/"device_"/' 'device: it is not there'
wrong "a limit below 0" 's/132/-132/' 'device.multiprocessors: an integer'
wrong "a limit that is too large" 's/132/4294967296/' \
    'device.multiprocessors: an integer'
wrong "a size that is a text" 's/{"n": 1000}/"n=1000"/' 'size: a string'
wrong "a size that is true" 's/"n": 1000/"n": true/' 'size: true'
wrong "a counter that is a text" 's/104972800/"many"/' \
    'counters.dram__bytes_read.sum: a string, expected a number or null'
wrong "counters that are a list" 's/"odd.ratio": 0.125}/"odd.ratio": [[]]}/' \
    'odd.ratio: an array'
wrong "NaN" 's/: 32.0,/: NaN,/' '[0-9]*:[0-9]*: '
wrong "no number that a double has" 's/: 32.0,/: 1e999,/' '[0-9]*:[0-9]*: '
wrong "no integer that 64 bits have" 's/: 123456/: 99999999999999999999/' \
    '[0-9]*:[0-9]*: '
wrong "a key twice" 's/"of_tomorrow"/"local_sectors"/' '[0-9]*:[0-9]*: '
wrong "sentences that are numbers" 's/\["DRAM.*/[1]/' \
    'configurations.2..remarks: an integer'
wrong "one sentence" 's/\["DRAM.*/"DRAM"/' 'remarks: a string, expected an arr'
wrong "no default" 's/"label": "default"/"label": "usual"/' \
    'configurations.0..label: .*expected "default"'
wrong "a file that is cut" '$d' '[0-9]*:[0-9]*: '
wrong "a NUL" 's/"DRAM/"\\u0000DRAM/' '[0-9]*:[0-9]*: '
if command -v python3 >/dev/null; then
    python3 - counted/scale.explain.json <<'END'
import json, sys
text = open(sys.argv[1]).read()
def put(name, change):
    document = json.loads(text)
    change(document)
    json.dump(document, open(name, 'w'))
open('deep.json', 'w').write('{"format": "explain.json/1", "a": ' +
                             '[' * 200000 + ']' * 200000 + '}')
put('huge.json', lambda d: d.update(a='x' * (5 << 20)))
put('long.json', lambda d: d['configurations'][0].update(remarks=['x' * 1001]))
put('many.json', lambda d: d['configurations'][0].update(remarks=['x'] * 65))
put('rows.json', lambda d: d['configurations'][0].update(
    counters={'c%d' % k: k for k in range(300)}))
put('columns.json', lambda d: d.update(
    configurations=d['configurations'] * 30))
put('none.json', lambda d: d.update(configurations=[]))
put('strings.json', lambda d: d.update(configurations=['default'] * 2))
put('list.json', lambda d: d.update(configurations={'default': 1}))
END
    for name in deep:2 huge:5 long:2 many:2 rows:2 columns:2 none:2 \
        strings:2 list:2; do
        run report -o "$page" counted/t.yaml "${name%:*}.json"
        check "refused: ${name%:*}" all "exits ${name#*:}" out_empty \
            "err_has '${name%:*}.json: \|${name%:*}.json:[0-9]'"
    done
    mkdir found
    cp counted/t.yaml found/
    cp deep.json found/deep.explain.json
    run report -o "$page" found
    check "in a folder it is left out, and said" all "exits 0" \
        "err_has 'left out: .*deep.explain.json:1:'" "is_page '$page'"
fi

# A kernel of one's own that is called like a built-in one.
mkdir own
sed 's/BLOCK/THREADS/g' "$root/kernels/scale.yaml" >own.yaml
sed 's/BLOCK/THREADS/g' "$data/scale.cu" >scale.cu
cp "$data/scale.h" .
make_tuning tunings/own.yaml
for file in own.yaml j.journal; do
    sed -e 's/BLOCK/THREADS/g' -e "s/^digest: .*/digest: \"$(printf %064d 8)\"/" \
        "tunings/$file" >"own/$file"
done
run report -o "$page" own
check "another kernel of its name lends no rates to a tuning" all "exits 0" \
    "page_lacks 'GB/s</th>'" "page_has 'No spec of its sources is known'" \
    "err_has 'left out: own/j.journal was made for other sources.* --spec '"
run report -o "$page" own --spec own.yaml
check "which has them by its own spec" all "exits 0" \
    "page_has 'GB/s</th>'" "page_lacks 'No spec of'" \
    "page_has 'The search over time'"

mv "$root/kernels/scale.yaml" "$folder/elsewhere.yaml"
cp "$data/scale.cu" "$data/scale.h" "$folder/"
run report -o "$page" tunings/j.journal
check "a journal without its kernel" all "exits 1" out_empty \
    "err_has -- --spec"
run report -o "$page" tunings/j.journal --spec elsewhere.yaml
check "with --spec" all "exits 0" "page_has 'The search over time'"
run report -o "$page" other.yaml
check "a tuning needs no kernel" all "exits 0" "page_lacks 'GB/s</th>'"

mkdir two
for kernel in reduce transpose; do
    cp "$source/tunings/$kernel/sm_90-nvidia-h200.yaml" "two/$kernel.yaml"
done
run report -o "$page" two --metric 'items = UNROLL * 2'
check "metrics of names that one kernel has are shown of it" all "exits 0" \
    "page_has '<th scope=.row.>items</th>'" "is_page '$page'" \
    "err_has 'left out: transpose: --metric: .*unknown name .UNROLL.'"
run report -o none.html two --metric 'items = NONE * 2'
check "of names that none has are refused" all "exits 1" \
    "err_has 'error: reduce: --metric: .*unknown name .NONE.'" \
    "[ ! -e none.html ]"
finish
