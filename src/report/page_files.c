/* SPDX-License-Identifier: MIT */
/*
 * page_files: the style and the script of the page, which have to be in it, and
 * the hashes by which its policy allows them and nothing else.
 */
#include <stdlib.h>

#include "plot/plot.h"
#include "report/page.h"

/* In parts, as a compiler need not take longer strings. */
static const char *const style[] = {
    ":root{color-scheme:light dark;--z:#fff;--n:#1b1f24;--t:#57606a;"
    "--g:#e4e7eb;--e:#f6f7f9;--a:#0b62c1}\n"
    "@media(prefers-color-scheme:dark){:root{--z:#14171b;--n:#e6e9ed;"
    "--t:#a6aeb8;--g:#2b3138;--e:#1a1e23;--a:#62adff}}\n"
    "*{box-sizing:border-box}\n"
    "html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}\n"
    "@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}\n"
    "body{margin:0;background:var(--z);color:var(--n);"
    "font:15px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;"
    "font-variant-numeric:tabular-nums;overflow-wrap:anywhere}\n"
    "header,nav,main,footer{max-width:1180px;margin:0 auto;padding:0 16px}\n"
    "header{padding-top:40px}\n"
    "h1,h2,h3,h4,h5{line-height:1.25;font-weight:600;margin:0}\n"
    "h1{font-size:28px;letter-spacing:-.01em}\n"
    "h2{font-size:22px;margin:64px 0 4px;padding-top:20px;"
    "border-top:1px solid var(--g)}\n"
    "h3{font-size:16px;margin:28px 0 8px}\n"
    "h4{font-size:15px;margin:28px 0 2px}\n"
    "h5{font-size:13px;margin:24px 0 2px}\n"
    "p{margin:4px 0 12px;max-width:72ch}\n"
    ".s,figcaption,footer{color:var(--t);font-size:13px}\n"
    "a{color:var(--a);text-decoration:none}\n"
    "a:hover{text-decoration:underline}\n"
    "a:focus-visible,summary:focus-visible,button:focus-visible,"
    "input:focus-visible,.w:focus-visible{outline:2px solid var(--a);"
    "outline-offset:2px}\n"
    "nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin-top:16px;"
    "font-size:14px}\n"
    "dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(132px,1fr));"
    "gap:20px 24px;margin:32px 0 8px}\n"
    "dl div{border-top:2px solid var(--n);padding-top:8px}\n"
    "dt{color:var(--t);font-size:13px}\n"
    "dd{margin:0;font-size:24px;line-height:1.3;font-weight:600}\n",
    ".w{overflow-x:auto;margin:8px 0 16px}\n"
    ".w.y{max-height:70vh;overflow:auto;border:1px solid var(--g);"
    "border-radius:6px}\n"
    "table{border-collapse:collapse;font-size:13px;line-height:1.4}\n"
    "th,td{padding:5px 12px;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--g);white-space:nowrap}\n"
    "th{font-weight:600}\n"
    "thead th{color:var(--t);vertical-align:bottom}\n"
    "tbody th{font-weight:400}\n"
    ".y thead th{position:sticky;top:0;background:var(--z);"
    "box-shadow:0 1px var(--g);z-index:1}\n"
    ".y tbody tr:last-child>*{border-bottom:0}\n"
    "td.x,th.x{text-align:right}\n"
    "td.o{white-space:normal;min-width:220px}\n"
    "td.v{color:var(--a);font-weight:600}\n"
    "td.x+td.x,th.x{white-space:nowrap}\n"
    "th button{font:inherit;color:inherit;background:none;border:0;padding:0;"
    "cursor:pointer;text-align:inherit}\n"
    "th button::after{content:\"\\00a0\\2195\";opacity:.35}\n"
    "th[aria-sort=ascending] button::after{content:\"\\00a0\\2191\";"
    "opacity:1}\n"
    "th[aria-sort=descending] button::after{content:\"\\00a0\\2193\";"
    "opacity:1}\n"
    ".k{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:center;"
    "margin:12px 0}\n"
    "[hidden]{display:none!important}\n"
    "input{font:inherit;color:inherit;background:var(--z);"
    "border:1px solid var(--t);border-radius:6px;padding:6px 10px;"
    "min-width:0;flex:1}\n"
    "label{display:flex;gap:10px;align-items:center;flex:0 1 440px;"
    "min-width:0}\n"
    "details.q{border-bottom:1px solid var(--g)}\n"
    "details.q>summary{padding:9px 0;cursor:pointer;"
    "display:flex;flex-wrap:wrap;gap:0 16px}\n"
    "details.q>summary::before{content:\"+\";color:var(--t);width:10px}\n"
    "details.q[open]>summary::before{content:\"\\2212\"}\n"
    "details.q>summary::-webkit-details-marker{display:none}\n"
    "details.q>summary b{font-weight:600;min-width:min(22em,80%)}\n"
    "summary>.s{min-width:10em;align-self:center}\n"
    "em{font-style:normal;font-size:12px;color:var(--a);"
    "border:1px solid;border-radius:9px;padding:0 8px;align-self:center}\n"
    "details.q>div{padding:4px 0 28px}\n"
    "details.u summary{cursor:pointer;color:var(--a);font-size:13px;"
    "padding:4px 0}\n"
    ".f{display:flex;flex-wrap:wrap;gap:20px 34px;margin:12px 0;"
    "align-items:flex-start}\n"
    ".f>.w{margin:0;max-width:100%}\n"
    "figure{margin:0;max-width:100%}\n"
    "figcaption{color:var(--n);font-weight:600;margin-bottom:2px}\n"
    "svg{max-width:100%;height:auto;display:block}\n"
    ".j{flex:1 1 360px;min-width:0;max-width:100%}\n"
    "#tip{position:fixed;left:16px;right:16px;bottom:16px;max-width:560px;"
    "margin:0 auto;background:var(--n);color:var(--z);padding:10px 14px;"
    "border-radius:6px;font-size:13px;z-index:9}\n"
    "footer{margin-top:64px;padding-bottom:48px}\n"
    "footer h2{font-size:15px;color:var(--n);margin-top:0}\n"
    "@media(max-width:640px){header{padding-top:24px}h1{font-size:24px}"
    "th,td{padding:5px 8px}dd{font-size:20px}"
    "tbody th{position:sticky;left:0;background:var(--z);"
    "box-shadow:inset 0 -1px var(--g);"
    "white-space:normal;min-width:8.5em}"
    "td.o{min-width:150px}}\n"
    "@media print{.w.y{max-height:none;border:0}.w{overflow:visible}"
    "nav,.k,#tip{display:none}figure,tr{break-inside:avoid}"
    "body{font-size:11px}}\n"
};

