"""The canary: build the newest that fits, smoke it, and say what broke it when it breaks.

`newest` makes two files of one: as it is, and with everything moved that may move. Between them lies an ordinary run,
but for its order: the newest is tried first, and if it passes, there is nothing to search (`first_look`). What the run
finds is written down as a known-bad version, and becomes a suggestion (`conclusion`).
"""
