# Sourced by the commands beside it. `ready PURPOSE` returns once .venv holds what PURPOSE needs: "runtime" (the two
# commands) or "dev" (tests and checks too). Sets `root` (the checkout) and `venv`.
#
# In place is what a stamp says: the path of the checkout, for a virtual environment cannot be moved, and the text of
# pyproject.toml as it was when the installation ended well. Comparing them starts no program, so that a second call
# costs a few milliseconds. A Python that was removed since leaves .venv/bin/python dangling, which -x notices.

root=${BASH_SOURCE[0]%/scripts/*}
venv=$root/.venv

ready() {
    local stamp=$venv/ready-$1 python
    if [[ -x $venv/bin/python && -r $stamp && "$(<"$stamp")" == "$root"$'\n'"$(<"$root/pyproject.toml")" ]]; then
        return
    fi
    python=$(find_python) || exit 6
    "$python" -I "$root/scripts/make_environment.py" "$1" </dev/null >&2 || exit
}

# The first Python that is new enough and starts: a version manager's stand-in may be on PATH and fail.
find_python() {
    local name names="python3.13 python3.12 python3.11 python3 python3.14 python"
    for name in $names; do
        if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    echo "This needs Python 3.11 or newer to set itself up, and found none: looked on PATH for $names." >&2
    echo "Install one (Debian, Ubuntu: apt-get install python3 python3-venv), then call this again." >&2
    return 1
}