static const char *const script[] = {
    "(function () {\n"
    "'use strict';\n"
    "var table = document.getElementById('all');\n"
    "var body = table && table.tBodies[0];\n"
    "var find = document.getElementById('find');\n"
    "var said = document.getElementById('said');\n"
    "var tip = document.getElementById('tip');\n"
    "function key(row, k) {\n"
    "  var cell = row.cells[k], v = cell.getAttribute('data-v');\n"
    "  return v === null ? cell.textContent : v === '' ? null : +v;\n"
    "}\n"
    "function sort(head, k) {\n"
    "  var up = head.getAttribute('aria-sort') !== 'ascending';\n"
    "  var rows = Array.prototype.slice.call(body.rows);\n"
    "  rows.sort(function (a, b) {\n"
    "    var x = key(a, k), y = key(b, k), way;\n"
    "    if (x === null || y === null)\n"
    "      return (x === null) - (y === null);\n"
    "    way = typeof x === 'number' ? x - y\n"
    "      : x.localeCompare(y, undefined, {numeric: true});\n"
    "    return up ? way : -way;\n"
    "  });\n"
    "  Array.prototype.forEach.call(head.parentNode.cells, function (one) {\n"
    "    one.removeAttribute('aria-sort');\n"
    "  });\n"
    "  head.setAttribute('aria-sort', up ? 'ascending' : 'descending');\n"
    "  rows.forEach(function (row) { body.appendChild(row); });\n"
    "}\n"
    "function filter() {\n"
    "  var words = find.value.toLowerCase().split(/\\s+/), shown = 0;\n"
    "  Array.prototype.forEach.call(body.rows, function (row) {\n"
    "    var text = row.textContent.toLowerCase();\n"
    "    row.hidden = !words.every(function (word) {\n"
    "      return text.indexOf(word) >= 0;\n"
    "    });\n"
    "    shown += row.hidden ? 0 : 1;\n"
    "  });\n"
    "  said.textContent = shown + ' of ' + body.rows.length + ' rows';\n"
    "}\n"
    "function show() {\n"
    "  var at = document.getElementById(location.hash.slice(1));\n"
    "  if (at && at.tagName === 'DETAILS') {\n"
    "    at.open = true;\n"
    "    at.scrollIntoView();\n"
    "  }\n"
    "}\n",
    "if (body) {\n"
    "  Array.prototype.forEach.call(table.tHead.rows[0].cells,\n"
    "    function (head, k) {\n"
    "      var button = document.createElement('button');\n"
    "      button.type = 'button';\n"
    "      while (head.firstChild)\n"
    "        button.appendChild(head.firstChild);\n"
    "      head.appendChild(button);\n"
    "      button.addEventListener('click', function () {\n"
    "        sort(head, k);\n"
    "      });\n"
    "    });\n"
    "  find.addEventListener('input', filter);\n"
    "  find.parentNode.parentNode.hidden = false;\n"
    "  filter();\n"
    "}\n"
    "window.addEventListener('hashchange', show);\n"
    "show();\n"
    "window.addEventListener('beforeprint', function () {\n"
    "  var all = document.querySelectorAll('details');\n"
    "  Array.prototype.forEach.call(all, function (one) {\n"
    "    one.open = true;\n"
    "  });\n"
    "});\n"
    "document.addEventListener('click', function (event) {\n"
    "  var mark = event.target.closest && event.target.closest(\n"
    "    'svg g, svg circle, svg text');\n"
    "  var title = mark && mark.querySelector(':scope > title');\n"
    "  tip.hidden = !title;\n"
    "  tip.textContent = title ? title.textContent : '';\n"
    "});\n"
    "})();\n"
};

