# SPDX-License-Identifier: MIT
#
# What the rules about names and includes share: a line's code, and the module
# of a file.  A caller sets in_comment to 0 where a file begins.

# The module of a file of ours, by its path below the root; the header of the
# library is the library's, wherever it stands.
function module_of(file)
{
    if (file == "src/shmtune.h")
        return "runtime"
    if (file ~ /^search\/engine\//)
        return "engine"
    if (file ~ /^(search|kernels)\//) {
        sub(/\/.*/, "", file)
        return file
    }
    if (file ~ /^src\/[^\/]*$/)
        return "main"
    sub(/^src\//, "", file)
    sub(/\/.*/, "", file)
    return file
}

# The line without comments and without what strings contain.
function code_of(line,    out, c, two, k, n)
{
    out = ""
    n = length(line)
    for (k = 1; k <= n; k++) {
        c = substr(line, k, 1)
        two = substr(line, k, 2)
        if (in_comment) {
            if (two == "*/") {
                in_comment = 0
                k++
            }
        } else if (two == "/*") {
            in_comment = 1
            k++
            out = out " "
        } else if (two == "//") {
            break
        } else if (c == "\"" || c == "'") {
            out = out c
            for (k++; k <= n && substr(line, k, 1) != c; k++)
                if (substr(line, k, 1) == "\\")
                    k++
            out = out c
        } else {
            out = out c
        }
    }
    return out
}
