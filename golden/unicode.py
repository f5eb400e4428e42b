#!/usr/bin/env python3
"""Makes src/support/unicode_kinds.h: which characters are letters, numbers
and white space.

    python golden/unicode.py >src/support/unicode_kinds.h

Letters and numbers are those of a general category L... and N...; white space
is what has the property White_Space, which unicodedata does not know: the
separators (Z...) and six control characters. The version of Unicode is that
of the Python that runs this; the header names it.
"""

import sys
import unicodedata

KINDS = {"L": 1, "N": 2, "Z": 3}


def kind(character):
    if character in "\t\n\v\f\r\x85":
        return KINDS["Z"]
    return KINDS.get(unicodedata.category(character)[0], 0)


def changes():
    """Where a run of one kind begins: four times the character, and its kind,
    in one number."""
    last = None
    for code in range(sys.maxunicode + 1):
        if kind(chr(code)) != last:
            last = kind(chr(code))
            yield 4 * code + last


def header():
    numbers = [f"{number:#x}," for number in changes()]
    lines, line = [], "   "
    for number in numbers:
        if len(line) + 1 + len(number) > 76:
            lines.append(line)
            line = "   "
        line += f" {number}"
    body = "\n".join([*lines, line])
    return f"""\
/* Made by golden/unicode.py from Unicode {unicodedata.unidata_version}; do not edit it.
 * {len(numbers)} runs of characters of one kind, each by its first character:
 * four times that, and 1 for letters, 2 for numbers, 3 for white space, 0
 * for all else. */
#pragma once

#include <stdint.h>

// clang-format off
static const uint32_t unicode_run[{len(numbers)}] = {{
{body}
}};
// clang-format on
"""


if __name__ == "__main__":
    print(header(), end="")
