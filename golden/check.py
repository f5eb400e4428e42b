#!/usr/bin/env python3
"""Compares the book with PyTorch. Run by `make golden-check`.

    python golden/check.py [ROOT]

1. Makes the golden data again in a temporary folder and compares it with
   what stands in golden/: the same arrays, types, shapes and values.
2. Runs the PyTorch block of each chapter: what it prints must be printed by
   the chapter's program too, which is what its output blocks hold.

ROOT is the folder of the project, the one above this script's if none is
given. Each difference is one line; if there is one, the exit status is 1.
"""

import difflib
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# A float64 answer differs from one machine to another in its last bits only,
# since that is where they round in another order.
RTOL, ATOL = 1e-9, 1e-12

# Both print four decimals, and may round a tie to different sides.
PRINTED = 1.0001e-4

BEFORE_EACH = """\
import torch as _torch
_torch.set_printoptions(linewidth=1000, sci_mode=False)
"""

NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)")
FENCE = re.compile(r"(`{3,}|~{3,})\s*(.*)$")


# The arrays

def arrays(folder):
    """The path of every array below the folder, relative to it."""
    return {path.relative_to(folder).as_posix()
            for path in folder.rglob("*.npy")}


def differences(old, new):
    """Says in one line how an array differs from the one made again."""
    if old.dtype != new.dtype:
        return f"is {old.dtype}, made again {new.dtype}"
    if old.shape != new.shape:
        return f"has shape {old.shape}, made again {new.shape}"
    # What a function is given, and what it must match bit for bit, is not
    # float64; see generate.py.
    near = ((old == new) | ((old != old) & (new != new))
            if old.dtype != np.float64 else
            np.isclose(old, new, rtol=RTOL, atol=ATOL, equal_nan=True))
    if near.all():
        return None
    index = tuple(int(i) for i in np.argwhere(~near)[0])
    return (f"entry {list(index)} is {old[index]!s}, made again "
            f"{new[index]!s} ({(~near).sum()} of {near.size} differ)")


def check_arrays(golden):
    """Returns the faults, and how many arrays and values were compared."""
    faults, values = [], 0
    with tempfile.TemporaryDirectory() as name:
        again = Path(name)
        run = subprocess.run([sys.executable, golden / "generate.py", again],
                             capture_output=True, text=True)
        if run.returncode:
            return [run.stderr.strip() or "generate.py failed"], 0, 0
        there, made = arrays(golden), arrays(again)
        for path in sorted(there - made):
            faults.append(f"golden/{path}: generate.py does not make it")
        for path in sorted(made - there):
            faults.append(f"golden/{path}: is missing")
        for path in sorted(there & made):
            try:
                old = np.load(golden / path)
            except (ValueError, OSError, EOFError) as error:
                faults.append(f"golden/{path}: cannot be read: {error}")
                continue
            values += old.size
            fault = differences(old, np.load(again / path))
            if fault:
                faults.append(f"golden/{path}: {fault}")
    return faults, len(there & made), values


# The chapters

def fences(lines):
    """Yields (line number of the opening fence, its info string, its lines)
    for the code blocks in a chapter's prose, which is what stands between a
    line that is only /* and a line that is only */."""
    prose, fence, info, start, block = False, None, "", 0, []
    for number, line in enumerate(lines, 1):
        if fence:
            if line.strip() == fence:
                yield start, info, block
                fence = None
            else:
                block.append(line)
        elif line == "/*":
            prose = True
        elif line == "*/":
            prose = False
        elif prose and (match := FENCE.match(line)):
            fence, info, start, block = *match.groups(), number, []


def is_python(info):
    return info in ("python", "{.python}")


def is_plain_output(info):
    """Output of the run without arguments."""
    return info in ("output", "{.output}")


def plain(text):
    """What PyTorch prints, as the book prints it: without tensor(...), dtype,
    grad_fn and blanks."""
    text = re.sub(r",\s*(dtype=[\w.]+|grad_fn=<[^>]*>|requires_grad=True)",
                  "", text)
    while (start := text.find("tensor(")) >= 0:
        inside, depth = start + len("tensor("), 1
        end = inside
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        text = text[:start] + text[inside:end - 1] + text[end:]
    lines = [re.sub(r"\s", "", line) for line in text.splitlines()]
    return [line for line in lines if line]


def same(a, b):
    """Are two lines equal, but for the last digit of their numbers?"""
    a, b = NUMBER.split(a), NUMBER.split(b)
    return len(a) == len(b) and a[::2] == b[::2] and all(
        math.isclose(float(x), float(y), rel_tol=0, abs_tol=PRINTED)
        for x, y in zip(a[1::2], b[1::2]))


def compare(name, start, printed, shown):
    """Every line that PyTorch prints must be among those the chapter shows,
    as (line number, text), in the same order."""
    faults, after = [], 0
    for line in printed:
        here = next((i for i in range(after, len(shown))
                     if same(line, shown[i][1])), None)
        if here is not None:
            after = here + 1
            continue
        if not shown:
            return [f"{name}:{start}: PyTorch prints '{line}', the chapter "
                    "has no output"]
        number, nearest = nearest_line(line, shown)
        where = " too early" if same(line, nearest) else " (nearest line)"
        faults.append(f"{name}:{number}: PyTorch prints '{line}', the "
                      f"chapter prints '{nearest}'{where}")
    return faults


def nearest_line(line, shown):
    def nearness(entry):
        ratio = difflib.SequenceMatcher(None, line, entry[1], False).ratio()
        return same(line, entry[1]), ratio
    return max(shown, default=None, key=nearness)


def check_chapter(root, path):
    """Returns the faults, and how many lines PyTorch printed."""
    name = path.relative_to(root).as_posix()
    blocks = list(fences(path.read_text(encoding="utf-8").splitlines()))
    python = [block for block in blocks if is_python(block[1])]
    shown = [(start + k, text.replace(" ", ""))
             for start, info, lines in blocks if is_plain_output(info)
             for k, text in enumerate(lines, 1) if text.strip()]
    if path.name[0].isdigit() and len(python) != 1:
        return [f"{name}:1: has {len(python)} python blocks: a chapter has "
                "exactly one"], 0
    faults, count = [], 0
    for start, _, lines in python:
        run = subprocess.run([sys.executable, "-c",
                              BEFORE_EACH + "\n".join(lines)],
                             capture_output=True, text=True, cwd=root)
        printed = plain(run.stdout)
        count += len(printed)
        if run.returncode:
            why = (run.stderr.strip() or "no message").splitlines()[-1]
            faults.append(f"{name}:{start}: the python block fails: {why}")
        elif not printed:
            faults.append(f"{name}:{start}: the python block prints nothing")
        else:
            faults += compare(name, start, printed, shown)
    return faults, count


def main():
    if len(sys.argv) > 2 or sys.argv[1:] and sys.argv[1].startswith("-"):
        sys.exit("usage: python golden/check.py [ROOT]")
    root = Path(sys.argv[1] if sys.argv[1:] else
                Path(__file__).resolve().parent.parent)
    faults, count, values = check_arrays(root / "golden")
    print(f"{count} arrays, {values} values compared")
    chapters = sorted((root / "chapters").glob("*.c"))
    lines = 0
    for path in chapters:
        chapter_faults, chapter_lines = check_chapter(root, path)
        faults += chapter_faults
        lines += chapter_lines
    print(f"{len(chapters)} chapters, {lines} lines of PyTorch compared")
    if not count or not chapters:
        faults.append(f"{root}: has no golden arrays or no chapters")
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