static void add_parts(struct shmt_text *out, const char *const *parts,
                      size_t count)
{
    for (size_t k = 0; k < count; k++)
        shmt_text_add(out, parts[k]);
}

void shmt_report_add_style(struct shmt_text *out)
{
    add_parts(out, style, sizeof style / sizeof *style);
    shmt_plot_add_style(out);
}

void shmt_report_add_script(struct shmt_text *out)
{
    add_parts(out, script, sizeof script / sizeof *script);
}

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

void shmt_report_add_hash(struct shmt_text *out, const struct shmt_text *file)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { BYTES = 32 };
    struct shmt_digest digest;
    char text[SHMT_DIGEST_TEXT];
    unsigned char bytes[BYTES + 1] = {0};

    shmt_digest_begin(&digest);
    shmt_digest_add(&digest, file->data, file->length);
    shmt_digest_end(&digest, text);
    for (int k = 0; k < BYTES; k++)
        bytes[k] = (unsigned char)(digit(text[2 * k]) << 4 |
                                   digit(text[2 * k + 1]));
    shmt_text_add(out, "'sha256-");
    /* 32 bytes are 10 threes and a two: 43 letters and one that fills. */
    for (int k = 0; k < BYTES; k += 3) {
        const uint32_t three = (uint32_t)bytes[k] << 16 |
                               (uint32_t)bytes[k + 1] << 8 |
                               (k + 2 < BYTES ? bytes[k + 2] : 0u);

        for (int i = 0; i < (k + 2 < BYTES ? 4 : 3); i++)
            shmt_text_add_bytes(out, &letters[three >> (18 - 6 * i) & 63], 1);
    }
    shmt_text_add(out, "='");
}
