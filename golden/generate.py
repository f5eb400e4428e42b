#!/usr/bin/env python3
"""Makes the golden data: the answers of PyTorch that the C code must match.

    python golden/generate.py [FOLDER]

For each chapter a file of tensors, NAME.safetensors, and for all of them
their checksums in SHA256SUMS. FOLDER is this script's own if none is given.

What is given to the functions of the book is float32 and exact: the words
of a document, or random numbers from a fixed seed. What they must answer is
worked out by PyTorch's own operators, a whole attention by
F.scaled_dot_product_attention, and what comes on the way by the operators
that it is documented to consist of; and in float64, so that it is right to
the last digit a float has. An answer stored as float32 is one that must be
matched bit for bit.
"""

import hashlib
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save

HERE = Path(__file__).resolve().parent

HELLO_SHINY_SUN = torch.tensor([
    [0.34, 0.22, 0.54],   # Hello
    [0.53, 0.34, 0.98],   # shiny
    [0.29, 0.54, 0.93]])  # sun

YOUR_JOURNEY = torch.tensor([
    [0.43, 0.15, 0.89],   # Your
    [0.55, 0.87, 0.66],   # journey
    [0.57, 0.85, 0.64],   # starts
    [0.22, 0.58, 0.33],   # with
    [0.77, 0.25, 0.10],   # one
    [0.05, 0.80, 0.55]])  # step

INF, NAN = float("inf"), float("nan")


class Chapter:
    """The tensors of a chapter, by name."""

    def __init__(self):
        self.tensors = {}

    def save(self, case, **tensors):
        """Keeps WHAT=tensor as CASE-WHAT, for each of the tensors. Numbers
        and lists of Python's own are whole numbers, or float64."""
        for what, tensor in tensors.items():
            name = f"{case}-{what}"
            if not torch.is_tensor(tensor):
                is_float = torch.tensor(tensor).is_floating_point()
                tensor = torch.atleast_1d(torch.tensor(
                    tensor, dtype=torch.float64 if is_float else torch.int64))
            if name in self.tensors:
                sys.exit(f"generate.py: {name} is made twice")
            if tensor.dtype not in (torch.float32, torch.float64, torch.int64):
                sys.exit(f"generate.py: {name} would be {tensor.dtype}: "
                         "float32, float64 or int64 is needed")
            # A copy, as safetensors refuses two names for one tensor.
            self.tensors[name] = tensor.contiguous().clone()


