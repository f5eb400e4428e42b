#!/usr/bin/env python3
"""Compares the book with PyTorch. Run by `make golden-check`.

    python golden/check.py

1. Makes the golden data again in a temporary folder and compares it with
   what stands in golden/: the same tensors, types, shapes and values. What
   cannot be made on this machine is left out, and a line says so.
2. Makes GPT-2's tokens again, and the table of Unicode's letters, which must
   be the same; and runs their tests with GPT-2's own vocabulary, which no
   file of the book has.
3. Runs the PyTorch block of each chapter: what it prints must be printed by
   the chapter's program too, which is what its output blocks hold.

Each difference is one line; if there is one, the exit status is 1.
"""

import concurrent.futures
import contextlib
import io
import json
import math
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import torch
from safetensors.torch import load_file

import gpt2_tokens
import unicode

ROOT = Path(__file__).resolve().parent.parent

# A float64 answer differs from one machine to another in its last bits only,
# since that is where they round in another order.
RTOL, ATOL = 1e-9, 1e-12

# Both print four decimals, and may round a tie to different sides.
PRINTED = 1.0001e-4

# The chapters as the other tools read them.
READ_CHAPTERS = """\
use lib 'tools'; use Chapter; use JSON::PP;
print JSON::PP->new->ascii->encode([map { {%{Chapter->load($_)}} } @ARGV]);
"""

NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)")


# The tensors

def tensors(folder):
    """All of the folder's, by the names of chapter and tensor."""
    return {f"{path.stem}/{name}": tensor
            for path in sorted(folder.glob("*.safetensors"))
            for name, tensor in load_file(path).items()}


def difference(old, new):
    """Says in a line how a tensor differs from the one made again, if so."""
    if old is None or new is None:
        return "is missing" if old is None else "generate.py does not make it"
    if old.dtype != new.dtype or old.shape != new.shape:
        return (f"is {old.dtype} of {list(old.shape)}, made again "
                f"{new.dtype} of {list(new.shape)}")
    # What a function is given, and what it must match bit for bit, is not
    # float64; see generate.py.
    exact = old.dtype != torch.float64
    near = torch.isclose(old, new, rtol=0 if exact else RTOL,
                         atol=0 if exact else ATOL, equal_nan=True)
    if near.all():
        return None
    index = tuple(torch.argwhere(~near)[0].tolist())
    return (f"entry {list(index)} is {old[index].item()}, made again "
            f"{new[index].item()} ({(~near).sum()} of {near.numel()} differ)")


def check_tensors():
    """Returns the faults."""
    with tempfile.TemporaryDirectory() as again:
        run = subprocess.run([sys.executable, ROOT / "golden/generate.py",
                              again], capture_output=True, text=True)
        if run.returncode:
            return [run.stderr.strip() or "generate.py failed"]
        print(run.stderr, end="")
        made = tensors(Path(again))
    there = tensors(ROOT / "golden")
    faults = {name: difference(there.get(name), made.get(name))
              for name in sorted(there | made)}
    print(f"{len(there)} tensors, "
          f"{sum(tensor.numel() for tensor in there.values())} values compared")
    return [f"golden/{name}: {fault}" for name, fault in faults.items()
            if fault]


# GPT-2's tokens

def check_with_gpt2():
    """Returns the faults of the C code with GPT-2's own vocabulary."""
    with tempfile.TemporaryDirectory() as folder:
        for path, name in zip(gpt2_tokens.gpt2_files(),
                              ("vocab.json", "merges.txt")):
            shutil.copy(path, Path(folder, name))
        test = Path(os.environ.get("BUILD", "build"), "tests/gpt2_tokens")
        run = subprocess.run([ROOT / test], cwd=ROOT, text=True,
                             capture_output=True,
                             env={**os.environ, "GPT2_VOCABULARY": folder})
    lines = run.stdout.splitlines()
    return [f"{test}: {line}" for line in lines if line.startswith("not ok")
            ] or [f"{test} failed"] * (run.returncode != 0 or not lines)


