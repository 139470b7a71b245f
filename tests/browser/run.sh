#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page of `shmtune report` in a real browser, without a window: it says
# nothing on the console, is read with scripts off, sorts and filters with them
# on, and is not blank, on a wide screen and on a phone.  Exits with 77 where
# there is no Chromium: `apt-get install chromium` makes one.  TAP.
set -u
LC_ALL=C
export LC_ALL

source=$(cd "$(dirname "$0")/../.." && pwd)
build=${SHMT_BUILDDIR:-$source/build}
browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name) || browser=
done
if [ -z "$browser" ]; then
    echo "1..0 # SKIP no chromium is installed"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/browser.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
. "$source/tests/support/script.sh"
complain() {
    sed 's/^/# /' "$work/console" | head -20
    failed=1
}

# open PAGE OPTION...: its output in $work/dom, what it said in $work/console
open_page() {
    page=$1
    shift
    timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu \
        --hide-scrollbars --user-data-dir="$work/profile" \
        --enable-logging=stderr "$@" "file://$page" \
        >"$work/dom" 2>"$work/log"
    grep CONSOLE "$work/log" >"$work/console"
}
silent() { [ ! -s "$work/console" ]; }
only_refused() {
    [ "$(wc -l <"$work/console")" -eq 1 ] &&
        grep -q 'inline script' "$work/console"
}
has() { grep -q -e "$1" "$work/dom"; }
lacks() { ! has "$1"; }

# More than a blank image of that size would take.
drawn() { [ "$(wc -c <"$work/shot.png")" -gt 30000 ]; }

# A recording has no counters: some are put where they belong.
added='"counters": {"dram__bytes_write.sum": 268435456}, "derived": {'
added=$added'"sectors_per_load_request": 4, "load_bytes_used_percent": 100, '
added=$added'"sectors_per_store_request": 32, "local_sectors": 268435456}, '
added=$added'"remarks": ["a store request takes 32.0 sectors and uses 12 % of '
added=$added'their bytes: neighbouring threads are not at neighbouring addresses"]'
"$build/shmtune" -q explain transpose --device replay:h100 --json |
    sed -e '/"no_counters"/d' -e "s/\"gflop_per_s\": [^,]*\$/&, $added/" \
        >"$work/transpose.explain.json"
"$build/shmtune" -q report "$source/tunings/transpose" \
    "$source/tunings/scan" "$work/transpose.explain.json" \
    -o "$work/page.html" || exit 1

open_page "$work/page.html" --dump-dom
check "nothing on the console" silent
check "the policy lets the script run" has '<th scope="col"><button'
check "rows are counted" has '>40 of 40 rows<'

# With scripts off: the policy forbids the page's own.
sed "s/script-src '[^']*'/script-src 'none'/" "$work/page.html" \
    >"$work/bare.html"
open_page "$work/bare.html" --dump-dom
check "with scripts off: nothing else on the console" only_refused
check "the table is there" has 'rows=8192 cols=8192 element=4'
check "what was counted is" has '<b>winner</b>: a store request takes 32.0'
check "the charts are" has '<figcaption>The search over time</figcaption>'
check "and no field that does nothing" lacks '<button'

# A second script that does what a reader does; the policy, which would not let
# it in, is taken out.
{
    sed '/Content-Security-Policy/d; /^<\/html>/d' "$work/page.html"
    cat <<'END'
<script>
var find = document.getElementById('find');
var body = document.getElementById('all').tBodies[0];
function shown() {
  return Array.prototype.filter.call(body.rows, function (row) {
    return !row.hidden;
  });
}
function times() {
  return shown().map(function (row) {
    return +row.cells[3].getAttribute('data-v');
  });
}
function sorted(list, way) {
  return list.every(function (one, k) {
    return k === 0 || way * (one - list[k - 1]) >= 0;
  });
}
function say(name, good) {
  document.body.appendChild(document.createElement('p')).textContent =
    (good ? 'good: ' : 'bad: ') + name;
}
var button = document.querySelectorAll('#all th button')[3];
button.click();
say('ascending', sorted(times(), 1) && times().length === 40);
button.click();
say('descending', sorted(times(), -1) &&
  button.parentNode.getAttribute('aria-sort') === 'descending');
find.value = 'H200 scan';
find.dispatchEvent(new Event('input'));
say('filtered', shown().length === 10 && shown().every(function (row) {
  return /scan/.test(row.textContent) && /H200/.test(row.textContent);
}));
document.querySelector('svg circle').dispatchEvent(
  new MouseEvent('click', {bubbles: true}));
say('told', !document.getElementById('tip').hidden &&
  document.getElementById('tip').textContent !== '');
</script>
</html>
END
} >"$work/used.html"
open_page "$work/used.html" --dump-dom
check "used: nothing on the console" silent
for name in ascending descending filtered told; do
    check "$name" has "<p>good: $name</p>"
done

open_page "$work/bare.html" --window-size=1200,2400 \
    --screenshot="$work/shot.png"
check "a screenshot with scripts off is not blank" drawn
rm -f "$work/shot.png"
open_page "$work/page.html" --window-size=1200,2400 \
    --screenshot="$work/shot.png"
check "nor one with scripts on" drawn
echo "<iframe src='page.html' width='360' height='2400'></iframe>" \
    >"$work/phone.html"
rm -f "$work/shot.png"
open_page "$work/phone.html" --window-size=500,2400 \
    --screenshot="$work/shot.png"
check "nor on a phone" drawn
finish
exit $failed