def uniform(seed, *shape, size=1.0):
    """Random numbers between -size and size. Only PyTorch's uniform ones are
    the same on every machine, its normal ones are not."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(shape, generator=generator) * 2 - 1) * size


def wide(x):
    """The same numbers in float64, to be computed with."""
    return x.to(torch.float64)


# Chapter 1

def save_scores(chapter, case, query, key):
    """Every query with every key: n is not m, and queries are not keys, so
    that rows taken for columns and queries for keys are found out."""
    q, k = wide(query), wide(key)
    chapter.save(case, query=query, key=key, turned=key.T,
                 scores=torch.matmul(q, k.T),
                 cosines=F.cosine_similarity(q[:, None], k[None], dim=-1))


def save_pair(chapter, case, a, b):
    """Two vectors: their products, dot product, lengths and cosine."""
    x, y = wide(a), wide(b)
    chapter.save(case, a=a, b=b, product=torch.mul(a, b),
                 dot=torch.dot(x, y),
                 lengths=torch.stack([torch.linalg.vector_norm(x),
                                      torch.linalg.vector_norm(y)]),
                 cosine=F.cosine_similarity(x, y, dim=0))


def dot_product(chapter):
    save_pair(chapter, "numpy", torch.tensor([1., 2., 3.]),
              torch.tensor([4., 5., 6.]))
    save_pair(chapter, "single", torch.tensor([-2.5]), torch.tensor([0.75]))
    save_pair(chapter, "equal", uniform(1, 7), uniform(1, 7))
    save_pair(chapter, "opposite", uniform(2, 7), uniform(2, 7) * -3)
    save_pair(chapter, "orthogonal", torch.tensor([3., -4., 0., 2.]),
              torch.tensor([4., 3., 9., 0.]))
    save_pair(chapter, "seventeen", uniform(3, 17), uniform(4, 17, size=3))
    thousandths_and_thousands = torch.tensor([1e-3, 1e3]).repeat(9)[:17]
    save_pair(chapter, "mixed", uniform(5, 17) * thousandths_and_thousands,
              uniform(6, 17) * thousandths_and_thousands)
    save_pair(chapter, "thousand", uniform(7, 1000), uniform(8, 1000))

    save_scores(chapter, "hello", HELLO_SHINY_SUN, HELLO_SHINY_SUN)
    save_scores(chapter, "journey", YOUR_JOURNEY, YOUR_JOURNEY)
    for n, m, d in [(1, 1, 1), (1, 5, 3), (5, 1, 2), (2, 3, 5), (7, 5, 3),
                    (5, 7, 64), (65, 33, 127)]:
        save_scores(chapter, f"{n}x{m}x{d}", uniform(n, n, d),
                    uniform(100 + m, m, d, size=2))

    chapter.save("shiny", product=torch.mul(HELLO_SHINY_SUN[1],
                                            HELLO_SHINY_SUN))
    a, b = torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([[5., 6.],
                                                             [7., 8.]])
    chapter.save("square", a=a, b=b, product=torch.matmul(wide(a), wide(b)))


# Chapter 2

def save_softmax(chapter, case, scores):
    """Softmax of each row. A vector counts as a single row."""
    chapter.save(case, scores=scores, weights=F.softmax(wide(scores), dim=-1))


def save_mix(chapter, case, scores, value):
    weights = F.softmax(wide(scores), dim=-1)
    chapter.save(case, weights=weights, value=value,
                 context=torch.matmul(weights, wide(value)))


def save_attention(chapter, case, query, key, value):
    """A whole attention, from words to context vectors, as PyTorch has it,
    and on the way there the weights."""
    q, k, v = wide(query), wide(key), wide(value)
    scores = torch.matmul(q, k.T)
    chapter.save(case, query=query, key=key, value=value,
                 weights=F.softmax(scores, dim=-1),
                 context=F.scaled_dot_product_attention(q, k, v, scale=1.0))


def softmax(chapter):
    for n in 1, 2, 3, 5, 17, 1000:
        save_softmax(chapter, f"vector_{n}", uniform(n, n, size=3))
    for n, m in (1, 5), (3, 5), (5, 3), (17, 7), (4, 1):
        save_softmax(chapter, f"table_{n}x{m}", uniform(n, n, m, size=3))
    save_softmax(chapter, "table_2x4099", uniform(9, 2, 4099, size=3))

    save_softmax(chapter, "equal", torch.tensor([[3.5] * 5, [0.] * 5,
                                                 [-200.] * 5]))
    save_softmax(chapter, "hundreds", torch.tensor([
        [100., -100., 99., 100., 0.], [-100., -101., -99.5, -100., -103.],
        [0., 1., 2., 3., 200.], [200., 0., 1., 2., 3.]]))
    save_softmax(chapter, "ten_thousands", torch.tensor([
        [1e4, -1e4, 1e4, 9998.], [-1e4, -10001., -10002., -10000.5]]))
    save_softmax(chapter, "overflow", torch.tensor([
        [88.7, 88.72, 88.73, 89., 88.], [88.7, 0., 1., 2., 3.],
        [88., 88., 88., 88., 88.]]))
    save_softmax(chapter, "underflow", torch.tensor([
        [-104., -105., -104.5], [-87.5, -88., -89.], [0., -104., 3.]]))
    save_softmax(chapter, "rising", torch.linspace(-60, 60, 17))
    save_softmax(chapter, "falling", torch.linspace(60, -60, 17))
    save_softmax(chapter, "zigzag", torch.tensor([
        0., 3., -2., 30., 29., 31., -31., 31.5, 0., 31.5]))

    save_softmax(chapter, "masked", torch.tensor([
        [-INF, 1., 2., 0.5], [1., -INF, 2., 0.5], [1., 2., 0.5, -INF],
        [-INF, -INF, -3., -INF], [-INF, -2e6, -2000001., -INF]]))
    save_softmax(chapter, "masked_row", torch.tensor([
        [1., 2., -1.], [-INF, -INF, -INF], [2., 1., -INF]]))
    save_softmax(chapter, "infinite", torch.tensor([
        [INF, 1., 2.], [1., INF, 2.], [1., 2., INF], [INF, INF, INF],
        [-INF, 1., INF], [INF, -INF, 1.]]))
    save_softmax(chapter, "no_number", torch.tensor([
        [NAN, 1., 2.], [1., NAN, 2.], [1., 2., NAN], [-INF, NAN, 1.],
        [-INF, -INF, NAN], [NAN, -INF, INF], [NAN, NAN, NAN]]))

    for n, d in (1, 1), (1, 4), (4, 1), (3, 5), (5, 3), (17, 64):
        save_mix(chapter, f"mix_{n}x{d}", uniform(n, n, size=2),
                 uniform(200 + n, n, d))

    save_attention(chapter, "hello", *[HELLO_SHINY_SUN] * 3)
    save_attention(chapter, "journey", *[YOUR_JOURNEY] * 3)
    save_attention(chapter, "lopsided", uniform(10, 5, 4, size=2),
                   uniform(11, 7, 4, size=2), uniform(12, 7, 3))


# Chapter 3

def attended(q, k, v, is_scaled=True):
    """What an attention computes, by name."""
    scores = torch.matmul(q, k.T)
    if is_scaled:
        scores = scores / k.shape[1]**0.5
    context = F.scaled_dot_product_attention(
        q, k, v, scale=None if is_scaled else 1.0)
    return dict(scores=scores, weights=F.softmax(scores, dim=-1),
                context=context)


def save_head(chapter, case, x, w_query, w_key, w_value):
    """Projections, and what each query gets from all keys and values."""
    q, k, v = (torch.matmul(wide(x), wide(w)) for w in (w_query, w_key, w_value))
    chapter.save(case, x=x, w_query=w_query, w_key=w_key, w_value=w_value,
                 query=q, key=k, value=v, **attended(q, k, v, False))


def save_asking(chapter, case, query, key, value):
    """One query, and keys and values of different sizes."""
    q, k, v = wide(query), wide(key), wide(value)
    scores = torch.matmul(k, q)
    chapter.save(case, query=query, key=key, value=value, scores=scores,
                 weights=F.softmax(scores, dim=-1),
                 context=F.scaled_dot_product_attention(
                     q[None], k, v, scale=1.0)[0])


def qkv(chapter):
    save_head(chapter, "paper",
              torch.tensor([[1., 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]),
              torch.tensor([[1., 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]]),
              torch.tensor([[0., 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]),
              torch.tensor([[0., 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]))
    save_head(chapter, "cat",
              torch.tensor([[1., 0, 0], [0, 1, 0], [1, 0, 1]]),
              torch.tensor([[0., 4, 0], [0, 0, 4], [4, -4, -4]]),
              torch.eye(3), torch.tensor([[1., 0], [0, 0], [0, 1]]))
    for n, d, d_k, d_v in (1, 1, 1, 1), (2, 3, 4, 5), (5, 4, 3, 2), (7, 6, 2, 9):
        save_head(chapter, f"head_{n}x{d}x{d_k}x{d_v}", uniform(n, n, d),
                  uniform(10 + n, d, d_k), uniform(20 + n, d, d_k),
                  uniform(30 + n, d, d_v))
    for m, d_k, d_v in (1, 1, 1), (1, 2, 3), (4, 3, 2), (3, 5, 7), (9, 2, 4):
        save_asking(chapter, f"one_{m}x{d_k}x{d_v}", uniform(40 + m, d_k),
                    uniform(50 + m, m, d_k), uniform(60 + m, m, d_v))
    save_asking(chapter, "one_loud", uniform(70, 4, size=30),
                uniform(71, 6, 4, size=30), uniform(72, 6, 3))


# Chapter 4

SEEDS = [0, 1, 42, 123, 789, 2024, 2**31, 2**32 - 1, 2**32 + 5, 2**63 - 1]
SIZES = [1, 2, 15, 16, 17, 31, 32, 33, 623, 624, 625, 10_000]
RANGES = [(0.0, 1.0), (-1.0, 1.0), (-0.57735, 0.57735), (-1e-3, 7.0)]


def checksum(tensor):
    """FNV-1a of the bytes, as a signed number: long streams are compared by
    it, short ones value by value."""
    x = 0xcbf29ce484222325
    for byte in tensor.contiguous().numpy().tobytes():
        x = (x ^ byte) * 0x100000001b3 % 2**64
    return x - 2**64 if x >= 2**63 else x


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def drawn(seed, *shapes):
    """Tables of rand, one after the other."""
    torch.manual_seed(seed)
    return [torch.rand(shape) for shape in shapes]


def linear(d_in, d_out, bias):
    layer = torch.nn.Linear(d_in, d_out, bias=bias)
    return [p.detach() for p in layer.parameters()]


def random(chapter):
    chapter.save("all", seeds=SEEDS, sizes=SIZES,
                 ranges=torch.tensor(RANGES))
    # 63 bits of each draw of 64, the upper half first.
    chapter.save("bits", values=torch.stack([
        torch.empty(330, dtype=torch.int64).random_(generator=seeded(seed))
        for seed in SEEDS]))
    chapter.save("rand", values=torch.stack([
        torch.rand(33, generator=seeded(seed)) for seed in SEEDS]))
    chapter.save("rand", checksums=[
        [checksum(torch.rand(size, generator=seeded(seed)))
         for size in SIZES] for seed in SEEDS])
    chapter.save("uniform", values=torch.stack([torch.stack([
        torch.empty(17).uniform_(low, high, generator=seeded(seed))
        for low, high in RANGES]) for seed in SEEDS]))
    chapter.save("uniform", checksums=[
        [checksum(torch.empty(10_000).uniform_(low, high,
                                               generator=seeded(seed)))
         for low, high in RANGES] for seed in SEEDS])
    for d_in, d_out in (1, 1), (3, 2), (2, 5), (64, 7):
        torch.manual_seed(789)
        weight, bias = linear(d_in, d_out, True)
        (alone,) = linear(d_in, d_out, False)  # on the same generator
        chapter.save(f"linear_{d_in}x{d_out}", weight=weight, bias=bias,
                     alone=alone)
    torch.manual_seed(123)
    chapter.save("mixed", first=torch.rand(3, 5),
                 second=torch.empty(2, 2).uniform_(-3, 3),
                 third=linear(4, 3, True)[1], fourth=torch.rand(1, 700))
    w_query, w_key, w_value = drawn(123, *[(3, 2)] * 3)
    q, k, v = (torch.matmul(wide(YOUR_JOURNEY), wide(w))
               for w in (w_query, w_key, w_value))
    chapter.save("journey", x=YOUR_JOURNEY, w_query=w_query, w_key=w_key,
                 w_value=w_value, query=q, key=k, value=v,
                 scores=torch.matmul(q, k.T))


# Chapter 5

def embedded_sentence():
    """Life is short, eat dessert first."""
    torch.manual_seed(123)
    return torch.nn.Embedding(50_000, 3)(
        torch.tensor([0, 4, 5, 2, 1, 3])).detach()


def tokens(chapter):
    words = "Life is short, eat dessert first".replace(",", "").split()
    number = {word: i for i, word in enumerate(sorted(set(words)))}
    chapter.save("sentence", ids=[number[word] for word in words],
                 embedded=embedded_sentence())
    for n, d, rows in (1, 1, 1), (5, 3, 4), (3, 7, 11), (9, 2, 3):
        some = torch.randint(rows, (n,), generator=seeded(n))
        table = uniform(n, rows, d)
        chapter.save(f"table_{n}x{d}x{rows}", ids=some, table=table,
                     embedded=F.embedding(some, table),
                     one_hot=F.one_hot(some, rows).to(torch.float32))
    chapter.save("plain", values=torch.stack([
        torch.randn(64, generator=seeded(seed)) for seed in SEEDS]),
        seeds=SEEDS)


# Chapter 6

def save_scaled(chapter, case, query, key, value):
    """Attention as everybody means it, with its scale."""
    chapter.save(case, query=query, key=key, value=value,
                 **attended(wide(query), wide(key), wide(value)))


def save_spread(chapter, case, scores):
    chapter.save(case, scores=scores,
                 spread=torch.std(wide(scores), correction=0))


def save_nudge(chapter, case, scores, j, step):
    """The shares are given as floats, and what becomes of them is worked out
    from these, by way of their logarithms. A share of 0 stays 0, and the only
    one stays 1."""
    weights = F.softmax(scores, dim=-1)
    raised = torch.zeros_like(wide(weights))
    raised[j] = step
    chapter.save(case, weights=weights, j=j,
                 step=torch.tensor([float(step)]),
                 nudged=F.softmax(torch.log(wide(weights)) + raised, dim=-1))


def scaling(chapter):
    for n, m, d_k, d_v in ((1, 1, 1, 1), (2, 3, 4, 5), (5, 4, 3, 2),
                           (7, 2, 9, 4), (3, 6, 1, 2), (4, 1, 5, 3),
                           (4, 5, 64, 3), (12, 17, 9, 5)):
        save_scaled(chapter, f"head_{n}x{m}x{d_k}x{d_v}",
                    uniform(n, n, d_k, size=2), uniform(10 + m, m, d_k, size=2),
                    uniform(20 + d_v, m, d_v))
    save_scaled(chapter, "head_loud", uniform(30, 4, 6, size=20),
                uniform(31, 5, 6, size=20), uniform(32, 5, 3))
    save_scaled(chapter, "head_deafening", uniform(42, 3, 4, size=200),
                uniform(43, 4, 4, size=200), uniform(44, 4, 2))
    infinite = uniform(45, 4, 2)
    infinite[1, 0], infinite[2, 1] = -INF, NAN
    save_scaled(chapter, "head_infinite", uniform(46, 3, 2).abs(), infinite,
                uniform(47, 4, 3))
    w_query, w_key, w_value = drawn(123, *[(3, 2)] * 3)
    save_scaled(chapter, "head_journey", YOUR_JOURNEY @ w_query,
                YOUR_JOURNEY @ w_key, YOUR_JOURNEY @ w_value)
    save_scaled(chapter, "head_paper",
                torch.tensor([[1., 0, 2], [2, 2, 2], [2, 1, 3]]),
                torch.tensor([[0., 1, 1], [4, 4, 0], [2, 3, 1]]),
                torch.tensor([[1., 2, 3], [2, 8, 0], [2, 6, 3]]))
    for n, m, d_k in ((1, 1, 1), (2, 3, 5), (4, 3, 2), (3, 7, 4096),
                      (2, 2, 70_000)):
        scores = uniform(n + m, n, m, size=50)
        chapter.save(f"scale_{n}x{m}x{d_k}", scores=scores,
                     d_k=d_k, scaled=wide(scores) / d_k**0.5)
    save_spread(chapter, "spread_1", torch.tensor([2.5]))
    save_spread(chapter, "spread_2", torch.tensor([-1., 3.]))
    save_spread(chapter, "spread_11", uniform(33, 11, size=4))
    save_spread(chapter, "spread_equal", torch.tensor([0.1] * 9))
    save_spread(chapter, "spread_shifted", uniform(34, 1000) + 1000)
    save_spread(chapter, "spread_far", uniform(39, 999) + 1e6)
    save_spread(chapter, "spread_10000", uniform(35, 10_000, size=200))
    for n, m in (1, 1), (1, 4), (3, 5), (6, 2):
        weights = F.softmax(uniform(n * m, n, m, size=4), dim=-1)
        chapter.save(f"largest_{n}x{m}", weights=weights,
                     mean=wide(weights).max(dim=-1).values.mean())
    save_nudge(chapter, "nudge_1", torch.tensor([3.]), 0, 2)
    save_nudge(chapter, "nudge_first", uniform(36, 5, size=3), 0, 1)
    save_nudge(chapter, "nudge_last", uniform(37, 7, size=3), 6, 0.25)
    save_nudge(chapter, "nudge_down", uniform(38, 4, size=2), 2, -3)
    save_nudge(chapter, "nudge_winner", torch.tensor([60., 0., 20., -80.]),
               0, 1)
    save_nudge(chapter, "nudge_second", uniform(40, 6, size=3), 1, 0.1)
    save_nudge(chapter, "nudge_not", uniform(41, 5, size=3), 3, 0)
    for step in 40, 100, -20, -100, 800, -800:
        save_nudge(chapter, f"nudge_far_{step}", torch.tensor([0., 1., -2.]),
                   1, step)
        save_nudge(chapter, f"nudge_only_{step}",
                   torch.tensor([200., 0., 0.]), 0, step)
        save_nudge(chapter, f"nudge_none_{step}",
                   torch.tensor([200., 0., 0.]), 1, step)


# Chapter 7

def parameters_of(*layers):
    """Those of layers for the query, the key, the value, and the output."""
    return {f"{role}_{what}": p.detach().clone()
            for role, layer in zip(("query", "key", "value", "out"), layers)
            for what, p in layer.named_parameters()}


def save_modules(chapter, case, x, d_k, d_v, seed):
    """Both versions of self-attention on the same tokens: the parameters as
    PyTorch draws them, and what it computes from them."""
    d_in = x.shape[1]

    def save(name, query, key, value, **parameters):
        chapter.save(f"{name}_{case}", x=x, seed=seed, query=query, key=key,
                     value=value, **attended(query, key, value), **parameters)

    w_query, w_key, w_value = drawn(seed, (d_in, d_k), (d_in, d_k),
                                    (d_in, d_v))
    save("v1", *(wide(x) @ wide(w) for w in (w_query, w_key, w_value)),
         w_query=w_query, w_key=w_key, w_value=w_value)
    for name, has_bias in ("v2", False), ("v2_bias", True):
        torch.manual_seed(seed)
        roles = [torch.nn.Linear(d_in, d, bias=has_bias)
                 for d in (d_k, d_k, d_v)]
        parameters = parameters_of(*roles)
        save(name, *(layer.double()(wide(x)).detach() for layer in roles),
             **parameters)


def self_attention(chapter):
    for n, d_in, d_out in (1, 1, 1), (4, 3, 2), (2, 5, 7), (6, 64, 3):
        for bias in False, True:
            torch.manual_seed(n)
            layer = torch.nn.Linear(d_in, d_out, bias=bias)
            x = uniform(40 + n, n, d_in, size=3)
            case = f"linear_{n}x{d_in}x{d_out}" + ("_bias" if bias else "")
            chapter.save(case, x=x, seed=n,
                         **{name: p.detach().clone()
                            for name, p in layer.named_parameters()})
            chapter.save(case, y=layer.double()(wide(x)).detach())
    save_modules(chapter, "journey", YOUR_JOURNEY, 2, 2, 789)
    save_modules(chapter, "journey_123", YOUR_JOURNEY, 2, 2, 123)
    save_modules(chapter, "life", embedded_sentence(), 2, 4, 123)
    save_modules(chapter, "one", uniform(50, 1, 1), 1, 1, 5)
    save_modules(chapter, "lopsided", uniform(51, 5, 4, size=2), 3, 6, 2**32 - 1)
    for case, order in (("one", [0]), ("backwards", [4, 3, 2, 1, 0]),
                        ("cycle", [1, 2, 3, 0]), ("some", [2, 0, 1, 4, 3, 5]),
                        ("nine", [8, 3, 0, 1, 7, 2, 6, 5, 4])):
        x = uniform(len(order), len(order), 3)
        chapter.save(f"permute_{case}", x=x, order=order,
                     permuted=x[order])


# Chapter 8

def save_cross(chapter, case, x_1, x_2, w_query, w_key, w_value):
    """The queries of one input, the keys and values of another."""
    q = torch.matmul(wide(x_1), wide(w_query))
    k, v = (torch.matmul(wide(x_2), wide(w)) for w in (w_key, w_value))
    chapter.save(case, x_1=x_1, x_2=x_2, w_query=w_query, w_key=w_key,
                 w_value=w_value, query=q, key=k, value=v, **attended(q, k, v))


def save_cross_module(chapter, case, n, m, d, d_2):
    """PyTorch's own class with keys and values of another width; what it
    multiplies the result with in the end is made to change nothing."""
    module = torch.nn.MultiheadAttention(d, 1, bias=False, kdim=d_2, vdim=d_2)
    x_1, x_2 = uniform(n, n, d), uniform(50 + m, m, d_2)
    weights = [uniform(60, d, d), uniform(61, d_2, d), uniform(62, d_2, d)]
    module.to(torch.float64)
    with torch.no_grad():
        for own, w in zip([module.q_proj_weight, module.k_proj_weight,
                           module.v_proj_weight], weights):
            own.copy_(w.T)
        module.out_proj.weight.copy_(torch.eye(d))
        context, shares = module(wide(x_1), wide(x_2), wide(x_2))
    chapter.save(case, x_1=x_1, x_2=x_2, w_query=weights[0],
                 w_key=weights[1], w_value=weights[2], weights=shares,
                 context=context)


def cross_attention(chapter):
    first = embedded_sentence()
    *weights, other = drawn(123, (3, 2), (3, 2), (3, 4), (8, 3))
    save_cross(chapter, "strangers", first, other, *weights)
    save_cross(chapter, "same", first, first, *weights)
    for n, m, d_1, d_2, d_k, d_v in ((1, 1, 1, 1, 1, 1), (1, 4, 2, 3, 5, 6),
                                     (4, 1, 3, 2, 6, 5), (2, 5, 3, 4, 6, 7),
                                     (5, 3, 7, 2, 4, 6), (3, 9, 5, 8, 2, 4)):
        for entry in "a", "b":  # two entries of a batch, and their weights
            seed = n + 10 * m + (1000 if entry == "b" else 0)
            save_cross(chapter, f"{n}x{m}x{d_1}x{d_2}x{d_k}x{d_v}_{entry}",
                       uniform(seed, n, d_1), uniform(seed + 200, m, d_2),
                       uniform(300 + n, d_1, d_k), uniform(400 + n, d_2, d_k),
                       uniform(500 + n, d_2, d_v))
    save_cross(chapter, "loud", uniform(70, 3, 4, size=30),
               uniform(71, 5, 2, size=30), uniform(72, 4, 3),
               uniform(73, 2, 3), uniform(74, 2, 6))
    save_cross_module(chapter, "module_3x5x4x6", 3, 5, 4, 6)
    save_cross_module(chapter, "module_6x2x3x2", 6, 2, 3, 2)
    for seed, d_1, d_2, d_k, d_v in ((123, 3, 3, 2, 4), (789, 2, 5, 3, 4),
                                     (2**32 - 1, 6, 1, 4, 3)):
        w_query, w_key, w_value, then = drawn(
            seed, (d_1, d_k), (d_2, d_k), (d_2, d_v), (3,))
        chapter.save(f"init_{d_1}x{d_2}x{d_k}x{d_v}", seed=seed,
                     w_query=w_query, w_key=w_key, w_value=w_value, next=then)
    for n, m in (1, 1), (1, 7), (5, 4), (4, 9):
        shares = F.softmax(uniform(80 + n, n, m, size=4), dim=-1)
        chapter.save(f"alignment_{n}x{m}", shares=shares,
                     place=torch.argmax(shares, dim=-1))
    far = torch.tensor([[-INF, -INF, -INF], [-30, -20, -25], [0, INF, INF],
                        [-INF, -3e38, -INF], [1e30, 2e30, -1e30]])
    chapter.save("alignment_far", shares=far,
                 place=torch.argmax(far, dim=-1))


# Chapter 9

def visible(n, m, first):
    """Where a query may see: its own place and what lies before it."""
    return torch.ones(n, m, dtype=torch.bool).tril(first)


def save_mask(chapter, case, n, m, first, window):
    """The mask; scores before and after it, in all ways, to the last bit.
    What is hidden may hold anything."""
    seen = visible(n, m, first)
    near = seen & torch.ones(n, m, dtype=torch.bool).triu(first - window + 1)
    scores = uniform(n + 20 * m, n, m, size=5)
    odd = torch.tensor([INF, NAN, 1e30, -INF, -1e6]).repeat(n * m)[:n * m]
    scores = scores.where(seen, odd.reshape(n, m))
    chapter.save(case, first=first, window=window,
                 mask=torch.tril(torch.ones(n, m), diagonal=first),
                 scores=scores, masked=scores.masked_fill(~seen, -INF),
                 near=scores.masked_fill(~near, -INF))


def shared_out(weights):
    """Each row divided by its sum."""
    return wide(weights) / wide(weights).sum(dim=-1, keepdim=True)


def save_hiding(chapter, case, mask, scores):
    """Weights times any mask, renormalized; and the same mask before the
    softmax. A row of which nothing is left has no sum to be divided by."""
    seen = mask != 0
    weights = F.softmax(scores, dim=-1)
    hidden = torch.mul(weights, mask)
    chapter.save(case, mask=mask, scores=scores, weights=weights,
                 hidden=hidden, renormalized=shared_out(hidden),
                 masked=scores.masked_fill(~seen, -INF),
                 right=F.softmax(wide(scores).masked_fill(~seen, -INF), -1))


def save_masked(chapter, case, first, query, key, value):
    """A whole attention. Where a query sees nothing, softmax answers NaN and
    scaled_dot_product_attention 0; the book's function does as softmax."""
    q, k, v = wide(query), wide(key), wide(value)
    seen = visible(len(q), len(k), first)
    empty = ~seen.any(dim=-1, keepdim=True)
    scores = torch.matmul(q, k.T) / k.shape[1]**0.5
    scores = scores.masked_fill(~seen, -INF)
    weights = F.softmax(scores, dim=-1)
    context = (F.scaled_dot_product_attention(q, k, v, is_causal=True)
               if first == 0 else
               F.scaled_dot_product_attention(q, k, v, attn_mask=seen))
    alone = context[empty[:, 0]]
    if not (weights.isnan() == empty).all() or (alone != 0).any():
        sys.exit(f"generate.py: {case}: PyTorch answers a query that sees "
                 "nothing otherwise than chapter 9 says")
    chapter.save(case, first=first, query=query, key=key,
                 value=value, scores=scores, weights=weights,
                 context=context.masked_fill(empty, NAN))