def check_tokens():
    """Returns the faults. Of another version of Unicode, there may be other
    letters."""
    header = (ROOT / "src/support/unicode_kinds.h").read_text()
    faults = ["src/support/unicode_kinds.h: is not what unicode.py makes"] * (
        f"Unicode {unicodedata.unidata_version};" in header
        and header != unicode.header())
    with tempfile.TemporaryDirectory() as again:
        for name in gpt2_tokens.write(Path(again)):
            made = Path(again, name).read_bytes()
            if made != (ROOT / "golden" / name).read_bytes():
                faults.append(f"golden/{name}: is made otherwise now")
    return faults + check_with_gpt2()


# The chapters

def plain(text):
    """What PyTorch prints, as the book prints it: without tensor(...), dtype,
    grad_fn and blanks."""
    text = re.sub(r",\s*(dtype=[\w.]+|grad_fn=<[^>]*>|requires_grad=True)",
                  "", text)
    text = re.sub(r"tensor\(([^()]*)\)", r"\1", text)
    return [re.sub(r"\s", "", line) for line in text.splitlines()
            if line.strip()]


def same(a, b):
    """Are two lines equal, but for the last digit of their numbers?"""
    a, b = NUMBER.split(a), NUMBER.split(b)
    return len(a) == len(b) and a[::2] == b[::2] and all(
        math.isclose(float(x), float(y), rel_tol=0, abs_tol=PRINTED)
        for x, y in zip(a[1::2], b[1::2]))


def compare(path, printed, shown):
    """Every line that PyTorch prints must be among those the chapter shows,
    as (line number, text), in the same order."""
    faults, after = [], 0
    for line in printed:
        here = next((i for i in range(after, len(shown))
                     if same(line, shown[i][1])), None)
        if here is None:
            number, _ = shown[min(after, len(shown) - 1)]
            faults.append(f"{path}:{number}: PyTorch prints '{line}', the "
                          "chapter does not from here on")
        else:
            after = here + 1
    return faults


def run(python):
    """What it prints, and with what it fails."""
    printed = io.StringIO()
    torch.set_printoptions(linewidth=1000, sci_mode=False)
    try:
        with contextlib.redirect_stdout(printed):
            exec("\n".join(python), {"__name__": "__main__"})
    except (Exception, SystemExit) as error:
        return "", f"{type(error).__name__}: {error}"
    return printed.getvalue(), None


def check_chapter(chapter):
    """Returns the faults."""
    path, number, blocks = (chapter[k] for k in ("path", "number", "blocks"))
    python = [block for block in blocks if block["info"] == "python"]
    shown = [(block["first"] + k, text.replace(" ", ""))
             for block in blocks if block["info"] == "output"
             for k, text in enumerate(block["lines"], 1) if text.strip()]
    if len(python) != 1 and number.isdigit():
        return [f"{path}:1: has {len(python)} python blocks: a chapter has "
                "exactly one"]
    faults = []
    for block in python:
        place = f"{path}:{block['first']}"
        text, why = run(block["lines"])
        printed = plain(text)
        if why:
            faults.append(f"{place}: the python block fails: {why}")
        elif not printed or not shown:
            faults.append(f"{place}: the python block prints {len(printed)} "
                          f"lines, the chapter {len(shown)}")
        else:
            faults += compare(path, printed, shown)
    return faults


def read_chapters():
    paths = sorted(path.relative_to(ROOT).as_posix()
                   for path in (ROOT / "chapters").glob("*.c"))
    read = subprocess.run(["perl", "-e", READ_CHAPTERS, *paths], cwd=ROOT,
                          capture_output=True, text=True)
    return json.loads(read.stdout) if read.returncode == 0 else sys.exit(
        read.stderr.strip())


def main():
    # Two processes work at a time, and each chapter has a new one, so that
    # the seed of one chapter does not reach another. PyTorch is loaded once.
    work = multiprocessing.get_context("forkserver")
    work.set_forkserver_preload(["torch", "safetensors.torch"])
    chapters = read_chapters()
    with concurrent.futures.ProcessPoolExecutor(
            2, mp_context=work, max_tasks_per_child=1) as pool:
        first = pool.submit(check_tensors)
        compared = list(pool.map(check_chapter, chapters))
        faults = sum(compared, first.result() + check_tokens())
    print(f"{len(chapters)} chapters compared")
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