def is_spoiled(scores, gap, tolerance):
    """Are float32 weights, of which a hidden one was taken away and the rest
    shared out anew, further from the truth than the tolerance? One so close
    to an error that another processor might find it on the other side is no
    use."""
    hidden = scores.max()[None] + gap
    weights = F.softmax(torch.cat([scores, hidden]), dim=-1)[:-1]
    truth = F.softmax(wide(scores), dim=-1)
    error = (shared_out(weights) - truth).abs().max().item()
    if tolerance and tolerance / 1.3 < error < tolerance * 1.3:
        sys.exit(f"generate.py: tolerance {tolerance} is close to the error "
                 f"{error} of {scores} at {gap}")
    return not error <= tolerance


def save_gap(chapter, case, scores, tolerance, gap):
    """The gap is given, and must be the first that spoils the result."""
    if (not is_spoiled(scores, gap, tolerance)
            or any(is_spoiled(scores, g, tolerance) for g in range(gap))):
        sys.exit(f"generate.py: {case}: {gap} is not the smallest gap")
    chapter.save(case, visible=scores, tolerance=torch.tensor([tolerance]),
                 gap=gap)


def causal_mask(chapter):
    for n, m, first, window in ((1, 1, 0, 1), (6, 6, 0, 3), (2, 5, 0, 1),
                                (2, 5, 3, 2), (4, 2, -2, 1), (4, 2, 0, 2),
                                (5, 3, 1, 2), (3, 7, -1, 4), (3, 4, -9, 2),
                                (3, 4, 9, 3), (7, 7, 0, 7), (4, 9, 5, 9)):
        save_mask(chapter, f"mask_{n}x{m}_{first}", n, m, first, window)

    for n, m in (1, 1), (1, 6), (5, 1), (4, 7), (7, 4), (5, 5):
        mask = torch.randint(2, (n, m), generator=seeded(n * m)).float()
        mask[torch.arange(n), torch.arange(n) % m] = 1  # something is seen
        save_hiding(chapter, f"any_{n}x{m}", mask,
                    uniform(90 + n, n, m, size=10))
    empty = torch.tensor([[1., 0, 1, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1],
                          [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
    save_hiding(chapter, "empty", empty, uniform(96, 5, 5, size=4))
    save_hiding(chapter, "journey", visible(6, 6, 0).float(),
                torch.matmul(YOUR_JOURNEY, YOUR_JOURNEY.T))
    gaps = torch.tensor([[0., 0.5, gap] for gap in (10, 100, 103, 105)])
    save_hiding(chapter, "gaps", torch.tensor([[1., 1, 0]]).repeat(4, 1), gaps)
    uneven = torch.tensor([[3., 1, 0, 0], [0.25, 0, 0, 0], [0, 1e-30, 3e-30, 0],
                           [1e30, 2e30, 0, 1e30]])
    chapter.save("uneven", weights=uneven, renormalized=shared_out(uneven))
    signed = torch.tensor([[3., -1, 0, 2], [-0.25, 0, 0, 0], [-1, -3, 0.5, 0],
                           [2e30, 1e30, -8e30, 0], [-4, 1, 1, 1]])
    chapter.save("signed", weights=signed, renormalized=shared_out(signed))
    # Only 0 hides before softmax; afterwards, every entry is a factor.
    graded = torch.tensor([[1., 0.5, 0, 2], [0.25, 0, -0., 0], [0, -1, -2, 0],
                           [-0.5, 1, 3, -0.125], [1e-42, 1, 1, 0]])
    save_hiding(chapter, "graded", graded, uniform(104, 5, 4, size=2))
    mask = torch.tensor([[0., -0., 1, 0.5, -1], [2, NAN, INF, -INF, 1e-45]])
    scores = uniform(105, 2, 5)
    chapter.save("odd", mask=mask, scores=scores,
                 masked=scores.masked_fill(mask == 0, -INF))

    for n, m, d_k, d_v, first in ((1, 1, 1, 1, 0), (6, 6, 2, 4, 0),
                                  (5, 5, 3, 2, 0), (2, 7, 3, 4, 0),
                                  (2, 7, 3, 4, 5), (7, 2, 4, 3, 0),
                                  (6, 3, 2, 5, -3), (3, 5, 6, 2, 1),
                                  (4, 6, 5, 3, -1), (3, 4, 2, 5, 9),
                                  (2, 3, 4, 5, -7)):
        for entry in "a", "b":
            seed = n + 7 * m + (1000 if entry == "b" else 0)
            save_masked(chapter, f"head_{n}x{m}x{d_k}x{d_v}_{first}_{entry}",
                        first, uniform(seed, n, d_k, size=2),
                        uniform(seed + 300, m, d_k, size=2),
                        uniform(seed + 600, m, d_v))
    save_masked(chapter, "loud", 0, uniform(97, 6, 3, size=12),
                uniform(98, 6, 3, size=12), uniform(99, 6, 2))
    # What is hidden scores 100 and more above what is seen.
    last = uniform(101, 4, 2)
    last[3] = torch.tensor([150., 120])
    save_masked(chapter, "gap", 0, uniform(102, 4, 2).abs() + 0.75, last,
                uniform(103, 4, 3))
    # Scores of a million and more below 0, which float32 holds exactly.
    far = torch.zeros(5, 4)
    far[:, 0], far[:, 1] = 1024, torch.tensor([2., -4, 6, 0, 2])
    deep = torch.zeros(5, 4)
    deep[:, 0], deep[:, 1] = -2048, torch.tensor([1., 3, -2, 0, 2])
    save_masked(chapter, "deep", 0, far, deep, uniform(100, 5, 3))

    half = torch.tensor([0., 0.5])
    for i, (tolerance, gap) in enumerate([
            (0.2, 104), (1e-2, 102), (3.6e-3, 100), (7e-4, 99), (6e-7, 93)]):
        save_gap(chapter, f"gap_half_{i}", half, tolerance, gap)
    save_gap(chapter, "gap_shifted", half - 40, 3.6e-3, 100)
    save_gap(chapter, "gap_one", torch.tensor([7.]), 0.0, 104)
    save_gap(chapter, "gap_endless", half, INF, 104)
    save_gap(chapter, "gap_three", torch.tensor([1., -2., 0.25]), 5.5e-3, 100)
    save_gap(chapter, "gap_four", torch.tensor([3., 3., 3., 2.5]), 2.2e-3,
             100)
    # One weight is too small to be off by much.
    for case, scores in (("first", [-30., 0, 0.5]), ("middle", [0, -30, 0.5]),
                         ("last", [0, 0.5, -30])):
        save_gap(chapter, f"gap_small_{case}", torch.tensor(scores), 3.6e-3,
                 100)


# Chapter 10

RATES = [0.0, 0.1, 0.2, 0.25, 0.04, 0.45, 0.5, 0.97, 1.0]


def lots(seed, rate, *shape):
    """The mask of nn.Dropout: what it leaves of a table of ones."""
    torch.manual_seed(seed)
    return (torch.nn.Dropout(rate)(torch.ones(shape)) != 0).float()


def save_dropped(chapter, case, seed, rate, x):
    torch.manual_seed(seed)
    dropped = F.dropout(x, rate)
    chapter.save(case, rate=rate, x=x,
                 mask=lots(seed, rate, *x.shape), dropped=dropped)


def dropout(chapter):
    """Lots drawn one by one from PyTorch's own generator. On an Intel
    processor, PyTorch up to 2.6 would draw others."""
    chapter.save("all", seeds=SEEDS, rates=RATES, sizes=SIZES)
    masks, following = [], []
    for seed in SEEDS:
        for rate in RATES:
            masks.append(lots(seed, rate, 5, 7))
            following.append(torch.rand(1))
    chapter.save("lots", masks=torch.stack(masks),
                 following=torch.cat(following))
    chapter.save("lots", checksums=[
        [checksum(lots(seed, 0.1, size)) for size in SIZES]
        for seed in SEEDS])
    # Each lot is 1 - rate of some rate, and just below it of another.
    torch.manual_seed(65)
    at = 1 - torch.rand(20, dtype=torch.float64)
    rates = torch.cat([at, at - 2.0**-53])
    chapter.save("near", rates=rates, masks=torch.stack(
        [lots(65, rate, 20) for rate in rates.tolist()]))
    torch.manual_seed(123)
    module, x = torch.nn.Dropout(0.5), torch.ones(6, 6)
    chapter.save("ones", x=x, dropped=module(x), evaluated=module.eval()(x))

    for k, rate in enumerate(RATES):
        save_dropped(chapter, f"rate_{k}", 40 + k, rate, uniform(k, 6, 11))
    odd = torch.tensor([[1., -1, 0, -0.], [INF, -INF, NAN, 1e38]])
    for k, rate in enumerate([0.0, 0.2, 0.5, 0.9, 1.0]):
        save_dropped(chapter, f"odd_{k}", 50 + k, rate, odd.repeat(3, 2))

    weights = F.softmax(uniform(60, 3, 5, size=2), dim=-1)
    for case, rate, draws in (("5", 0.5, 40), ("1", 0.1, 40), ("10", 1.0, 40),
                              ("once", 0.5, 1), ("often", 0.2, 97)):
        torch.manual_seed(61)
        sums = [wide(F.dropout(weights, rate)).sum(-1) for _ in range(draws)]
        chapter.save(f"sums_{case}", weights=weights,
                     rate=rate, draws=draws,
                     mean=torch.stack(sums).mean(0))


# Chapter 11

def shares(q, k, **how):
    """The weights of an attention: values that are rows of the identity
    matrix are mixed to the weights themselves."""
    m = k.shape[-2]
    return F.scaled_dot_product_attention(
        q, k, torch.eye(m, dtype=q.dtype).expand(*k.shape[:-1], m), **how)


def attend_causal(q, k, v, rate):
    """Context, and the weights that made it, with the same lots."""
    state = torch.get_rng_state()
    dropped = shares(q, k, is_causal=True, dropout_p=rate)
    torch.set_rng_state(state)
    return F.scaled_dot_product_attention(
        q, k, v, is_causal=True, dropout_p=rate), dropped


def evaluated_and_trained(q, k, v, rate):
    evaluated, weights = attend_causal(q, k, v, 0.0)
    trained, dropped = attend_causal(q, k, v, rate)
    return dict(weights=weights, dropped=dropped, evaluated=evaluated,
                trained=trained, rate=rate)


def save_causal(chapter, case, seed, x, d_out, context_length, rate, bias):
    """A whole batch, whose entries differ: first evaluated, then in
    training, on the generator that has drawn the layers."""
    d_in = x.shape[-1]
    torch.manual_seed(seed)
    layers = [torch.nn.Linear(d_in, d_out, bias=bias) for _ in range(3)]
    parameters = torch.cat([p.detach().flatten() for layer in layers
                       for p in layer.parameters()])
    with torch.no_grad():
        q, k, v = (layer.double()(wide(x)) for layer in layers)
    chapter.save(case, x=x, sizes=[seed, d_out, context_length, bias],
                 drawn=parameters, query=q, key=k, value=v,
                 **evaluated_and_trained(q, k, v, rate),
                 following=torch.rand(1))


def save_head_alone(chapter, case, seed, rate, query, key, value):
    torch.manual_seed(seed)
    chapter.save(case, query=query, key=key, value=value,
                 **evaluated_and_trained(wide(query), wide(key), wide(value),
                                         rate))


def save_padding(chapter, case, is_causal, is_word):
    """Words and padding among the keys; every word sees at least itself."""
    n = len(is_word)
    is_word = torch.tensor(is_word)
    q, k, v = (uniform(80 + i, n, d) for i, d in enumerate((3, 3, 2)))
    before = torch.ones(n, n).tril() if is_causal else torch.ones(n, n)
    mask = torch.logical_and(before, is_word[None, :])
    chapter.save(case, query=q, key=k, value=v, word=is_word, before=before,
                 mask=mask.float(), context=F.scaled_dot_product_attention(
                     wide(q), wide(k), wide(v), attn_mask=mask))


def causal_attention(chapter):
    for case, n, d_in, d_out, length, rate, bias, size in [
            ("plain", 5, 4, 3, 9, 0.0, False, 1.0),
            ("biased", 6, 3, 5, 6, 0.3, True, 1.0),
            ("long", 17, 7, 4, 64, 0.1, True, 3.0),
            ("half", 6, 3, 2, 1024, 0.5, False, 1.0),
            ("one_token", 1, 2, 3, 4, 0.5, True, 1.0),
            ("one_number", 4, 1, 1, 5, 0.2, True, 2.0),
            ("loud", 7, 5, 2, 8, 0.2, False, 40.0),
            ("all_dropped", 3, 2, 4, 3, 1.0, True, 1.0)]:
        save_causal(chapter, case, 100 + n, uniform(n, 2, n, d_in, size=size),
                    d_out, length, rate, bias)
    two = torch.stack([YOUR_JOURNEY, embedded_sentence()])
    save_causal(chapter, "program", 123, two, 2, 6, 0.5, False)
    for n, d_k, d_v, rate in [(1, 1, 1, 0.5), (6, 2, 5, 0.25), (9, 7, 3, 0.6),
                              (4, 3, 2, 1.0)]:
        save_head_alone(chapter, f"head_{n}x{d_k}x{d_v}", n, rate,
                        uniform(n, n, d_k, size=2),
                        uniform(10 + n, n, d_k, size=2),
                        uniform(20 + n, n, d_v))
    save_head_alone(chapter, "head_loud", 3, 0.4, uniform(30, 8, 4, size=30),
                    uniform(31, 8, 4, size=30), uniform(32, 8, 2))
    save_padding(chapter, "padding_behind", True, [1, 1, 1, 1, 0, 0])
    save_padding(chapter, "padding_in_front", True, [0, 0, 1, 1, 1])
    save_padding(chapter, "padding_between", False, [1, 0, 1, 1, 0, 1, 1])
    save_padding(chapter, "no_padding", True, [1, 1, 1])


# Chapter 12

def drawn_heads(n_heads, d_in, d_k, d_v):
    """The matrices of several heads, drawn one head after the other: three
    stacks, with a layer for each head."""
    heads = [[torch.rand(d_in, d) for d in (d_k, d_k, d_v)]
             for _ in range(n_heads)]
    return [torch.stack(matrices) for matrices in zip(*heads)]


def save_heads(chapter, case, seed, x, w_query, w_key, w_value):
    """For each sentence of a batch what every head computes, and all heads
    side by side."""
    q, k, v = (torch.matmul(wide(x)[:, None], wide(w))
               for w in (w_query, w_key, w_value))
    scores = torch.matmul(q, k.mT) / k.shape[-1]**0.5
    context = F.scaled_dot_product_attention(q, k, v)
    chapter.save(case, seed=seed, x=x, w_query=w_query,
                 w_key=w_key, w_value=w_value, scores=scores,
                 weights=shares(q, k),
                 joined=torch.cat(context.unbind(dim=1), dim=-1))


def heads(chapter):
    life = embedded_sentence()
    for n_heads in 1, 4:
        torch.manual_seed(123)
        save_heads(chapter, f"life_{n_heads}", 123, life[None],
                   *drawn_heads(n_heads, 3, 2, 1))
    torch.manual_seed(123)  # the tokens are drawn first
    save_heads(chapter, "concat", 123, torch.rand(1, 3, 8),
               *drawn_heads(2, 8, 4, 4))
    for n_heads, n, d, d_k, d_v in [(1, 1, 1, 1, 1), (2, 3, 4, 2, 3),
                                    (3, 5, 4, 3, 2), (5, 7, 6, 2, 1),
                                    (2, 4, 3, 5, 4), (2, 9, 3, 4, 2)]:
        seed = 700 + n
        torch.manual_seed(seed)
        save_heads(chapter, f"heads_{n_heads}x{n}x{d}x{d_k}x{d_v}", seed,
                   uniform(n, 2, n, d, size=2),
                   *drawn_heads(n_heads, d, d_k, d_v))
    torch.manual_seed(42)
    save_heads(chapter, "heads_loud", 42, uniform(80, 2, 5, 4, size=10),
               *drawn_heads(3, 4, 3, 2))
    sizes = [(1, 3, 2, 4), (4, 3, 2, 1), (1, 3, 8, 4), (3, 5, 7, 2),
             (32, 4096, 128, 128), (96, 12288, 128, 256),
             (1000, 100_000, 64, 64), (2, 3, 2**30 + 5, 7)]
    chapter.save("parameters", sizes=sizes, counts=[
        sum(p.numel() for p in torch.nn.ParameterList(
            torch.empty(d_in, d, device="meta")
            for _ in range(n_heads) for d in (d_k, d_k, d_v)))
        for n_heads, d_in, d_k, d_v in sizes])


# Chapter 13

def cut(x, n_heads):
    """[..., n, d_out] to [..., n_heads, n, head_dim]."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def joined(x):
    """The way back."""
    return x.transpose(-3, -2).flatten(-2)


def multi_head_layers(d_in, d_out, bias):
    """The layers of the class in the order in which it draws them."""
    query, key, value = (torch.nn.Linear(d_in, d_out, bias=bias)
                         for _ in range(3))
    return query, key, value, torch.nn.Linear(d_out, d_out)


def applied(layer, x):
    return F.linear(x, wide(layer.weight), None if layer.bias is None
                    else wide(layer.bias)).detach()


def tables(q, k, v, weights, kept, dropped, mask):
    """What a trace holds of a batch, [batch, n_heads, ...]: the rows of all
    heads before they are cut and after, and the scores where the mask has
    True."""
    scores = torch.matmul(q, k.mT) / k.shape[-1]**0.5
    return dict(query=joined(q), key=joined(k), value=joined(v),
                head_query=q, head_key=k, head_value=v,
                scores=scores.masked_fill(~mask, -INF), weights=weights,
                kept=kept, dropped=dropped)


def save_multi_head(chapter, case, seed, x, d_out, n_heads, context_length,
                    bias, p=0.0):
    """A batch through the class with a causal mask, sentence by sentence, in
    training on the generator that has drawn the layers."""
    torch.manual_seed(seed)
    layers = multi_head_layers(x.shape[-1], d_out, bias)
    n = x.shape[1]
    q, k, v = (cut(applied(layer, wide(x)), n_heads) for layer in layers[:3])
    kept, dropped, context = [], [], []
    for sentence in zip(q, k, v):
        state = torch.get_rng_state()
        kept.append((F.dropout(torch.ones(n_heads, n, n), p) != 0).float())
        torch.set_rng_state(state)
        mixed, left = attend_causal(*sentence, p)
        dropped.append(left)
        context.append(mixed)
    context = torch.stack(context)
    z = joined(context)
    chapter.save(case, x=x, settings=[
        seed, d_out, n_heads, context_length, bias, round(p * 1000)],
        **tables(q, k, v, shares(q, k, is_causal=True), torch.stack(kept),
                 torch.stack(dropped), visible(n, n, 0)),
        head_context=context, joined=z, out=applied(layers[3], z),
        **parameters_of(*layers))


def save_module(chapter, case, seed, x, n_heads, hidden=None, biases=None):
    """nn.MultiheadAttention with its own initial values. A mask is given to
    it with True for what is hidden, and to F.scaled_dot_product_attention
    with True for what is seen; both must answer the same."""
    d_model, n = x.shape[-1], x.shape[-2]
    torch.manual_seed(seed)
    module = torch.nn.MultiheadAttention(d_model, n_heads, batch_first=True)
    packed = module.in_proj_weight.detach().clone()
    out_weight = module.out_proj.weight.detach().clone()
    if biases is not None:
        with torch.no_grad():
            module.in_proj_bias.copy_(biases[:3 * d_model])
            module.out_proj.bias.copy_(biases[3 * d_model:])
    bias = torch.cat([module.in_proj_bias, module.out_proj.bias]).detach()
    if hidden is None:
        hidden = torch.zeros(n, n, dtype=torch.bool)
    module = module.double().eval()
    with torch.no_grad():
        y = wide(x)
        out, weights = module(y, y, y, attn_mask=hidden,
                              average_attn_weights=False)
        average = module(y, y, y, attn_mask=hidden)[1]
        q, k, v = (cut(part, n_heads) for part in F.linear(
            y, module.in_proj_weight, module.in_proj_bias).chunk(3, dim=-1))
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=~hidden)
        again = module.out_proj(joined(context))
    sees = ~hidden.all(dim=-1)  # F gives 0 to a row that sees nothing
    if not torch.allclose(out[:, sees], again[:, sees]):
        sys.exit(f"generate.py: {case}: the two ways to give a mask differ")
    context = context.masked_fill(~sees[:, None], NAN)
    chapter.save(case, seed=[seed, n_heads], x=x,
                 in_proj_weight=packed, out_proj_weight=out_weight, bias=bias,
                 seen=(~hidden).float(), average=average,
                 **tables(q, k, v, weights, torch.ones(weights.shape), weights,
                          ~hidden),
                 head_context=context, joined=joined(context), out=out)


def multi_head(chapter):
    for n, n_heads, head_dim in (1, 1, 1), (3, 2, 4), (5, 3, 2), (2, 4, 3):
        x = uniform(n, n, n_heads * head_dim)
        chapter.save(f"split_{n}x{n_heads}x{head_dim}", x=x,
                     split=x.view(n, n_heads, head_dim).transpose(0, 1))

    sentences = torch.stack([YOUR_JOURNEY, embedded_sentence()])
    save_multi_head(chapter, "tutorial", 123,
                    torch.stack([YOUR_JOURNEY, YOUR_JOURNEY]), 2, 2, 6, False)
    save_multi_head(chapter, "sentences", 123, sentences, 8, 2, 6, False)
    for d_in, d_out, n_heads, n, length, bias in [
            (1, 1, 1, 1, 1, False), (4, 6, 3, 5, 7, True),
            (5, 6, 2, 7, 7, False), (3, 12, 4, 3, 5, True),
            (8, 8, 1, 4, 4, True)]:
        save_multi_head(chapter, f"class_{d_in}x{d_out}x{n_heads}x{n}",
                        800 + n, uniform(90 + n, 2, n, d_in, size=3), d_out,
                        n_heads, length, bias)
    save_multi_head(chapter, "class_loud", 42, uniform(95, 2, 5, 4, size=60),
                    6, 2, 5, True)
    save_multi_head(chapter, "dropped_half", 123, sentences, 4, 2, 6, False,
                    p=0.5)
    save_multi_head(chapter, "dropped_tenth", 7, uniform(96, 2, 5, 3), 6, 3,
                    8, True, p=0.1)

    torch.manual_seed(123)
    torch.nn.MultiheadAttention(8, 2)
    small = torch.rand(3, 8)  # drawn after the module, as in the chapter
    future = torch.ones(3, 3, dtype=torch.bool).triu(1)
    save_module(chapter, "module_all", 123, small[None], 2)
    save_module(chapter, "module_causal", 123, small[None], 2, future)
    save_module(chapter, "module_opposite", 123, small[None], 2, ~future)
    for d_model, n_heads, n in (1, 1, 1), (6, 3, 5), (12, 2, 7), (12, 4, 3):
        hidden = uniform(n, n, n) > 0.2
        hidden.fill_diagonal_(False)
        save_module(chapter, f"module_{d_model}x{n_heads}x{n}", 900 + n,
                    uniform(97 + n, 2, n, d_model, size=3), n_heads, hidden,
                    biases=uniform(98, 4 * d_model))

    torch.manual_seed(123)
    module = torch.nn.MultiheadAttention(512, 8)
    x = torch.rand(20, 512)
    packed = checksum(module.in_proj_weight.detach())
    module = module.double()
    with torch.no_grad():
        out, weights = module(*[wide(x)] * 3, average_attn_weights=False)
    chapter.save("walk", packed=packed,
                 out=out[:, ::32], weights=weights[:, 3])


# Appendix B

def normals(chapter):
    """Normal numbers of both kinds: fewer than 16 at a time, and from 16 on.
    They are those of PyTorch's vector code; its plain code rounds in other
    places, so values made with it would be refused."""
    if torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "NO AVX"):
        sys.exit("generate.py: this processor has no vector instructions: "
                 "normal numbers must be made on one that has AVX2")
    chapter.save("all", seeds=SEEDS, sizes=SIZES)
    for size in 15, 16, 17, 33:
        chapter.save(f"normal_{size}", values=torch.stack([
            torch.randn(size, generator=seeded(seed)) for seed in SEEDS]))
    chapter.save("normal", checksums=[
        [checksum(torch.randn(size, generator=seeded(seed)))
         for size in SIZES] for seed in SEEDS])
    chapter.save("shifted", values=torch.stack([
        torch.empty(40).normal_(3.0, 0.25, generator=seeded(seed))
        for seed in SEEDS]), few=torch.stack([
            torch.empty(5).normal_(-1.0, 2.0, generator=seeded(seed))
            for seed in SEEDS]))
    torch.manual_seed(123)
    chapter.save("embedding", table=torch.nn.Embedding(6, 3).weight.detach())
    torch.manual_seed(123)
    large = torch.nn.Embedding(50_000, 3).weight.detach()
    chapter.save("embedding", first=large[:6], checksum=checksum(large))
    torch.manual_seed(2024)  # a kept number waits while others are drawn
    chapter.save("mixed", a=torch.randn(3), b=torch.rand(2), c=torch.randn(20),
                 d=torch.randn(1), e=torch.randn(2))
    chapter.save("double", values=torch.stack([
        torch.rand(20, dtype=torch.float64, generator=seeded(seed))
        for seed in SEEDS]))


# Appendix C

def sheet(chapter):
    """One word's context vector, from every attention of the book."""
    x, rows = YOUR_JOURNEY, []

    def keep(table):
        rows.append(table[1].detach().to(torch.float64))

    def attend(query, key, value, **how):
        return F.scaled_dot_product_attention(
            *(wide(part.detach()) for part in (query, key, value)), **how)

    def seeded_linear(seed, bias):
        torch.manual_seed(seed)
        return [torch.nn.Linear(3, 2, bias=bias) for _ in range(3)]

    keep(attend(x, x, x, scale=1.0))
    w_query, w_key, w_value = map(wide, drawn(123, *[(3, 2)] * 3))
    roles = [wide(x) @ w for w in (w_query, w_key, w_value)]
    keep(attend(*roles, scale=1.0))
    keep(attend(*roles))
    keep(attend(*roles, is_causal=True))
    keep(attend(*roles, is_causal=True))
    for bias in False, True:
        keep(attend(*(layer(x) for layer in seeded_linear(789, bias))))
    life = wide(embedded_sentence())
    keep(attend(wide(x) @ w_query, life @ w_key, life @ w_value))
    roles = [layer(x) for layer in seeded_linear(123, False)]
    keep(attend(*roles, is_causal=True))
    weights = attend(*roles[:2], torch.eye(6), is_causal=True)
    seeded_linear(123, False)
    keep(F.dropout(weights.float(), 0.5).double() @ wide(roles[2].detach()))
    torch.manual_seed(123)
    keep(torch.cat([attend(x @ torch.rand(3, 2), x @ torch.rand(3, 2),
                           x @ torch.rand(3, 1)) for _ in range(4)], dim=-1))
    torch.manual_seed(123)
    *layers, out = multi_head_layers(3, 2, False)
    keep(applied(out, torch.cat([
        attend(*(applied(layer, wide(x))[:, k:k + 1] for layer in layers),
               is_causal=True) for k in range(2)], dim=-1)))
    torch.manual_seed(123)
    module = torch.nn.MultiheadAttention(3, 3).double()
    keep(module(wide(x), wide(x), wide(x))[0])
    chapter.save("journeys", sizes=[len(row) for row in rows],
                 x=torch.stack([F.pad(row, (0, 4 - len(row)))
                                for row in rows]))


CHAPTERS = {
    "01_dot_product": dot_product,
    "02_softmax": softmax,
    "03_qkv": qkv,
    "04_random": random,
    "05_tokens": tokens,
    "06_scaling": scaling,
    "07_self_attention": self_attention,
    "08_cross_attention": cross_attention,
    "09_causal_mask": causal_mask,
    "10_dropout": dropout,
    "11_causal_attention": causal_attention,
    "12_heads": heads,
    "13_multi_head": multi_head,
    "B_normals": normals,
    "C_sheet": sheet,
}


def check_versions():
    """Other versions may answer otherwise, and nobody could tell why. Returns
    what golden data is made with, in words."""
    used = []
    for line in (HERE / "requirements.txt").read_text().split():
        name, needed = line.split("==")
        found = version(name).split("+")[0]
        if found != needed:
            sys.exit(f"generate.py: {name} {found} is installed: "
                     f"golden/requirements.txt needs {needed}")
        used.append(f"{name} {found}")
    return ", ".join(used + [f"python {platform.python_version()}"])


def refuse_strangers(folder, made):
    """A file that this script does not make has no place beside those that
    it makes. But it is not for the script to delete."""
    strangers = {path.name for path in folder.glob("*.safetensors")} - made
    for name in sorted(strangers):
        print(f"{folder / name}: generate.py does not make this file: "
              "remove it, or make it there", file=sys.stderr)
    if strangers:
        sys.exit(1)


def main():
    if len(sys.argv) > 2 or sys.argv[1:] and sys.argv[1].startswith("-"):
        sys.exit("usage: python golden/generate.py [FOLDER]")
    folder = Path(sys.argv[1]) if sys.argv[1:] else HERE
    folder.mkdir(parents=True, exist_ok=True)
    # One entry: safetensors writes several in another order each time.
    made = {"made": f"by golden/generate.py with {check_versions()}"}
    sums, count = {}, 0
    for name, make in CHAPTERS.items():
        chapter = Chapter()
        make(chapter)
        data = save(chapter.tensors, metadata=made)
        (folder / f"{name}.safetensors").write_bytes(data)
        sums[f"{name}.safetensors"] = hashlib.sha256(data).hexdigest()
        count += len(chapter.tensors)
    (folder / "SHA256SUMS").write_text("".join(
        f"{sums[name]}  {name}\n" for name in sorted(sums)))
    refuse_strangers(folder, set(sums))
    print(f"{count} tensors in {len(sums)} files in {folder}")


if __name__ == "__main__":
    main()
