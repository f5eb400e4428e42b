#!/usr/bin/env python3
"""Makes the golden data: the answers of PyTorch that the C code must match.

    python golden/generate.py [FOLDER]

For each chapter a file of tensors, NAME.safetensors; the ids of GPT-2's
tokens, which gpt2_tokens.py makes; and for all of them their checksums in
SHA256SUMS. FOLDER is this script's own if none is given.

The inputs of the book's functions are float32: the words of a document, random
numbers from a fixed seed, or results of float64 arithmetic, rounded. No input
is the result of float32 arithmetic, which differs between processors (but for
a single sum, product or root of each entry). What the functions must answer
is worked out by PyTorch's own operators, a whole attention by
F.scaled_dot_product_attention, and what comes on the way by the operators
that it is documented to consist of; and in float64, so that it is right to
the last digit a float has. An answer stored as float32 is one that must be
matched bit for bit.

Appendix D is about lots that PyTorch no longer draws. Intel's library MKL
does, so it is asked itself; where it does not run, what it once answered
stays as it is.
"""

import ctypes
import difflib
import hashlib
import math
import platform
import sys
from collections import Counter
from importlib.metadata import files, version
from pathlib import Path
from random import Random

import numpy
import safetensors.torch
import torch
import torch.nn.functional as F

import gpt2_tokens

tensor = torch.tensor
torch.set_grad_enabled(False)
HERE = Path(__file__).resolve().parent

HELLO_SHINY_SUN = tensor([
    [0.34, 0.22, 0.54],   # Hello
    [0.53, 0.34, 0.98],   # shiny
    [0.29, 0.54, 0.93]])  # sun

YOUR_JOURNEY = tensor([
    [0.43, 0.15, 0.89],   # Your
    [0.55, 0.87, 0.66],   # journey
    [0.57, 0.85, 0.64],   # starts
    [0.22, 0.58, 0.33],   # with
    [0.77, 0.25, 0.10],   # one
    [0.05, 0.80, 0.55]])  # step

INF, NAN = float("inf"), float("nan")

made = {}  # the tensors of the chapter that is being made, by name


def save(case, **tensors):
    """Keeps WHAT=tensor as CASE-WHAT, for each of the tensors. Numbers and
    lists of Python's own are whole numbers, or float64."""
    for what, it in tensors.items():
        name = f"{case}-{what}"
        if name in made:
            sys.exit(f"generate.py: {name} is made twice")
        if not torch.is_tensor(it):
            it = torch.from_numpy(numpy.atleast_1d(it))
        # A copy, as safetensors refuses two names for one tensor.
        made[name] = it.contiguous().clone()


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def uniform(seed, *shape, size=1.0):
    """Random numbers between -size and size. Only PyTorch's uniform ones are
    the same on every machine, its normal ones are not."""
    return (torch.rand(shape, generator=seeded(seed)) * 2 - 1) * size


def wide(x):
    """The same numbers in float64, to be computed with."""
    return x.to(torch.float64)


def weights_of(scores):
    """Softmax of each row, to be given to a function: rounded from float64, as
    processors differ in float32's."""
    return F.softmax(wide(scores), dim=-1).float()


# Chapter 1

def save_scores(case, query, key):
    """Every query with every key: n is not m, and queries are not keys, so
    that rows taken for columns and queries for keys are found out."""
    q, k = wide(query), wide(key)
    save(case, query=query, key=key, turned=key.T, scores=q @ k.T,
         cosines=F.cosine_similarity(q[:, None], k[None], dim=-1))


def save_pair(case, a, b):
    x, y = wide(a), wide(b)
    save(case, a=a, b=b, product=a * b, dot=torch.dot(x, y),
         lengths=torch.stack([torch.linalg.vector_norm(z) for z in (x, y)]),
         cosine=F.cosine_similarity(x, y, dim=0))


def dot_product():
    save_pair("numpy", tensor([1., 2., 3.]), tensor([4., 5., 6.]))
    save_pair("single", tensor([-2.5]), tensor([0.75]))
    save_pair("equal", uniform(1, 7), uniform(1, 7))
    save_pair("opposite", uniform(2, 7), uniform(2, 7) * -3)
    save_pair("orthogonal", tensor([3., -4., 0., 2.]), tensor([4., 3., 9., 0.]))
    save_pair("seventeen", uniform(3, 17), uniform(4, 17, size=3))
    thousandths_and_thousands = tensor([1e-3, 1e3]).repeat(9)[:17]
    save_pair("mixed", uniform(5, 17) * thousandths_and_thousands,
              uniform(6, 17) * thousandths_and_thousands)
    save_pair("thousand", uniform(7, 1000), uniform(8, 1000))

    save_scores("hello", HELLO_SHINY_SUN, HELLO_SHINY_SUN)
    save_scores("journey", YOUR_JOURNEY, YOUR_JOURNEY)
    for n, m, d in (1, 1, 1), (1, 5, 3), (5, 1, 2), (2, 3, 5), (65, 33, 127):
        save_scores(f"{n}x{m}x{d}", uniform(n, n, d),
                    uniform(100 + m, m, d, size=2))

    save("shiny", product=HELLO_SHINY_SUN[1] * HELLO_SHINY_SUN)
    a, b = tensor([[1., 2.], [3., 4.]]), tensor([[5., 6.], [7., 8.]])
    save("square", a=a, b=b, product=wide(a) @ wide(b))


# Chapter 2

def attended(q, k, v, is_scaled=True):
    """What an attention computes, by name."""
    scores = q @ k.T
    if is_scaled:
        scores = scores / k.shape[1]**0.5
    return dict(scores=scores, weights=F.softmax(scores, dim=-1),
                context=F.scaled_dot_product_attention(
                    q, k, v, scale=None if is_scaled else 1.0))


def save_attention(case, query, key, value, is_scaled=True, scores=True):
    answers = attended(wide(query), wide(key), wide(value), is_scaled)
    if not scores:
        del answers["scores"]
    save(case, query=query, key=key, value=value, **answers)


def save_softmax(case, scores):
    """Softmax of each row. A vector counts as a single row."""
    save(case, scores=scores, weights=F.softmax(wide(scores), dim=-1))


def softmax():
    for n in 1, 2, 3, 5, 17, 1000:
        save_softmax(f"vector_{n}", uniform(n, n, size=3))
    for n, m in (1, 5), (3, 5), (5, 3), (17, 7), (4, 1):
        save_softmax(f"table_{n}x{m}", uniform(n, n, m, size=3))
    save_softmax("table_2x4099", uniform(9, 2, 4099, size=3))
    save_softmax("rising", torch.linspace(-60, 60, 17))
    for case, scores in {
            "zigzag": [0., 3., -2., 30., 29., 31., -31., 31.5, 0., 31.5],
            "equal": [[3.5] * 5, [0.] * 5, [-200.] * 5],
            "ten_thousands": [[1e4, -1e4, 1e4, 9998.],
                              [-1e4, -10001., -10002., -10000.5]],
            "overflow": [[88.7, 88.72, 88.73, 89., 88.],
                         [88.7, 0., 1., 2., 3.], [88., 88., 88., 88., 88.]],
            "underflow": [[-104., -105., -104.5], [-87.5, -88., -89.],
                          [0., -104., 3.]],
            "masked": [[-INF, 1., 2., 0.5], [1., -INF, 2., 0.5],
                       [1., 2., 0.5, -INF], [-INF, -INF, -3., -INF],
                       [-INF, -2e6, -2000001., -INF]],
            "masked_row": [[1., 2., -1.], [-INF, -INF, -INF], [2., 1., -INF]],
            "infinite": [[INF, 1., 2.], [1., INF, 2.], [1., 2., INF],
                         [INF, INF, INF], [-INF, 1., INF], [INF, -INF, 1.]],
            "no_number": [[NAN, 1., 2.], [1., NAN, 2.], [1., 2., NAN],
                          [-INF, NAN, 1.], [-INF, -INF, NAN],
                          [NAN, -INF, INF], [NAN, NAN, NAN]]}.items():
        save_softmax(case, tensor(scores))

    for n, d in (1, 1), (1, 4), (4, 1), (3, 5), (5, 3), (17, 64):
        weights = F.softmax(wide(uniform(n, n, size=2)), dim=-1)
        value = uniform(200 + n, n, d)
        save(f"mix_{n}x{d}", weights=weights, value=value,
             context=weights @ wide(value))

    for case, query, key, value in [
            ("hello", *[HELLO_SHINY_SUN] * 3),
            ("journey", *[YOUR_JOURNEY] * 3),
            ("lopsided", uniform(10, 5, 4, size=2), uniform(11, 7, 4, size=2),
             uniform(12, 7, 3))]:
        save_attention(case, query, key, value, is_scaled=False, scores=False)


# Chapter 3

def save_projected(case, texts, w_query, w_key, w_value, is_scaled=True):
    """The queries of the first text, the keys and values of the last, which
    may be the same; and what each query gets from all keys and values."""
    first, *_, last = [*texts.values()] * 2
    q, k, v = (wide(x) @ wide(w) for x, w in (
        (first, w_query), (last, w_key), (last, w_value)))
    save(case, **texts, w_query=w_query, w_key=w_key, w_value=w_value,
         query=q, key=k, value=v, **attended(q, k, v, is_scaled))


def save_asking(case, query, key, value):
    """One query, and keys and values of different sizes."""
    answers = attended(wide(query)[None], wide(key), wide(value), False)
    save(case, query=query, key=key, value=value,
         **{what: answer[0] for what, answer in answers.items()})


def qkv():
    for case, x, w_query, w_key, w_value in [
            ("paper", [[1., 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]],
             [[1., 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]],
             [[0., 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]],
             [[0., 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]),
            ("cat", [[1., 0, 0], [0, 1, 0], [1, 0, 1]],
             [[0., 4, 0], [0, 0, 4], [4, -4, 0]],
             [[1., 0, 0], [0, 1, 0], [-1, 0, 1]], [[1., 0], [0, 0], [0, 1]])]:
        save_projected(case, {"x": tensor(x)}, tensor(w_query), tensor(w_key),
                       tensor(w_value), is_scaled=False)
    for n, d, d_k, d_v in [(1, 1, 1, 1), (2, 3, 4, 5), (5, 4, 3, 2),
                           (7, 6, 2, 9)]:
        save_projected(f"head_{n}x{d}x{d_k}x{d_v}", {"x": uniform(n, n, d)},
                       uniform(10 + n, d, d_k), uniform(20 + n, d, d_k),
                       uniform(30 + n, d, d_v), is_scaled=False)
    for m, d_k, d_v in (1, 1, 1), (1, 2, 3), (4, 3, 2), (3, 5, 7), (9, 2, 4):
        save_asking(f"one_{m}x{d_k}x{d_v}", uniform(40 + m, d_k),
                    uniform(50 + m, m, d_k), uniform(60 + m, m, d_v))


# Random numbers, which all chapters from here on draw

SEEDS = [0, 1, 42, 123, 789, 2024, 2**31, 2**32 - 1, 2**32 + 5, 2**63 - 1]
SIZES = [1, 2, 15, 16, 17, 31, 32, 33, 623, 624, 625, 10_000]
RANGES = [(0.0, 1.0), (-1.0, 1.0), (-0.57735, 0.57735), (-1e-3, 7.0)]


def checksum(x):
    """FNV-1a of the bytes, as a signed number: long streams are compared by
    it, short ones value by value."""
    bits = 0xcbf29ce484222325
    for byte in x.contiguous().numpy().tobytes():
        bits = (bits ^ byte) * 0x100000001b3 % 2**64
    return bits - 2**64 if bits >= 2**63 else bits


def each_seed(draw):
    return torch.stack([draw(seeded(seed)) for seed in SEEDS])


def checksums(draw, kinds):
    return [[checksum(draw(kind, seeded(seed))) for kind in kinds]
            for seed in SEEDS]


def drawn(seed, *shapes):
    """Tables of rand, one after the other."""
    torch.manual_seed(seed)
    return [torch.rand(shape) for shape in shapes]


def linears(bias, *sizes):
    """Layers, drawn one after the other."""
    return [torch.nn.Linear(*size, bias=bias) for size in sizes]


# Chapter 4

def save_spread(case, scores):
    save(case, scores=scores, spread=torch.std(wide(scores), correction=0))


def save_nudge(case, scores, j, step):
    """The shares are given as floats, and what becomes of them is worked out
    from these, by way of their logarithms. A share of 0 stays 0, and the only
    one stays 1."""
    weights = weights_of(scores)
    raised = torch.zeros_like(wide(weights))
    raised[j] = step
    save(case, weights=weights, j=j, step=tensor([float(step)]),
         nudged=F.softmax(torch.log(wide(weights)) + raised, dim=-1))


def scaling():
    for n, m, d_k, d_v in [(1, 1, 1, 1), (2, 3, 4, 5), (5, 4, 3, 2),
                           (7, 2, 9, 4), (3, 6, 1, 2), (4, 1, 5, 3),
                           (4, 5, 64, 3), (12, 17, 9, 5)]:
        save_attention(f"head_{n}x{m}x{d_k}x{d_v}", uniform(n, n, d_k, size=2),
                       uniform(10 + m, m, d_k, size=2),
                       uniform(20 + d_v, m, d_v))
    save_attention("head_deafening", uniform(42, 3, 4, size=200),
                   uniform(43, 4, 4, size=200), uniform(44, 4, 2))
    infinite = uniform(45, 4, 2)
    infinite[1, 0], infinite[2, 1] = -INF, NAN
    save_attention("head_infinite", uniform(46, 3, 2).abs(), infinite,
                   uniform(47, 4, 3))
    save_attention("head_journey",
                   *((wide(YOUR_JOURNEY) @ wide(w)).float()
                     for w in drawn(123, *[(3, 2)] * 3)))
    save_attention("head_paper", tensor([[1., 0, 2], [2, 2, 2], [2, 1, 3]]),
                   tensor([[0., 1, 1], [4, 4, 0], [2, 3, 1]]),
                   tensor([[1., 2, 3], [2, 8, 0], [2, 6, 3]]))
    for n, m, d_k in [(1, 1, 1), (2, 3, 5), (4, 3, 2), (3, 7, 4096),
                      (2, 2, 70_000)]:
        scores = uniform(n + m, n, m, size=50)
        save(f"scale_{n}x{m}x{d_k}", scores=scores, d_k=d_k,
             scaled=wide(scores) / d_k**0.5)
    save_spread("spread_1", tensor([2.5]))
    save_spread("spread_11", uniform(33, 11, size=4))
    save_spread("spread_equal", tensor([0.1] * 9))
    save_spread("spread_far", uniform(39, 999) + 1e6)
    save_spread("spread_10000", uniform(35, 10_000, size=200))
    for n, m in (1, 1), (1, 4), (3, 5), (6, 2):
        weights = weights_of(uniform(n * m, n, m, size=4))
        save(f"largest_{n}x{m}", weights=weights,
             mean=wide(weights).max(dim=-1).values.mean())
    save_nudge("nudge_1", tensor([3.]), 0, 2)
    save_nudge("nudge_last", uniform(37, 7, size=3), 6, 0.25)
    save_nudge("nudge_down", uniform(38, 4, size=2), 2, -3)
    save_nudge("nudge_winner", tensor([60., 0., 20., -80.]), 0, 1)
    save_nudge("nudge_not", uniform(41, 5, size=3), 3, 0)
    for step in 40, 100, -20, -100, 800, -800:
        save_nudge(f"nudge_far_{step}", tensor([0., 1., -2.]), 1, step)
        save_nudge(f"nudge_only_{step}", tensor([200., 0., 0.]), 0, step)
        save_nudge(f"nudge_none_{step}", tensor([200., 0., 0.]), 1, step)


# Chapter 5

def embedded_sentence():
    """Life is short, eat dessert first."""
    torch.manual_seed(123)
    return torch.nn.Embedding(50_000, 3)(tensor([0, 4, 5, 2, 1, 3]))


def tokens():
    words = "Life is short, eat dessert first".replace(",", "").split()
    save("sentence", ids=[sorted(words).index(word) for word in words],
         embedded=embedded_sentence())
    for n, d, rows in (1, 1, 1), (5, 3, 4), (3, 7, 11), (9, 2, 3):
        some = torch.randint(rows, (n,), generator=seeded(n))
        table = uniform(n, rows, d)
        save(f"table_{n}x{d}x{rows}", ids=some, table=table,
             embedded=F.embedding(some, table),
             one_hot=F.one_hot(some, rows).float())


# Chapter 6

def loss_of_head(parameter, example, right):
    """How wrong the middle words of all examples are, by one head, whose three
    matrices are one list; what they answer, and what they look at."""
    w_query, w_key = parameter[:8].view(4, 2), parameter[8:16].view(4, 2)
    query, key = example @ w_query, example @ w_key
    answer = F.scaled_dot_product_attention(
        query, key, example @ parameter[16:, None])[:, 1, 0]
    weights = F.softmax(query @ key.mT / 2**0.5, dim=-1)[:, 1]
    return F.mse_loss(answer, right), answer, weights


def save_descent(case, parameter, example, right, rate, steps):
    start = wide(parameter).requires_grad_()
    optimizer = torch.optim.SGD([start], lr=rate)
    gradients = []
    with torch.enable_grad():
        for _ in range(steps):
            optimizer.zero_grad()
            loss_of_head(start, wide(example), wide(right))[0].backward()
            gradients.append(start.grad.clone())
            optimizer.step()
    loss, answer, weights = loss_of_head(wide(parameter), wide(example),
                                         wide(right))
    save(case, parameter=parameter, example=example, right=right, loss=loss,
         answer=answer, weights=weights, rate=[rate],
         steps=[steps], gradient=gradients[0], last=gradients[-1],
         after=start.detach())


def learning():
    for n in 1, 6, 100:
        answer, right = uniform(n, n, size=3), uniform(100 + n, n)
        save(f"mse_{n}", answer=answer, right=right,
             loss=F.mse_loss(wide(answer), wide(right)))
    for case, n, steps in ("one", 1, 1), ("six", 6, 1), ("ten", 10, 20):
        save_descent(f"head_{case}", uniform(n, 20), uniform(20 + n, n, 3, 4),
                     uniform(40 + n, n), 0.25, steps)


# Chapter 7

def applied(layer, x):
    """What a layer makes of a text, in float64."""
    return F.linear(wide(x), wide(layer.weight),
                    None if layer.bias is None else wide(layer.bias))


def parameters_of(*layers):
    """Those of layers for the query, the key, the value, and the output."""
    return {f"{role}_{what}": p
            for role, layer in zip(("query", "key", "value", "out"), layers)
            for what, p in layer.named_parameters()}


def save_versions(case, x, d_k, d_v, seed):
    """Both versions of self-attention on the same tokens: the parameters as
    PyTorch draws them, and what it computes from them."""
    sizes = [(x.shape[1], d) for d in (d_k, d_k, d_v)]
    save(f"v1_{case}", seed=seed)
    save_projected(f"v1_{case}", {"x": x}, *drawn(seed, *sizes))
    for name, has_bias in ("v2", False), ("v2_bias", True):
        torch.manual_seed(seed)
        layers = linears(has_bias, *sizes)
        q, k, v = (applied(layer, x) for layer in layers)
        save(f"{name}_{case}", x=x, seed=seed, query=q, key=k, value=v,
             **attended(q, k, v), **parameters_of(*layers))


def self_attention():
    for n, *size in (1, 1, 1), (4, 3, 2), (2, 5, 7), (6, 64, 3):
        for bias in "", "_bias":
            torch.manual_seed(n)
            (layer,) = linears(bool(bias), size)
            x = uniform(40 + n, n, size[0], size=3)
            save(f"linear_{n}x{size[0]}x{size[1]}{bias}", x=x, seed=n,
                 y=applied(layer, x), **dict(layer.named_parameters()))
    torch.manual_seed(123)
    save("mixed", first=torch.rand(3, 5),
         second=torch.empty(2, 2).uniform_(-3, 3),
         third=torch.nn.Linear(4, 3).bias, fourth=torch.rand(1, 700))
    save_versions("journey", YOUR_JOURNEY, 2, 2, 789)
    save_versions("journey_123", YOUR_JOURNEY, 2, 2, 123)
    save_versions("life", embedded_sentence(), 2, 4, 123)
    save_versions("one", uniform(50, 1, 1), 1, 1, 5)
    save_versions("lopsided", uniform(51, 5, 4, size=2), 3, 6, 2**32 - 1)
    for case, order in [("one", [0]), ("backwards", [4, 3, 2, 1, 0]),
                        ("cycle", [1, 2, 3, 0]), ("some", [2, 0, 1, 4, 3, 5]),
                        ("nine", [8, 3, 0, 1, 7, 2, 6, 5, 4])]:
        x = uniform(len(order), len(order), 3)
        save(f"permute_{case}", x=x, order=order, permuted=x[order])


# Chapter 8

def save_cross(case, x_1, x_2, *weights):
    save_projected(case, {"x_1": x_1, "x_2": x_2}, *weights)


def cross_attention():
    first = embedded_sentence()
    *weights, other = drawn(123, (3, 2), (3, 2), (3, 4), (8, 3))
    save_cross("strangers", first, other, *weights)
    save_cross("same", first, first, *weights)
    for n, m, d_1, d_2, d_k, d_v in [(1, 1, 1, 1, 1, 1), (1, 4, 2, 3, 5, 6),
                                     (4, 1, 3, 2, 6, 5), (2, 5, 3, 4, 6, 7),
                                     (5, 3, 7, 2, 4, 6), (3, 9, 5, 8, 2, 4)]:
        save_cross(f"{n}x{m}x{d_1}x{d_2}x{d_k}x{d_v}",
                   uniform(n + 10 * m, n, d_1),
                   uniform(n + 10 * m + 200, m, d_2),
                   uniform(300 + n, d_1, d_k), uniform(400 + n, d_2, d_k),
                   uniform(500 + n, d_2, d_v))
    for seed, d_1, d_2, d_k, d_v in [(123, 3, 3, 2, 4), (789, 2, 5, 3, 4),
                                     (2**32 - 1, 6, 1, 4, 3)]:
        w_query, w_key, w_value, then = drawn(
            seed, (d_1, d_k), (d_2, d_k), (d_2, d_v), (3,))
        save(f"init_{d_1}x{d_2}x{d_k}x{d_v}", seed=seed, w_query=w_query,
             w_key=w_key, w_value=w_value, next=then)
    tables = {f"{n}x{m}": weights_of(uniform(80 + n, n, m, size=4))
              for n, m in [(1, 1), (1, 7), (5, 4), (4, 9)]}
    tables["far"] = tensor([[-INF, -INF, -INF], [-30, -20, -25], [0, INF, INF],
                            [-INF, -3e38, -INF], [1e30, 2e30, -1e30]])
    for case, table in tables.items():
        save(f"alignment_{case}", shares=table,
             place=torch.argmax(table, dim=-1))


# Chapter 9

def visible(n, m, first):
    """Where a query may see: its own place and what lies before it."""
    return torch.ones(n, m, dtype=torch.bool).tril(first)


def save_mask(case, n, m, first, window):
    """Scores before and after a mask, to the last bit. What is hidden may
    hold anything. Of one text, a window too."""
    seen = visible(n, m, first)
    odd = tensor([INF, NAN, 1e30, -INF, -1e6]).repeat(n * m)[:n * m]
    scores = uniform(n + 20 * m, n, m, size=5).where(seen, odd.reshape(n, m))
    save(case, first=first, mask=seen.float(), scores=scores,
         masked=scores.masked_fill(~seen, -INF))
    if window:
        near = seen & torch.ones(n, m, dtype=torch.bool).triu(1 - window)
        save(case, window=window, near=scores.masked_fill(~near, -INF))


def shared_out(weights):
    """Each row divided by its sum."""
    return wide(weights) / wide(weights).sum(dim=-1, keepdim=True)


def save_hiding(case, mask, scores):
    """Weights times any mask, renormalized; and the same mask before the
    softmax. A row of which nothing is left has no sum to be divided by."""
    weights = weights_of(scores)
    masked = scores.masked_fill(mask == 0, -INF)
    save(case, mask=mask, scores=scores, weights=weights, masked=masked,
         hidden=weights * mask, renormalized=shared_out(weights * mask),
         right=F.softmax(wide(masked), -1))


def save_masked(case, first, query, key, value):
    """A whole attention. Where a query sees nothing, softmax answers NaN and
    scaled_dot_product_attention 0; the book's function does as softmax."""
    q, k, v = wide(query), wide(key), wide(value)
    seen = visible(len(q), len(k), first)
    empty = ~seen.any(dim=-1, keepdim=True)
    scores = (q @ k.T / k.shape[1]**0.5).masked_fill(~seen, -INF)
    weights = F.softmax(scores, dim=-1)
    see = {"attn_mask": seen} if first else {"is_causal": True}
    context = F.scaled_dot_product_attention(q, k, v, **see)
    alone = context[empty[:, 0]]
    if not (weights.isnan() == empty).all() or (alone != 0).any():
        sys.exit(f"generate.py: {case}: PyTorch answers a query that sees "
                 "nothing otherwise than chapter 9 says")
    save(case, first=first, query=query, key=key, value=value, scores=scores,
         weights=weights, context=context.masked_fill(empty, NAN))


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


def save_gap(case, scores, tolerance, gap):
    """The gap is given, and must be the first that spoils the result."""
    if (not is_spoiled(scores, gap, tolerance)
            or any(is_spoiled(scores, g, tolerance) for g in range(gap))):
        sys.exit(f"generate.py: {case}: {gap} is not the smallest gap")
    save(case, visible=scores, tolerance=tensor([tolerance]), gap=gap)


def causal_mask():
    for n, m, first, window in [(1, 1, 0, 1), (6, 6, 0, 3), (5, 5, 0, 1),
                                (4, 4, 0, 2), (7, 7, 0, 7), (2, 5, 0, None),
                                (2, 5, 3, None), (4, 2, -2, None),
                                (4, 2, 0, None), (5, 3, 1, None),
                                (3, 7, -1, None), (3, 4, -9, None),
                                (3, 4, 9, None), (4, 9, 5, None)]:
        save_mask(f"mask_{n}x{m}_{first}", n, m, first, window)

    for n, m in (1, 1), (1, 6), (5, 1), (4, 7), (7, 4), (5, 5):
        mask = torch.randint(2, (n, m), generator=seeded(n * m)).float()
        mask[torch.arange(n), torch.arange(n) % m] = 1  # something is seen
        save_hiding(f"any_{n}x{m}", mask, uniform(90 + n, n, m, size=10))
    empty = tensor([[1., 0, 1, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1],
                    [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
    save_hiding("empty", empty, uniform(96, 5, 5, size=4))
    save_hiding("journey", visible(6, 6, 0).float(),
                (wide(YOUR_JOURNEY) @ wide(YOUR_JOURNEY).T).float())
    gaps = tensor([[0., 0.5, gap] for gap in (10, 100, 103, 105)])
    save_hiding("gaps", tensor([[1., 1, 0]]).repeat(4, 1), gaps)
    # Only 0 hides before softmax; afterwards, every entry is a factor.
    graded = tensor([[1., 0.5, 0, 2], [0.25, 0, -0., 0], [0, -1, -2, 0],
                     [-0.5, 1, 3, -0.125], [1e-42, 1, 1, 0]])
    save_hiding("graded", graded, uniform(104, 5, 4, size=2))
    mask = tensor([[0., -0., 1, 0.5, -1], [2, NAN, INF, -INF, 1e-45]])
    scores = uniform(105, 2, 5)
    save("odd", mask=mask, scores=scores,
         masked=scores.masked_fill(mask == 0, -INF))
    for case, weights in [
            ("uneven", [[3., 1, 0, 0], [0.25, 0, 0, 0], [0, 1e-30, 3e-30, 0],
                        [1e30, 2e30, 0, 1e30]]),
            ("signed", [[3., -1, 0, 2], [-0.25, 0, 0, 0], [-1, -3, 0.5, 0],
                        [2e30, 1e30, -8e30, 0], [-4, 1, 1, 1]])]:
        save(case, weights=tensor(weights),
             renormalized=shared_out(tensor(weights)))

    for n, m, d_k, d_v, first in [(1, 1, 1, 1, 0), (6, 6, 2, 4, 0),
                                  (5, 5, 3, 2, 0), (2, 7, 3, 4, 0),
                                  (2, 7, 3, 4, 5), (7, 2, 4, 3, 0),
                                  (6, 3, 2, 5, -3), (3, 5, 6, 2, 1),
                                  (4, 6, 5, 3, -1), (3, 4, 2, 5, 9),
                                  (2, 3, 4, 5, -7)]:
        seed = n + 7 * m
        save_masked(f"head_{n}x{m}x{d_k}x{d_v}_{first}", first,
                    uniform(seed, n, d_k, size=2),
                    uniform(seed + 300, m, d_k, size=2),
                    uniform(seed + 600, m, d_v))
    # What is hidden scores 100 and more above what is seen.
    last = uniform(101, 4, 2)
    last[3] = tensor([150., 120])
    save_masked("gap", 0, uniform(102, 4, 2).abs() + 0.75, last,
                uniform(103, 4, 3))
    # Scores of a million and more below 0, which float32 holds exactly.
    far = tensor([[1024., y, 0, 0] for y in (2, -4, 6, 0, 2)])
    deep = tensor([[-2048., y, 0, 0] for y in (1, 3, -2, 0, 2)])
    save_masked("deep", 0, far, deep, uniform(100, 5, 3))

    for case, scores, tolerance, gap in [
            ("half_0", [0., 0.5], 0.2, 104), ("half_3", [0., 0.5], 7e-4, 99),
            ("half_4", [0., 0.5], 6e-7, 93), ("endless", [0., 0.5], INF, 104),
            ("shifted", [-40., -39.5], 3.6e-3, 100), ("one", [7.], 0.0, 104),
            ("four", [3., 3., 3., 2.5], 2.2e-3, 100),
            # One weight is too small to be off by much.
            ("small_first", [-30., 0, 0.5], 3.6e-3, 100),
            ("small_last", [0, 0.5, -30], 3.6e-3, 100)]:
        save_gap(f"gap_{case}", tensor(scores), tolerance, gap)


# Chapter 10

RATES = [0.0, 0.1, 0.2, 0.25, 0.04, 0.45, 0.5, 0.97, 1.0]


def lots(seed, rate, *shape):
    """The mask of nn.Dropout: what it leaves of a table of ones."""
    torch.manual_seed(seed)
    return (torch.nn.Dropout(rate)(torch.ones(shape)) != 0).float()


def save_dropped(case, seed, rate, x):
    torch.manual_seed(seed)
    save(case, rate=rate, x=x, dropped=F.dropout(x, rate),
         mask=lots(seed, rate, *x.shape))


def dropout():
    """Lots drawn one by one from PyTorch's own generator. On an Intel
    processor, PyTorch up to 2.6 would draw others: see appendix D."""
    save("all", seeds=SEEDS, rates=RATES, sizes=SIZES)
    masks, following = zip(*[(lots(seed, rate, 5, 7), torch.rand(1))
                             for seed in SEEDS for rate in RATES])
    save("lots", masks=torch.stack(masks), following=torch.cat(following),
         checksums=[[checksum(lots(seed, 0.1, size)) for size in SIZES]
                    for seed in SEEDS])
    # Each lot is 1 - rate of some rate, and just below it of another.
    torch.manual_seed(65)
    at = 1 - torch.rand(20, dtype=torch.float64)
    rates = torch.cat([at, at - 2.0**-53])
    save("near", rates=rates, masks=torch.stack(
        [lots(65, rate, 20) for rate in rates.tolist()]))
    torch.manual_seed(123)
    module, x = torch.nn.Dropout(0.5), torch.ones(6, 6)
    save("ones", x=x, dropped=module(x), evaluated=module.eval()(x))

    for k, rate in enumerate(RATES):
        save_dropped(f"rate_{k}", 40 + k, rate, uniform(k, 6, 11))
    odd = tensor([[1., -1, 0, -0.], [INF, -INF, NAN, 1e38]]).repeat(3, 2)
    for k, rate in enumerate([0.0, 0.2, 0.5, 0.9, 1.0]):
        save_dropped(f"odd_{k}", 50 + k, rate, odd)

    weights = weights_of(uniform(60, 3, 5, size=2))
    for case, rate, draws in [("5", 0.5, 40), ("1", 0.1, 40), ("10", 1.0, 40),
                              ("once", 0.5, 1), ("often", 0.2, 97)]:
        torch.manual_seed(61)
        sums = [wide(F.dropout(weights, rate)).sum(-1) for _ in range(draws)]
        save(f"sums_{case}", weights=weights, rate=rate, draws=draws,
             mean=torch.stack(sums).mean(0))


# Chapter 11

def shares(q, k, **how):
    """The weights of an attention: values that are rows of the identity
    matrix are mixed to the weights themselves."""
    m = k.shape[-2]
    return F.scaled_dot_product_attention(
        q, k, torch.eye(m, dtype=q.dtype).expand(*k.shape[:-1], m), **how)


def attend(q, k, v, rate, **see):
    """Context, and the weights that made it, with the same lots."""
    state = torch.get_rng_state()
    dropped = shares(q, k, dropout_p=rate, **see)
    torch.set_rng_state(state)
    return F.scaled_dot_product_attention(
        q, k, v, dropout_p=rate, **see), dropped


def attend_each(q, k, v, rate, **see):
    """Text by text, as the book draws its lots: which weights are kept, what
    is left of them, and context."""
    kept, dropped, context = [], [], []
    for text in zip(q, k, v):
        state = torch.get_rng_state()
        ones = torch.ones(*text[0].shape[:2], text[1].shape[1])
        kept.append((F.dropout(ones, rate) != 0).float())
        torch.set_rng_state(state)
        mixed, left = attend(*text, rate, **see)
        dropped.append(left)
        context.append(mixed)
    return torch.stack(kept), torch.stack(dropped), torch.stack(context)


def flat(layers):
    """All parameters, one behind the other."""
    return torch.cat([p.flatten() for layer in layers
                      for p in layer.parameters()])


def cut(x, n_heads):
    """[..., n, d_out] to [..., n_heads, n, head_dim]."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def joined(x):
    """The way back."""
    return x.transpose(-3, -2).flatten(-2)


def tables(q, k, v, weights, kept, dropped, context, mask):
    """What a trace holds of a batch, [batch, n_heads, ...]: the rows of all
    heads before they are cut and after, and the scores where the mask has
    True."""
    scores = q @ k.mT / k.shape[-1]**0.5
    return dict(query=joined(q), key=joined(k), value=joined(v),
                head_query=q, head_key=k, head_value=v,
                scores=scores.masked_fill(~mask, -INF), weights=weights,
                kept=kept, dropped=dropped, head_context=context,
                joined=joined(context))


def begin_given(case, size, seed, sizes, see="all", first=0, d_out=0,
                bias=True, out_bias=True, rate=0.0, is_same=False):
    """The layers of an attention, its two texts, or pairs of texts, and its
    mask. Saves its sizes, all parameters in the order of the layers, and the
    seed of its dropout. The table of a mask leaves each query a key."""
    n, m, d_x, d_y, n_heads, d_k, d_v = sizes
    torch.manual_seed(seed)
    layers = linears(bias, (d_x, n_heads * d_k), (d_y, n_heads * d_k),
                     (d_y, n_heads * d_v))
    if d_out:
        layers += linears(out_bias, (n_heads * d_v, d_out))
    texts = dict(x=uniform(seed, 2, n, d_x, size=size))
    if not is_same:
        texts["y"] = uniform(seed + 1, 2, m, d_y, size=size)
    table = uniform(seed + 2, n, m) > 0
    table[torch.arange(n), torch.arange(n) % m] = True
    masks = {"all": visible(n, m, m), "past": visible(n, m, first),
             "where": table}
    save(case, **texts, mask=masks[see].float(), rate=rate,
         parameters=flat(layers),
         sizes=[d_x, d_y, n_heads, d_k, d_v, d_out, bias, out_bias,
                [*masks].index(see), first, seed])
    return layers, texts, masks[see]


def save_given(case, seed, sizes, *see, rate=0.0, **how):
    layers, texts, mask = begin_given(case, 3, seed, sizes, *see, rate=rate,
                                      **how)
    x, y = texts.values()
    q, k, v = (cut(applied(layer, text), sizes[4])
               for layer, text in zip(layers, (x, y, y)))
    torch.manual_seed(seed)
    kept, dropped, context = attend_each(q, k, v, rate, attn_mask=mask)
    following = torch.rand(1)
    out = {"out": applied(layer, joined(context)) for layer in layers[3:]}
    save(case, following=following, **out, **tables(
        q, k, v, shares(q, k, attn_mask=mask), kept, dropped, context, mask))


def evaluated_and_trained(q, k, v, rate):
    evaluated, weights = attend(q, k, v, 0.0, is_causal=True)
    trained, dropped = attend(q, k, v, rate, is_causal=True)
    return dict(weights=weights, dropped=dropped, evaluated=evaluated,
                trained=trained, rate=rate)


def save_causal(case, seed, x, d_out, context_length, rate, bias):
    """A whole batch, whose entries differ: first evaluated, then in
    training, on the generator that has drawn the layers."""
    torch.manual_seed(seed)
    layers = linears(bias, *[(x.shape[-1], d_out)] * 3)
    q, k, v = (applied(layer, x) for layer in layers)
    save(case, x=x, sizes=[seed, d_out, context_length, bias],
         drawn=flat(layers), query=q, key=k, value=v,
         **evaluated_and_trained(q, k, v, rate), following=torch.rand(1))


def save_head_alone(case, seed, rate, query, key, value):
    torch.manual_seed(seed)
    save(case, query=query, key=key, value=value, **evaluated_and_trained(
        wide(query), wide(key), wide(value), rate))


def save_padding(case, is_causal, is_word):
    """Words and padding among the keys; every word sees at least itself."""
    n, word = len(is_word), tensor(is_word)
    q, k, v = (uniform(80 + i, n, d) for i, d in enumerate((3, 3, 2)))
    before = torch.ones(n, n).tril(0 if is_causal else n)
    mask = torch.logical_and(before, word)
    save(case, query=q, key=k, value=v, word=word, before=before,
         mask=mask.float(), context=F.scaled_dot_product_attention(
             wide(q), wide(k), wide(v), attn_mask=mask))


def causal_attention():
    for case, n, d_in, d_out, length, rate, bias, size in [
            ("plain", 5, 4, 3, 9, 0.0, False, 1.0),
            ("biased", 6, 3, 5, 6, 0.3, True, 1.0),
            ("long", 17, 7, 4, 64, 0.1, True, 3.0),
            ("one_token", 1, 2, 3, 4, 0.5, True, 1.0),
            ("loud", 7, 5, 2, 8, 0.2, False, 40.0),
            ("all_dropped", 3, 2, 4, 3, 1.0, True, 1.0)]:
        save_causal(case, 100 + n, uniform(n, 2, n, d_in, size=size), d_out,
                    length, rate, bias)
    two = torch.stack([YOUR_JOURNEY, embedded_sentence()])
    save_causal("program", 123, two, 2, 6, 0.5, False)
    for n, d_k, d_v, rate in [(1, 1, 1, 0.5), (6, 2, 5, 0.25), (9, 7, 3, 0.6),
                              (4, 3, 2, 1.0)]:
        save_head_alone(f"head_{n}x{d_k}x{d_v}", n, rate,
                        uniform(n, n, d_k, size=2),
                        uniform(10 + n, n, d_k, size=2),
                        uniform(20 + n, n, d_v))
    save_head_alone("head_loud", 3, 0.4, uniform(30, 8, 4, size=30),
                    uniform(31, 8, 4, size=30), uniform(32, 8, 2))
    save_given("two_texts", 1100, (4, 6, 3, 5, 1, 2, 7), "where", rate=0.4)
    save_given("two_texts_bare", 1140, (5, 3, 2, 4, 1, 6, 7), "past",
               first=1, bias=False, rate=0.25)
    save_padding("padding_behind", True, [1, 1, 1, 1, 0, 0])
    save_padding("padding_in_front", True, [0, 0, 1, 1, 1])
    save_padding("padding_between", False, [1, 0, 1, 1, 0, 1, 1])
    save_padding("no_padding", True, [1, 1, 1])


# Chapter 12

def drawn_heads(n_heads, d_in, d_k, d_v):
    """The matrices of several heads, drawn one head after the other: three
    stacks, with a layer for each head."""
    heads = [[torch.rand(d_in, d) for d in (d_k, d_k, d_v)]
             for _ in range(n_heads)]
    return [torch.stack(matrices) for matrices in zip(*heads)]


def save_heads(case, seed, sizes, x=None):
    """For each sentence of a batch what every head computes, and all heads
    side by side. A sentence that is not given is drawn first."""
    torch.manual_seed(seed)
    x = torch.rand(1, 3, 8) if x is None else x
    w_query, w_key, w_value = drawn_heads(*sizes)
    q, k, v = (wide(x)[:, None] @ wide(w) for w in (w_query, w_key, w_value))
    save(case, seed=seed, x=x, w_query=w_query, w_key=w_key, w_value=w_value,
         scores=q @ k.mT / k.shape[-1]**0.5, weights=shares(q, k),
         joined=joined(F.scaled_dot_product_attention(q, k, v)))


def save_wrapper(case, seed, x, d_out, n_heads, bias, rate):
    """The wrapper of causal heads, each of which draws its three layers: a
    batch in evaluation, and its first sentence in training."""
    torch.manual_seed(seed)
    layers = linears(bias, *[(x.shape[-1], d_out)] * 3 * n_heads)
    roles = [applied(layer, x) for layer in layers]
    heads = [roles[3 * h:3 * h + 3] for h in range(n_heads)]
    evaluated, weights = zip(*[attend(*head, 0.0, is_causal=True)
                               for head in heads])
    trained, dropped = zip(*[attend(*(role[:1] for role in head), rate,
                                    is_causal=True) for head in heads])
    save(case, x=x, drawn=flat(layers), sizes=[seed, d_out, n_heads, bias],
         rate=rate, weights=torch.stack(weights, dim=1),
         dropped=torch.stack(dropped, dim=1),
         evaluated=torch.cat(evaluated, dim=-1),
         trained=torch.cat(trained, dim=-1), following=torch.rand(1))


def heads():
    life = embedded_sentence()[None]
    save_heads("life_1", 123, (1, 3, 2, 1), life)
    save_heads("life_4", 123, (4, 3, 2, 1), life)
    save_heads("concat", 123, (2, 8, 4, 4))
    for n_heads, n, d, d_k, d_v in [(1, 1, 1, 1, 1), (2, 3, 4, 2, 3),
                                    (3, 5, 4, 3, 2), (5, 7, 6, 2, 1),
                                    (2, 4, 3, 5, 4), (2, 9, 3, 4, 2)]:
        save_heads(f"heads_{n_heads}x{n}x{d}x{d_k}x{d_v}", 700 + n,
                   (n_heads, d, d_k, d_v), uniform(n, 2, n, d, size=2))
    save_heads("heads_loud", 42, (3, 4, 3, 2), uniform(80, 2, 5, 4, size=10))
    save_wrapper("wrapper_bare", 123, uniform(81, 2, 5, 4), 2, 3, False, 0.5)
    save_wrapper("wrapper_biased", 7, uniform(82, 2, 4, 3), 5, 2, True, 0.2)
    sizes = [(1, 3, 2, 4), (4, 3, 2, 1), (1, 3, 8, 4), (3, 5, 7, 2),
             (32, 4096, 128, 128), (96, 12288, 128, 256),
             (1000, 100_000, 64, 64), (2, 3, 2**30 + 5, 7)]
    save("parameters", sizes=sizes, counts=[
        sum(p.numel() for p in torch.nn.ParameterList(
            torch.empty(d_in, d, device="meta")
            for _ in range(n_heads) for d in (d_k, d_k, d_v)))
        for n_heads, d_in, d_k, d_v in sizes])


# Chapter 13

def multi_head_layers(d_in, d_out, bias):
    """The layers of the class in the order in which it draws them."""
    return (linears(bias, *[(d_in, d_out)] * 3)
            + linears(True, (d_out, d_out)))


def save_multi_head(case, seed, x, d_out, n_heads, context_length, bias,
                    p=0.0):
    """A batch through the class with a causal mask, sentence by sentence, in
    training on the generator that has drawn the layers."""
    torch.manual_seed(seed)
    layers = multi_head_layers(x.shape[-1], d_out, bias)
    n = x.shape[1]
    q, k, v = (cut(applied(layer, x), n_heads) for layer in layers[:3])
    kept, dropped, context = attend_each(q, k, v, p, is_causal=True)
    save(case, x=x, settings=[seed, d_out, n_heads, context_length, bias,
                              round(p * 1000)],
         **tables(q, k, v, shares(q, k, is_causal=True), kept, dropped,
                  context, visible(n, n, 0)),
         out=applied(layers[3], joined(context)), **parameters_of(*layers))


def save_module(case, seed, x, n_heads, hidden, biases=None):
    """nn.MultiheadAttention with its own initial values. A mask is given to
    it with True for what is hidden, and to F.scaled_dot_product_attention
    with True for what is seen; both must answer the same."""
    d_model = x.shape[-1]
    torch.manual_seed(seed)
    module = torch.nn.MultiheadAttention(d_model, n_heads, batch_first=True)
    if biases is not None:
        module.in_proj_bias.copy_(biases[:3 * d_model])
        module.out_proj.bias.copy_(biases[3 * d_model:])
    save(case, seed=[seed, n_heads], x=x, in_proj_weight=module.in_proj_weight,
         out_proj_weight=module.out_proj.weight,
         bias=torch.cat([module.in_proj_bias, module.out_proj.bias]))
    module, y = module.double().eval(), wide(x)
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
    save(case, seen=(~hidden).float(), average=average, out=out,
         **tables(q, k, v, weights, torch.ones(weights.shape), weights,
                  context, ~hidden))


def multi_head():
    for n, n_heads, head_dim in (1, 1, 1), (3, 2, 4), (5, 3, 2), (2, 4, 3):
        x = uniform(n, n, n_heads * head_dim)
        save(f"split_{n}x{n_heads}x{head_dim}", x=x, split=cut(x, n_heads))

    sentences = torch.stack([YOUR_JOURNEY, embedded_sentence()])
    save_multi_head("tutorial", 123, torch.stack([YOUR_JOURNEY] * 2), 2, 2, 6,
                    False)
    save_multi_head("sentences", 123, sentences, 8, 2, 6, False)
    for d_in, d_out, n_heads, n, length, bias in [
            (1, 1, 1, 1, 1, False), (4, 6, 3, 5, 7, True),
            (5, 6, 2, 7, 7, False), (3, 12, 4, 3, 5, True),
            (8, 8, 1, 4, 4, True)]:
        save_multi_head(f"class_{d_in}x{d_out}x{n_heads}x{n}", 800 + n,
                        uniform(90 + n, 2, n, d_in, size=3), d_out, n_heads,
                        length, bias)
    save_multi_head("dropped_half", 123, sentences, 4, 2, 6, False, p=0.5)
    save_multi_head("dropped_tenth", 7, uniform(96, 2, 5, 3), 6, 3, 8, True,
                    p=0.1)

    save_given("given_all", 1300, (3, 5, 4, 7, 2, 6, 8), d_out=9)
    save_given("given_past", 1340, (5, 4, 3, 6, 3, 2, 7), "past", first=1,
               d_out=8, rate=0.3)
    save_given("given_where", 1380, (4, 7, 5, 3, 3, 6, 2), "where", d_out=8)
    save_given("given_bare_out", 1420, (2, 3, 6, 4, 2, 5, 7), d_out=8,
               out_bias=False)
    save_given("given_bare_roles", 1460, (6, 2, 3, 5, 2, 4, 7), "where",
               d_out=9, bias=False, rate=0.5)
    save_given("given_side_by_side", 1500, (3, 4, 2, 5, 4, 6, 7), "past",
               first=1)

    torch.manual_seed(123)
    torch.nn.MultiheadAttention(8, 2)
    small = torch.rand(1, 3, 8)  # drawn after the module, as in the chapter
    past = visible(3, 3, 0)
    save_module("module_all", 123, small, 2, past & ~past)
    save_module("module_causal", 123, small, 2, ~past)
    for d_model, n_heads, n in [(1, 1, 1), (6, 3, 5), (12, 2, 7), (12, 4, 3),
                                (41, 1, 2)]:
        hidden = uniform(n, n, n) > 0.2
        hidden.fill_diagonal_(False)
        save_module(f"module_{d_model}x{n_heads}x{n}", 900 + n,
                    uniform(97 + n, 2, n, d_model, size=3), n_heads, hidden,
                    biases=uniform(98, 4 * d_model))

    torch.manual_seed(123)
    module = torch.nn.MultiheadAttention(512, 8)
    x = torch.rand(20, 512)
    packed = checksum(module.in_proj_weight)
    out, weights = module.double()(*[wide(x)] * 3, average_attn_weights=False)
    save("walk", packed=packed, out=out[:, ::32], weights=weights[:, 3])


# Appendix B

def uniform_numbers():
    def between(low, high, generator, count=17):
        return torch.empty(count).uniform_(low, high, generator=generator)

    # 63 bits of each draw of 64, the upper half first.
    save("bits", values=each_seed(lambda g: torch.empty(
        330, dtype=torch.int64).random_(generator=g)))
    def state_after(draws):
        """The 624 numbers, which PyTorch's generator keeps from byte 24 on."""
        torch.manual_seed(123)
        torch.rand(draws)
        return torch.get_rng_state()[24:24 + 8 * 624].view(torch.int64)

    save("twist", states=torch.stack([state_after(n) for n in (0, 1, 625)]))
    save("rand", values=each_seed(lambda g: torch.rand(33, generator=g)),
         checksums=checksums(lambda size, g: torch.rand(size, generator=g),
                             SIZES))
    save("uniform", values=torch.stack([torch.stack([
        between(*ends, seeded(seed)) for ends in RANGES]) for seed in SEEDS]),
        checksums=checksums(lambda ends, g: between(*ends, g, 10_000), RANGES))
    w_query, w_key, w_value = drawn(123, *[(3, 2)] * 3)
    q, k, v = (wide(YOUR_JOURNEY) @ wide(w) for w in (w_query, w_key, w_value))
    save("journey", x=YOUR_JOURNEY, w_query=w_query, w_key=w_key,
         w_value=w_value, query=q, key=k, value=v, scores=q @ k.T)


def normal_numbers():
    """Normal numbers of both kinds: fewer than 16 at a time, and from 16 on.
    They are those of PyTorch's vector code; its plain code rounds in other
    places, so values made with it would be refused."""
    if torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "NO AVX"):
        sys.exit("generate.py: this processor has no vector instructions: "
                 "normal numbers must be made on one that has AVX2")
    for size in 15, 16, 17, 33:
        save(f"normal_{size}", values=each_seed(
            lambda g: torch.randn(size, generator=g)))
    save("normal", checksums=checksums(
        lambda size, g: torch.randn(size, generator=g), SIZES))
    save("shifted",
         values=each_seed(
             lambda g: torch.empty(40).normal_(3.0, 0.25, generator=g)),
         few=each_seed(
             lambda g: torch.empty(5).normal_(-1.0, 2.0, generator=g)),
         doubles=each_seed(
             lambda g: torch.empty(15).normal_(0.1, 0.02, generator=g)))
    torch.manual_seed(123)
    table = torch.nn.Embedding(6, 3).weight
    torch.manual_seed(123)
    large = torch.nn.Embedding(50_000, 3).weight
    save("embedding", table=table, first=large[:6], checksum=checksum(large))
    torch.manual_seed(2024)  # a kept number waits while others are drawn
    save("mixed", a=torch.randn(3), b=torch.rand(2), c=torch.randn(20),
         d=torch.randn(1), e=torch.randn(2))
    save("double", values=each_seed(
        lambda g: torch.rand(20, dtype=torch.float64, generator=g)))


def random():
    save("all", seeds=SEEDS, sizes=SIZES, ranges=tensor(RANGES))
    uniform_numbers()
    normal_numbers()


# Appendix C

def sheet():
    """One word's context vector, from every attention of the book."""
    x, rows = YOUR_JOURNEY, []

    def keep(table):
        rows.append(wide(table[1]))

    def attend(query, key, value, **how):
        return F.scaled_dot_product_attention(
            wide(query), wide(key), wide(value), **how)

    def roles_of(seed, bias):
        torch.manual_seed(seed)
        return [applied(layer, x) for layer in linears(bias, *[(3, 2)] * 3)]

    keep(attend(x, x, x, scale=1.0))
    w_query, w_key, w_value = map(wide, drawn(123, *[(3, 2)] * 3))
    roles = [wide(x) @ w for w in (w_query, w_key, w_value)]
    keep(attend(*roles, scale=1.0))
    keep(attend(*roles))
    keep(attend(*roles, is_causal=True))
    keep(attend(*roles, is_causal=True))
    for bias in False, True:
        keep(attend(*roles_of(789, bias)))
    life = wide(embedded_sentence())
    keep(attend(wide(x) @ w_query, life @ w_key, life @ w_value))
    roles = roles_of(123, False)
    keep(attend(*roles, is_causal=True))
    weights = attend(*roles[:2], torch.eye(6), is_causal=True)
    roles_of(123, False)
    keep(F.dropout(weights.float(), 0.5).double() @ wide(roles[2]))
    torch.manual_seed(123)
    keep(torch.cat([attend(*(wide(x) @ wide(torch.rand(3, d))
                             for d in (2, 2, 1)))
                    for _ in range(4)], dim=-1))
    torch.manual_seed(123)
    *layers, out = multi_head_layers(3, 2, False)
    q, k, v = (cut(applied(layer, x), 2) for layer in layers)
    keep(applied(out, joined(attend(q, k, v, is_causal=True))))
    torch.manual_seed(123)
    keep(torch.nn.MultiheadAttention(3, 3).double()(*[wide(x)] * 3)[0])
    save("journeys", sizes=[len(row) for row in rows],
         x=torch.stack([F.pad(row, (0, 4 - len(row))) for row in rows]))


# Appendix D

def has_mkl():
    """As requirements.txt has it."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def ask_mkl(function, first, count, kind, *more):
    """What a function of MKL's makes of its generator MCG31, which begins
    with the number given."""
    mkl = ctypes.CDLL(str(next(file.locate() for file in files("mkl")
                               if file.name.startswith("libmkl_rt.so"))))
    mkl.MKL_Set_Threading_Layer(1)  # no threads
    stream, x = ctypes.c_void_p(), numpy.empty(count, kind)
    faults = [
        mkl.vslNewStream(ctypes.byref(stream), 1 << 20, ctypes.c_uint(first)),
        mkl[function](0, stream, count, x.ctypes.data_as(ctypes.c_void_p),
                      *more),
        mkl.vslDeleteStream(ctypes.byref(stream))]
    if any(faults):
        sys.exit(f"generate.py: MKL's {function} fails: {faults}")
    return torch.from_numpy(x)


def first_draw(seed):
    """The generator's first 32 bits, which are the upper half of 64."""
    x = torch.empty(1, dtype=torch.int64)
    return x.random_(-2**63, None, generator=seeded(seed)).item() >> 32 & 0xffffffff


def lots_of_mkl(first, rate, *shape):
    """What PyTorch up to 2.6 asked of MKL for nn.Dropout(rate)."""
    kept = ask_mkl("viRngBernoulli", first, math.prod(shape), numpy.int32,
                   ctypes.c_double(1 - rate))
    return kept.float().reshape(shape)


def mkl():
    rates, firsts = [0.1, 0.25, 0.5, 0.75, 0.9], map(first_draw, SEEDS)
    cases = [(first, rate) for first in firsts for rate in rates]
    following = []
    for seed in SEEDS:
        generator = seeded(seed)
        torch.empty(1, dtype=torch.int32).random_(generator=generator)
        following.append(torch.rand(1, generator=generator))
    save("all", seeds=SEEDS, rates=rates)
    save("lots", following=torch.cat(following),
         masks=torch.stack([lots_of_mkl(*case, 5, 7) for case in cases]),
         checksums=[checksum(lots_of_mkl(*case, 18_000)) for case in cases])
    save("reader", mask=lots_of_mkl(first_draw(123), 0.5, 6, 6))
    for n, m in (1, 1), (1, 19), (23, 1), (3, 11):
        save(f"shape_{n}x{m}", mask=lots_of_mkl(first_draw(42), 0.3, n, m))
    # Of these some are multiples of 2^31 - 1, with which MCG31 cannot begin.
    firsts = [0, 1, 2**31 - 2, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]
    save("first", draws=firsts,
         masks=torch.stack([lots_of_mkl(x, 0.5, 20) for x in firsts]))
    # MKL compares floats. Of each lot the float itself, the next, and what
    # lies around the middle, where doubles round to the one or the other.
    # Not where the lot itself is in the middle of two floats: there MKL's
    # answer depends on the processor.
    count, first = 40, first_draw(65)
    state = ask_mkl("viRngUniformBits", first, count, numpy.int32)
    lot = wide(ask_mkl("vsRngUniform", first, count, numpy.float32,
                       ctypes.c_float(0), ctypes.c_float(1)))
    lot = lot[(lot >= 0.5) & (state % 2 == 1)]
    steps = tensor([0, 2**-25 - 2**-53, 2**-25, 2**-25 + 2**-53, 2**-24],
                   dtype=torch.float64)
    rates = 1 - (lot[:, None] + steps).flatten()
    save("near", rates=rates, masks=torch.stack(
        [lots_of_mkl(first, rate, count) for rate in rates.tolist()]))


# Chapter 14

def save_row(case, scores, value, *cuts):
    """A query that meets its keys, whose scores are given: after each of them
    the log-sum-exp so far, and the context vector that it would have if there
    were no more. An infinite score leaves no number, as in chapter 2. Blocks
    of keys end at the cuts."""
    s, v = wide(scores), wide(value)
    log_sums = torch.logcumsumexp(s, dim=0)
    prefixes = [F.softmax(s[:j + 1], dim=0) @ v[:j + 1]
                for j in range(len(s))]
    save(case, scores=scores, value=value, cuts=[*cuts, len(s)],
         log_sums=log_sums.masked_fill(log_sums == INF, NAN),
         contexts=torch.stack(prefixes))


def save_flash(case, seen, query, key, value, **how):
    """A whole attention. A query that sees nothing gets NaN, as in chapter 9,
    and a log-sum-exp of minus infinity. Values that are hidden from all are
    made infinite, since nobody looks at them."""
    q, k, v = wide(query), wide(key), wide(value)
    scores = (q @ k.T / k.shape[1]**0.5).masked_fill(~seen, -INF)
    context = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    value = value.masked_fill(~seen.any(dim=0)[:, None], INF)
    save(case, query=query, key=key, value=value,
         context=context.masked_fill(~seen.any(dim=-1, keepdim=True), NAN),
         log_sum=torch.logsumexp(scores, dim=-1), **how)


def flash():
    """Sizes around those of a tile and a block, 32."""
    def roles(n, m, d_k, d_v, seed, size=2):
        return (uniform(seed, n, d_k, size=size),
                uniform(seed + 1, m, d_k, size=size), uniform(seed + 2, m, d_v))

    rows = {"one": [0.5], "rising": [-1., 0, 1, 2, 90, 180],
            "falling": [180., 90, 2, 1, 0, -1], "equal": [7.] * 5,
            "first_hidden": [-INF, -INF, 3, -INF, 1],
            "none_seen": [-INF] * 4, "last_hidden": [1., 2, -INF],
            "low": [-2e4, -1e4, -1e4 + 1, -3e4], "nan": [1., NAN, 2],
            "hidden_nan": [-INF, NAN, -INF, 0], "infinite": [1., INF, 2],
            "two_infinite": [INF, 0, INF]}
    for i, (case, scores) in enumerate(rows.items()):
        save_row(f"row_{case}", tensor(scores),
                 uniform(1400 + i, len(scores), 3), len(scores) // 2)
    save_row("row_long", uniform(1450, 100, size=30),
             uniform(1451, 100, 5), 1, 33, 64, 64, 97)

    for n, m, d_k, d_v, first in [
            (1, 1, 1, 1, 0), (6, 6, 2, 4, 0), (31, 33, 3, 2, 0),
            (32, 32, 4, 3, 0), (33, 65, 2, 5, 32), (64, 100, 5, 3, 36),
            (70, 31, 3, 4, -39), (65, 97, 2, 3, 10), (40, 70, 3, 2, -9),
            (1, 96, 4, 6, 95), (34, 40, 2, 2, 100), (3, 50, 3, 3, -50),
            (96, 96, 8, 7, 0)]:
        save_flash(f"past_{n}x{m}x{d_k}x{d_v}_{first}", visible(n, m, first),
                   *roles(n, m, d_k, d_v, 10 * (n + 101 * m)), first=first)
    for n, m, d_k, d_v in [(1, 1, 2, 3), (5, 64, 3, 4), (33, 31, 4, 2),
                           (65, 129, 3, 5), (64, 64, 64, 32)]:
        everything = torch.ones(n, m, dtype=torch.bool)
        save_flash(f"all_{n}x{m}x{d_k}x{d_v}", everything,
                   *roles(n, m, d_k, d_v, 7 * (n + 103 * m)))
        mask = torch.randint(3, (n, m), generator=seeded(n + m)).float() - 1
        mask[n // 2] = 0  # sees nothing
        save_flash(f"table_{n}x{m}x{d_k}x{d_v}", mask != 0,
                   *roles(n, m, d_k, d_v, 9 * (n + 107 * m)), mask=mask)
    save_flash("all_long", torch.ones(2, 3000, dtype=torch.bool),
               *roles(2, 3000, 3, 2, 1455))
    loud = roles(40, 70, 3, 2, 1460, size=12)
    save_flash("loud_all", torch.ones(40, 70, dtype=torch.bool), *loud)
    save_flash("loud_past", visible(40, 70, 30), *loud, first=30)

    for i, (a, b, size) in enumerate([(1, 1, 2), (3, 5, 2), (40, 2, 1),
                                      (7, 0, 5), (0, 7, 5), (0, 0, 1),
                                      (6, 4, 200)]):
        scores = uniform(1470 + i, a + b, size=size)
        value = uniform(1480 + i, a + b, 4)
        parts = [(torch.logsumexp(wide(s), 0), F.softmax(wide(s), 0) @ wide(v)
                  if len(s) else torch.full((4,), NAN))
                 for s, v in ((scores[:a], value[:a]), (scores[a:], value[a:]),
                              (scores, value))]
        save(f"parts_{a}_{b}", context=parts[0][1].float(),
             log_sum=parts[0][0].float(), other=parts[1][1].float(),
             other_log_sum=parts[1][0].float(), joined=parts[2][1],
             joined_log_sum=parts[2][0])


# Chapter 15

def save_job(case, query, key, value, scale=None, bias=None, mask=None,
               first=None, **how):
    """Heads of several texts, some of which share keys. A query that sees
    nothing gets NaN, as in chapter 9, and an infinite score leaves no
    number."""
    q, k, v = wide(query), wide(key), wide(value)
    added = torch.zeros(q.shape[2], k.shape[2], dtype=torch.float64)
    if first is not None:
        seen = visible(*added.shape, first)
        how |= {"is_causal": True} if first == 0 else {"attn_mask": seen}
        added = added.masked_fill(~seen, -INF)
        save(case, first=[first])
    if mask is not None:
        how["attn_mask"] = mask != 0
        added = added.masked_fill(mask == 0, -INF)
        save(case, mask=mask)
    if bias is not None:
        how["attn_mask"] = added = wide(bias)
        save(case, bias=bias)
    context = F.scaled_dot_product_attention(q, k, v, scale=scale,
                                             enable_gqa=True, **how)
    shared = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    scores = q @ shared.mT * (scale or q.shape[-1]**-0.5) + added
    log_sum = torch.logsumexp(scores, dim=-1)
    blind = (scores == -INF).all(dim=-1, keepdim=True)
    save(case, query=query, key=key, value=value,
         context=context.masked_fill(blind, NAN),
         log_sum=log_sum.masked_fill(log_sum == INF, NAN))


def roles(seed, texts, heads, key_heads, n, m, d_k, d_v, size=2):
    return (uniform(seed, texts, heads, n, d_k, size=size),
            uniform(seed + 1, texts, key_heads, m, d_k, size=size),
            uniform(seed + 2, texts, key_heads, m, d_v))


def kernel():
    """Without a mask; src/kernel/attend.c has these, too."""
    save_job("all_one", *roles(1500, 1, 1, 1, 1, 1, 1, 1))
    save_job("all_groups", *roles(1503, 2, 4, 2, 13, 130, 3, 5))
    save_job("all_wide", *roles(1506, 1, 1, 1, 9, 33, 65, 40))
    save_job("loud", *roles(1512, 1, 1, 1, 33, 150, 4, 3, size=60))

    query, key, value = roles(1533, 1, 2, 2, 15, 140, 2, 3)
    query[0, 0, 3, 1] = key[0, 1, 7, 0] = value[0, 0, 131, 2] = NAN
    save_job("all_nan", query, key, value)
    query, key, value = roles(1536, 1, 2, 2, 15, 140, 2, 3)
    query[0, 1, 4, 0] = query[0, 1, 13, 1] = key[0, 0, 9, 0] = INF
    query[0, 0, 6, 0] = 0
    query[0, 1, 5] = tensor([INF, -INF])
    value[0, 0, 3, 1] = value[0, 1, 133, 0] = INF
    value[0, 1, 134, 2] = -INF
    save_job("all_infinite", query, key, value)


def attend_fast():
    kernel()
    save("scaled", scale=[0.3])
    save_job("scaled", *roles(1509, 1, 3, 1, 26, 70, 4, 3), scale=0.3)
    save_job("past_square", *roles(1515, 1, 1, 1, 140, 140, 3, 4), first=0)
    save_job("past_later", *roles(1518, 1, 3, 1, 50, 150, 3, 2), first=100)
    save_job("past_before", *roles(1521, 1, 1, 1, 60, 31, 2, 3), first=-20)
    mask = torch.randint(3, (35, 140), generator=seeded(1524)).float() - 1
    mask[17] = 0  # sees nothing
    save_job("table", *roles(1525, 1, 2, 1, 35, 140, 3, 4), mask=mask)
    bias = uniform(1528, 30, 135, size=3).masked_fill(
        uniform(1529, 30, 135) < -0.8, -INF)
    save_job("bias", *roles(1530, 2, 2, 1, 30, 135, 3, 2), bias=bias)


# Chapter 16

def save_cached(case, heads, key_heads, n, d_k, d_v, window, format):
    """What n tokens get, each when it is the last: a causal attention, with a
    window or, where that is 0, without. Keys and values are rounded to the
    format before they are used."""
    seed = 1600 + len(made)
    query = uniform(seed, heads, n, d_k, size=2)
    key = uniform(seed + 1, key_heads, n, d_k, size=2)
    value = uniform(seed + 2, key_heads, n, d_v)
    place = torch.arange(n)
    back = place[:, None] - place
    dtype = (torch.float32, torch.bfloat16, torch.float16)[format]
    context = F.scaled_dot_product_attention(
        wide(query), wide(key.to(dtype)), wide(value.to(dtype)),
        attn_mask=(back >= 0) & (back < (window or n)), enable_gqa=True)
    save(case, query=query, key=key, value=value, context=context,
         window=[window], format=[format])


def kv_cache():
    for format, name in enumerate(["float32", "bfloat16", "float16"]):
        save_cached(f"{name}_all", 4, 2, 23, 5, 3, 0, format)
        save_cached(f"{name}_window", 3, 1, 31, 3, 20, 7, format)
    save_cached("float32_alone", 2, 2, 40, 17, 6, 0, 0)

    # Floats of all kinds, and those at and around halfway between two
    # numbers of 16 bits.
    bits = torch.randint(2**32, (300,), generator=seeded(1690)).tolist()
    for half in torch.randint(2**15, (40,), generator=seeded(1691)).tolist():
        bits += [(half << 16) + more for more in
                 (0, 1, 0x7fff, 0x8000, 0x8001, 0xffff)]
    halves = torch.randint(0x7bff, (60,), generator=seeded(1692)).tolist()
    halves += [0, 1, 2, 3, 0x3fe, 0x3ff, 0x400, 0x401, 0x7bfe, 0x7bff]
    for half in halves:
        a = tensor(half, dtype=torch.int16).view(torch.float16).float()
        b = 65536 if half == 0x7bff else tensor(
            half + 1, dtype=torch.int16).view(torch.float16).float()
        middle = int(((a + b) / 2).view(torch.int32))
        bits += [middle - 1, middle, middle + 1, middle | 1 << 31]
    bits += [0, 1 << 31, 0x7f800000, 0xff800000, 0x7f7fffff, 0x7f7f7fff,
             0x7f7f8000, 1, 0x7fffff, 0x33000000, 0x33000001, 0x477fefff,
             0x477ff000, 0x477fffff, 0x47800000, 0x4780e800, 0x47ffe000]
    x = tensor(bits, dtype=torch.int64).to(torch.int32).view(torch.float32)
    x = x[~x.isnan()]
    save("numbers", x=x, **{
        name: x.to(getattr(torch, name)).view(torch.int16).to(torch.int64)
        & 0xffff for name in ("bfloat16", "float16")})
    patterns = torch.arange(0, 2**16, 211)
    save("patterns", bits=patterns, **{
        name: patterns.to(torch.int16).view(getattr(torch, name)).float()
        for name in ("bfloat16", "float16")})


# Chapter 17

def speeds(d):
    """How far each of d / 2 hands turns from one place to the next: from 1 in
    equal factors towards 1/10,000, which the next hand would have."""
    return torch.logspace(0, -4, d // 2 + 1, dtype=torch.float64)[:-1]


def hands(places, d):
    """The hands of each place as complex numbers: cosine, and i times sine."""
    return torch.polar(torch.ones(len(places), d // 2, dtype=torch.float64),
                       torch.outer(wide(places), speeds(d)))


def save_sinusoids(n, d):
    """A hand at place i is the turn of one place to the power of i; so large
    places are found without a large angle. The first and the last rows."""
    turn = torch.polar(torch.ones(d // 2, dtype=torch.float64), speeds(d))
    hand = torch.vander(turn, n, increasing=True).T
    rows = torch.view_as_real(hand).flip(-1).flatten(1)
    save(f"sinusoids_{n}x{d}", size=[n, d], begin=rows[:20], end=rows[-3:])


def as_pairs(x):
    """Halves, side by side: entry k of one and of the other are neighbours."""
    return x.unflatten(-1, (2, -1)).mT


def save_rotated(case, first, x):
    """A turn is a product of complex numbers. For halves that is compared
    with how Hugging Face's Llama has it."""
    turn = hands(torch.arange(first, first + x.shape[-2]), x.shape[-1])

    def turned(pairs):
        pairs = torch.view_as_complex(pairs.contiguous())
        return torch.view_as_real(pairs * turn)

    y = wide(x)
    halves = turned(as_pairs(y)).mT.flatten(-2)
    cos, sin = (torch.cat([z, z], dim=-1) for z in (turn.real, turn.imag))
    front, back = y.chunk(2, dim=-1)
    rotate_half = torch.cat([-back, front], dim=-1)
    assert torch.allclose(halves, y * cos + rotate_half * sin, atol=1e-12)
    save(case, first=[first], x=x, halves=halves,
         neighbours=turned(y.unflatten(-1, (-1, 2))).flatten(-2))


def save_distances(case, first, query, key, value, scores):
    """Heads of two texts, each head with its slope as a bias; and of any
    scores what is left of them."""
    q, k, v = wide(query), wide(key), wide(value)
    heads, n, m = q.shape[1], q.shape[2], k.shape[2]
    slopes = torch.logspace(-8 / heads, -8, heads, base=2, dtype=torch.float64)
    places = torch.arange(first, first + n, dtype=torch.float64)
    distance = torch.cdist(places[:, None],
                           torch.arange(m, dtype=torch.float64)[:, None], p=1)
    bias = -slopes[:, None, None] * distance
    save(case, first=[first], query=query, key=key, value=value, slopes=slopes,
         bias=bias, scores=scores, lowered=wide(scores) + bias,
         context=F.scaled_dot_product_attention(q, k, v, attn_mask=bias))


def positions():
    for n, d in [(1, 2), (6, 4), (20, 10), (40, 8), (10_001, 6), (20_000, 64)]:
        save_sinusoids(n, d)

    for i, (n, d, length, first) in enumerate([
            (1, 1, 1, 0), (5, 3, 7, 0), (4, 6, 9, 5), (3, 5, 1024, 1021)]):
        x, position = uniform(1700 + i, 2, n, d), uniform(1710 + i, length, d)
        places = torch.arange(first, first + n)
        save(f"added_{length}x{d}_{first}", first=[first], x=x,
             position=position,
             sum=wide(x) + F.embedding(places, wide(position)))

    for i, (n, d, first) in enumerate([
            (1, 2, 0), (1, 2, 1), (3, 4, 0), (5, 6, 2), (7, 10, 100),
            (6, 8, 9_999), (4, 64, 20_000), (2, 4, 2_000_000)]):
        save_rotated(f"rotated_{n}x{d}_{first}", first,
                     uniform(1720 + i, 2, 3, n, d, size=2))

    for i, (heads, n, m, d_k, d_v, first) in enumerate([
            (1, 1, 1, 1, 1, 0), (2, 3, 5, 2, 4, 0), (8, 6, 6, 4, 3, 0),
            (4, 3, 9, 2, 5, 6), (3, 5, 4, 6, 2, 1), (2, 2, 30, 3, 2, 100)]):
        save_distances(f"distances_{heads}x{n}x{m}_{first}", first,
                       uniform(1730 + i, 2, heads, n, d_k, size=2),
                       uniform(1740 + i, 2, heads, m, d_k, size=2),
                       uniform(1750 + i, 2, heads, m, d_v),
                       uniform(1790 + i, heads, n, m, size=4))

    # As Hugging Face converts Meta's weights, and with the scores of each.
    for i, (heads, d_k, d_in, n, first) in enumerate([
            (1, 2, 3, 2, 0), (2, 4, 3, 5, 0), (3, 8, 5, 4, 7), (2, 6, 1, 3, 2)]):
        weight = uniform(1760 + i, heads * d_k, d_in)
        save(f"reordered_{heads}x{d_k}x{d_in}", sizes=[heads, d_k, d_in],
             weight=weight, reordered=weight.view(
                 heads, d_k // 2, 2, d_in).transpose(1, 2).reshape(-1, d_in))
        weight_2 = uniform(1770 + i, heads * d_k, d_in)
        x = uniform(1780 + i, 2, n, d_in, size=2)
        turn = hands(torch.arange(first, first + n), d_k)
        query, key = (
            torch.view_as_real(torch.view_as_complex(
                F.linear(wide(x), wide(w)).view(2, n, heads, -1, 2)
                .transpose(1, 2).contiguous()) * turn).flatten(-2)
            for w in (weight, weight_2))
        save(f"llama_{heads}x{d_k}x{d_in}", first=[first], x=x,
             query_weight=weight, key_weight=weight_2, scores=query @ key.mT)


# Chapter 18

def leaf(x):
    """The same numbers in float64, as something whose gradient is wanted."""
    return wide(x).requires_grad_()


def save_undone(case, forward, g, **given):
    """What is given to an operation, the gradient of its result, and those
    that autograd finds for what was given."""
    leaves = {name: leaf(x) for name, x in given.items()}
    with torch.enable_grad():
        forward(*leaves.values()).backward(wide(g))
    save(case, g=g, **given, **{f"g_{name}": x.grad
                                for name, x in leaves.items()})


def save_softmax_undone(case, scores, g):
    leaf_scores = leaf(scores)
    with torch.enable_grad():
        weights = F.softmax(leaf_scores, dim=-1)
        weights.backward(wide(g))
    save(case, weights=weights.detach(), g_weights=g,
         g_scores=leaf_scores.grad)


def traced(q, k, v, mask, rate):
    """The tables of attention, made by the operators of which it consists.
    Where each query sees something, F.scaled_dot_product_attention must
    agree."""
    state = torch.get_rng_state()
    products = q @ k.mT
    scores = (products / k.shape[-1]**0.5).masked_fill(~mask, -INF)
    weights = F.softmax(scores, dim=-1)
    dropped = F.dropout(weights, rate)
    context = dropped @ v
    after = torch.get_rng_state()
    torch.set_rng_state(state)
    kept = (F.dropout(torch.ones(weights.shape), rate) != 0).float()
    torch.set_rng_state(state)
    whole = F.scaled_dot_product_attention(q, k, v, attn_mask=mask,
                                           dropout_p=rate)
    if mask.any(dim=-1).all() and not torch.allclose(context, whole):
        sys.exit("generate.py: the steps of an attention are not the whole")
    torch.set_rng_state(after)
    return dict(products=products, scores=scores, weights=weights, kept=kept,
                dropped=dropped, context=context)


def with_gradients(tables):
    for table in tables.values():
        if table.requires_grad:
            table.retain_grad()
    return tables


def gradients(tables):
    """Those that there are. The book's functions work on one table of scores,
    and so do their backwards: in the end, its gradient is that of the
    products, which were neither scaled nor masked."""
    found = {f"g_{name}": table.grad for name, table in tables.items()
             if table.grad is not None}
    if "g_products" in found:
        found["g_scores"] = found.pop("g_products")
    return found


def save_attend_undone(case, seed, sizes, mask, rate=0.0):
    """One head by itself, for which all tables are given."""
    n, m, d_k, d_v = sizes
    query, key, value, g = (
        uniform(seed, n, d_k, size=2), uniform(seed + 1, m, d_k, size=2),
        uniform(seed + 2, m, d_v), uniform(seed + 3, n, d_v))
    roles = dict(query=query, key=key, value=value)
    torch.manual_seed(seed)
    with torch.enable_grad():
        leaves = {name: leaf(x) for name, x in roles.items()}
        tables = with_gradients(traced(*leaves.values(), mask, rate))
        tables["context"].backward(wide(g))
    answers = gradients(leaves | tables)
    answers.pop("g_context")  # given
    given = ("scores", "weights", "kept", "dropped")
    save(case, rate=rate, g_context=g, **roles, **answers,
         **{name: tables[name].detach() for name in given})


def save_attention_undone(case, seed, sizes, *see, d_out=0, rate=0.0, **how):
    """A whole attention over a batch of two texts, or pairs of texts, with
    the gradient of its result given. Parameters get what both texts add."""
    n_heads, d_v = sizes[4], sizes[6]
    layers, texts, mask = begin_given(case, 2, seed, sizes, *see, d_out=d_out,
                                      rate=rate, **how)
    g = uniform(seed + 3, 2, sizes[0], d_out or n_heads * d_v)
    torch.manual_seed(seed)
    with torch.enable_grad():
        layers = [layer.double().requires_grad_() for layer in layers]
        leaves = {name: leaf(text) for name, text in texts.items()}
        of_texts = []
        for b in range(2):
            x, y = leaves["x"][b], [*leaves.values()][-1][b]
            query, key, value = (layer(text) for layer, text in
                                 zip(layers, (x, y, y)))
            q, k, v = (cut(role, n_heads) for role in (query, key, value))
            tables = traced(q, k, v, mask, rate)
            side_by_side = joined(tables["context"])
            tables = with_gradients(dict(
                query=query, key=key, value=value, head_query=q, head_key=k,
                head_value=v, **tables, joined=side_by_side))
            out = layers[3](side_by_side) if d_out else side_by_side
            out.backward(wide(g[b]))
            of_texts.append(gradients(tables))
    answers = {name: torch.stack([text[name] for text in of_texts])
               for name in of_texts[0]}
    answers["g_head_context"] = answers.pop("g_context")
    if not d_out:
        del answers["g_joined"]  # given
    save(case, g=g, g_parameters=torch.cat([
        p.grad.flatten() for layer in layers for p in layer.parameters()]),
        **gradients(leaves), **answers)


def backward():
    for n, m, d in [(1, 1, 1), (2, 3, 4), (4, 2, 3), (3, 5, 2), (5, 4, 7)]:
        seed = 1800 + n
        save_undone(f"scores_{n}x{m}x{d}", lambda q, k: q @ k.T,
                    uniform(seed, n, m), query=uniform(seed + 10, n, d),
                    key=uniform(seed + 20, m, d, size=2))
        save_undone(f"product_{n}x{m}x{d}", torch.matmul,
                    uniform(seed + 30, n, m), a=uniform(seed + 40, n, d),
                    b=uniform(seed + 50, d, m, size=2))
        save_undone(f"linear_{n}x{m}x{d}", F.linear,
                    uniform(seed + 60, n, m), x=uniform(seed + 70, n, d),
                    weight=uniform(seed + 80, m, d),
                    bias=uniform(seed + 90, m))
        save_undone(f"bare_{n}x{m}x{d}", F.linear,
                    uniform(seed + 100, n, m), x=uniform(seed + 110, n, d),
                    weight=uniform(seed + 120, m, d))
        save_undone(f"cosine_{d}_{n}",
                    lambda a, b: F.cosine_similarity(a, b, dim=0),
                    uniform(seed + 130), a=uniform(seed + 140, d, size=3),
                    b=uniform(seed + 150, d))
    for n in 1, 2, 3, 17, 1000:
        save_softmax_undone(f"softmax_{n}", uniform(1860 + n, n, size=3),
                            uniform(1870 + n, n, size=2))
    scores = uniform(1880, 5)
    save_softmax_undone("softmax_loud", scores * 60, uniform(1881, 5))
    save_softmax_undone("softmax_far", scores, uniform(1882, 5) + 5)
    save_softmax_undone("softmax_hidden", scores.masked_fill(
        tensor([False, True, False, True, True]), -INF), uniform(1883, 5))

    for n, m, first in (3, 4, 0), (2, 5, 2), (4, 3, -2):
        seen, g = visible(n, m, first), uniform(1890 + n, n, m)
        raw = leaf(uniform(1894 + n, n, m))
        with torch.enable_grad():
            scores = raw.masked_fill(~seen, -INF)
            scores.backward(wide(g.where(seen, tensor(NAN))))
        save(f"mask_{n}x{m}", scores=scores.detach(), g=g.where(
            seen, tensor(NAN)), g_scores=raw.grad)

    for case, rows, ids in [("once", 4, [2, 0, 3]), ("one", 1, [0]),
                            ("twice", 5, [4, 1, 4, 0, 4, 1]),
                            ("same", 3, [1, 1, 1, 1])]:
        table, g = leaf(uniform(1900, rows, 3)), uniform(1901, len(ids), 3)
        with torch.enable_grad():
            F.embedding(tensor(ids), table).backward(wide(g))
        save(f"embed_{case}", ids=ids, g_x=g, g_table=table.grad)

    past = visible(4, 6, 1)
    save_attend_undone("attend_all", 1910, (3, 5, 4, 2), visible(3, 5, 5))
    save_attend_undone("attend_one", 1915, (1, 1, 1, 1), visible(1, 1, 0))
    save_attend_undone("attend_past", 1920, (4, 6, 2, 3), past)
    save_attend_undone("attend_dropped", 1930, (4, 6, 3, 2), past, 0.4)
    save_attend_undone("attend_nothing", 1940, (4, 3, 2, 5),
                       visible(4, 3, -1))
    save_attend_undone("attend_all_dropped", 1950, (2, 3, 4, 5),
                       visible(2, 3, 3), 1.0)

    save_attention_undone("given_all", 2000, (3, 5, 4, 7, 2, 6, 8), d_out=9)
    save_attention_undone("given_past", 2010, (5, 4, 3, 6, 3, 2, 7), "past",
                          first=1, d_out=8, rate=0.3)
    save_attention_undone("given_where", 2020, (4, 7, 5, 3, 3, 6, 2),
                          "where", d_out=8)
    save_attention_undone("given_bare", 2030, (2, 3, 6, 4, 2, 5, 7), "where",
                          d_out=8, bias=False, out_bias=False, rate=0.5)
    save_attention_undone("given_side_by_side", 2050, (3, 4, 2, 5, 4, 6, 7),
                          "past", first=1)
    save_attention_undone("given_itself", 2070, (5, 5, 4, 4, 2, 3, 6),
                          "past", d_out=7, rate=0.2, is_same=True)
    save_attention_undone("given_nothing", 2080, (4, 5, 3, 2, 2, 4, 3),
                          "past", first=-1, d_out=6)


# Chapter 19

def save_flash_undone(case, seed, sizes, seen=None, size=2, scale=None,
                      bias=None, **how):
    """A whole attention, one head or all of several texts, some of which
    share keys, with the gradient of its contexts given."""
    *heads, n, m, d_k, d_v = sizes  # none, or texts, heads, heads of keys
    of_query, of_key = (heads[:2], heads[::2]) if heads else ([], [])
    roles = dict(query=uniform(seed, *of_query, n, d_k, size=size),
                 key=uniform(seed + 1, *of_key, m, d_k, size=size),
                 value=uniform(seed + 2, *of_key, m, d_v))
    g = uniform(seed + 3, *of_query, n, d_v)
    leaves = [leaf(x) for x in roles.values()]
    with torch.enable_grad():
        context = F.scaled_dot_product_attention(
            *leaves, attn_mask=seen if bias is None else wide(bias),
            scale=scale, enable_gqa=bool(heads))
        context.backward(wide(g))
    if scale:
        how["scale"] = scale
    if bias is not None:
        how["bias"] = bias
    save(case, **roles, g_context=g, **how,
         **{f"g_{name}": x.grad for name, x in zip(roles, leaves)})


def save_again(case, scores):
    """What is made again from scores and log-sum-exps: where a query sees
    something, its weights, and 0 elsewhere. And the slopes of scores by those
    of the log-sum-exps."""
    of_scores, g = leaf(scores), uniform(len(scores), len(scores))
    with torch.enable_grad():
        log_sum = torch.logsumexp(of_scores, dim=-1)
        log_sum.backward(wide(g))
    blind = (scores == -INF).all(dim=-1, keepdim=True)
    save(case, scores=scores, log_sum=log_sum.detach().float(), g_log_sum=g,
         weights=F.softmax(wide(scores), dim=-1).masked_fill(blind, 0),
         g_scores=of_scores.grad.masked_fill(blind, 0))


def save_means(case, seed, sizes):
    """The means of the weights' slopes, by the weights; 0 for the last query,
    which sees nothing and has no context vector."""
    n, m, d_v = sizes
    weights = leaf(F.softmax(wide(uniform(seed, n, m, size=2)), dim=-1))
    value, g = wide(uniform(seed + 1, m, d_v)), uniform(seed + 2, n, d_v)
    with torch.enable_grad():
        context = weights @ value
        context.backward(wide(g))
    means = (weights.grad * weights).sum(dim=-1).detach()
    context, log_sum = context.detach().float(), uniform(seed + 3, n)
    context[-1], log_sum[-1], means[-1] = NAN, -INF, 0
    save(case, log_sum=log_sum, context=context, g_context=g, mean=means)


def save_texts_undone(case, seed, sizes, seen, d_out=0, bias=True,
                      out_bias=True, **how):
    """Self-attention over several texts at once, and back."""
    texts, n, d, n_heads, d_k, d_v = sizes
    torch.manual_seed(seed)
    layers = linears(bias, (d, n_heads * d_k), (d, n_heads * d_k),
                     (d, n_heads * d_v))
    if d_out:
        layers += linears(out_bias, (n_heads * d_v, d_out))
    parameters = flat(layers).clone()
    text = uniform(seed, texts, n, d, size=2)
    g = uniform(seed + 1, texts, n, d_out or n_heads * d_v)
    with torch.enable_grad():
        layers = [layer.double().requires_grad_() for layer in layers]
        x = leaf(text)
        q, k, v = (layer(x).view(texts, n, n_heads, -1).transpose(1, 2)
                   for layer in layers[:3])
        side_by_side = F.scaled_dot_product_attention(
            q, k, v, attn_mask=seen).transpose(1, 2).flatten(2)
        out = layers[3](side_by_side) if d_out else side_by_side
        out.backward(wide(g))
    scores = (q @ k.mT / d_k**0.5).masked_fill(~seen, -INF)
    save(case, x=text, parameters=parameters, g=g, out=out.detach(),
         log_sum=torch.logsumexp(scores, dim=-1).detach(), g_x=x.grad,
         g_parameters=torch.cat([p.grad.flatten() for layer in layers
                                 for p in layer.parameters()]),
         sizes=[d, n_heads, d_k, d_v, d_out, bias, out_bias], **how)


def flash_backward():
    for n, m in (1, 1), (2, 3), (5, 4), (33, 40):
        save_again(f"again_{n}x{m}", uniform(2100 + n, n, m, size=4))
    hidden = uniform(2105, 4, 5, size=3).masked_fill(
        uniform(2106, 4, 5) < 0, -INF)
    hidden[2] = -INF  # sees nothing
    save_again("again_hidden", hidden)
    save_again("again_loud", uniform(2107, 3, 4) * 300)
    for n, m, d_v in (2, 3, 4), (5, 4, 1), (4, 7, 33):
        save_means(f"means_{n}x{d_v}", 2110 + 4 * n, (n, m, d_v))

    for n, m, d_k, d_v, first in [
            (1, 1, 1, 1, 0), (6, 6, 2, 4, 0), (31, 33, 3, 2, 0),
            (33, 65, 2, 5, 32), (64, 40, 5, 3, 3), (70, 31, 3, 4, -39),
            (40, 70, 3, 2, -9), (2, 80, 4, 6, 70)]:
        save_flash_undone(f"past_{n}x{m}x{d_k}x{d_v}_{first}",
                          2200 + 7 * n + m, (n, m, d_k, d_v),
                          visible(n, m, first), first=first)
    for n, m, d_k, d_v in (2, 3, 5, 4), (65, 33, 3, 2), (34, 64, 16, 20):
        seed = 2300 + 7 * n + m
        save_flash_undone(f"all_{n}x{m}x{d_k}x{d_v}", seed, (n, m, d_k, d_v))
        mask = torch.randint(3, (n, m), generator=seeded(n + m)).float() - 1
        mask[n // 2] = 0  # sees nothing
        save_flash_undone(f"table_{n}x{m}x{d_k}x{d_v}", seed + 3,
                          (n, m, d_k, d_v), mask != 0, mask=mask)
    save_flash_undone("all_loud", 2390, (40, 50, 3, 2), size=12)


def attend_backward():
    save_flash_undone("job_one", 2400, (1, 1, 1, 1, 1, 1, 1))
    save_flash_undone("job_groups", 2410, (2, 4, 2, 13, 150, 3, 5))
    save_flash_undone("job_wide", 2420, (1, 2, 1, 26, 33, 65, 40))
    save_flash_undone("job_scaled", 2430, (2, 3, 3, 26, 70, 4, 3), scale=0.3)
    for case, n, m, first in [("square", 90, 90, 0), ("later", 50, 150, 100),
                              ("before", 60, 31, -20)]:
        save_flash_undone(f"job_past_{case}", 2440 + n,
                          (2, 2, 1, n, m, 3, 4), visible(n, m, first),
                          first=first)
    mask = torch.randint(3, (70, 140), generator=seeded(2450)).float() - 1
    mask[17] = 0
    save_flash_undone("job_table", 2460, (1, 2, 1, 70, 140, 3, 4), mask != 0,
                      mask=mask)
    bias = uniform(2470, 30, 135, size=3).masked_fill(
        uniform(2471, 30, 135) < -0.8, -INF)
    save_flash_undone("job_bias", 2480, (2, 2, 1, 30, 135, 3, 2), bias=bias)


def layers():
    mask = uniform(2490, 5, 5) > 0
    mask[torch.arange(5), torch.arange(5)] = True
    save_texts_undone("texts_past", 2500, (2, 4, 7, 3, 2, 5),
                      visible(4, 4, 0), d_out=6, first=0)
    save_texts_undone("texts_all", 2510, (3, 5, 4, 2, 3, 2),
                      visible(5, 5, 5), d_out=7, bias=False, first=5)
    save_texts_undone("texts_table", 2520, (2, 5, 3, 2, 4, 3), mask, d_out=4,
                      out_bias=False, mask=mask.float())
    save_texts_undone("texts_one_head", 2530, (1, 6, 5, 1, 4, 3),
                      visible(6, 6, 0), first=0)


def save_loss(case, logits, target):
    """The loss, what softmax makes of the logits, and autograd's answer."""
    with torch.enable_grad():
        given = wide(logits).requires_grad_()
        loss = F.cross_entropy(given, tensor(target))
        loss.backward()
    save(case, logits=logits, target=target, loss=loss.detach(),
         shares=F.softmax(given.detach(), dim=-1), g_logits=given.grad)


def save_steps(case, seed, optimizer, steps=6, count=23, size=1.0, falls=1.0,
               **settings):
    """Some steps with given gradients, of which one entry is always 0, and
    all of a step now and then; those of the last are so many times smaller.
    Parameters after each, and at the end what the optimizer keeps."""
    start = uniform(seed, count, size=2)
    gradients = uniform(seed + 1, steps, count, size=size)
    gradients[:, 3] = gradients[3] = 0
    gradients[:-1] *= falls
    parameter = torch.nn.Parameter(wide(start))
    made_by = optimizer([parameter], **settings)
    after = []
    for gradient in wide(gradients):
        parameter.grad = gradient.clone()
        made_by.step()
        after.append(parameter.detach().clone())
    kept = {name: it for name, it in made_by.state[parameter].items()
            if torch.is_tensor(it) and it.dim()}
    how = made_by.defaults
    save(case, start=start, gradients=gradients, after=torch.stack(after),
         how=[float(how[name]) for name in (
             ["lr", "momentum", "weight_decay"] if "momentum" in how else
             ["lr", "eps", "weight_decay"])]
         + [float(beta) for beta in how.get("betas", ())], **kept)


def save_clipped(case, gradient, most):
    parameter = torch.nn.Parameter(torch.zeros(gradient.numel()).double())
    parameter.grad = wide(gradient)
    length = torch.nn.utils.clip_grad_norm_([parameter], most)
    save(case, gradient=gradient, most=most, length=length,
         clipped=parameter.grad)


def warmed_up(optimizer, warm_up, steps, least):
    """The rate rises along a line, and falls along a cosine."""
    rising = torch.optim.lr_scheduler.LinearLR(
        optimizer, start_factor=1 / (warm_up + 1), total_iters=warm_up)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, steps - warm_up, eta_min=least)
    return torch.optim.lr_scheduler.SequentialLR(
        optimizer, [rising, falling], milestones=[warm_up])


def save_rates(case, warm_up, steps, largest, least):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], largest)
    scheduler = warmed_up(optimizer, warm_up, steps, least)
    rates = []
    for _ in range(steps + 1):
        rates += scheduler.get_last_lr()
        optimizer.step()
        scheduler.step()
    save(case, settings=[warm_up, steps], ends=[largest, least], rates=rates)


def parts_of(sizes):
    """The shapes of a model's parameters, in their order. With 0 for a layer
    without bias."""
    words, length, d_x, d_y, n_heads, d_k, d_v, bias, out_bias = sizes
    shapes = [(words, d_x), (length, d_y)]
    for d_in, d_out, has_bias in [
            (d_x, n_heads * d_k, bias), (d_y, n_heads * d_k, bias),
            (d_y, n_heads * d_v, bias), (n_heads * d_v, words, out_bias)]:
        shapes += [(d_out, d_in), (d_out,) if has_bias else (0,)]
    return shapes


def model_of(sizes, flat_parameters):
    """The parameters of a model, each by itself, from all in one list."""
    shapes = parts_of(sizes)
    parts = flat_parameters.split([math.prod(shape) for shape in shapes])
    return [torch.nn.Parameter(part.reshape(shape).clone())
            for part, shape in zip(parts, shapes)]


def logits_of(model, n_heads, ids, asked, **see):
    """What the model answers to a batch, [texts, n], which asks a batch of
    [texts, n, 1 or more]."""
    token, place, *layers = model
    x = F.embedding(ids, token)
    y = F.embedding(asked, token).flatten(-2) + place[:ids.shape[1]]
    q, k, v = (cut(F.linear(text, weight, bias if len(bias) else None), n_heads)
               for text, weight, bias in zip(
                   (x, y, y), layers[:6:2], layers[1:6:2]))
    z = joined(F.scaled_dot_product_attention(q, k, v, **see))
    return F.linear(z, layers[6], layers[7] if len(layers[7]) else None)


def loss_of(logits, target):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())


def flat_of(parameters):
    return torch.cat([p.detach().flatten() for p in parameters])


def save_model(case, seed, texts, n, sizes, first=0):
    """A batch, its logits, and the gradient of its loss."""
    words, length, d_x, d_y, n_heads, *_ = sizes
    count = sum(map(math.prod, parts_of(sizes)))
    parameters = uniform(seed, count)
    draw = seeded(seed)
    ids = torch.randint(words, (texts, n), generator=draw)
    asked = torch.randint(words, (texts, n, d_y // d_x), generator=draw)
    target = torch.randint(words, (texts, n), generator=draw)
    target[0, :n // 2] = -100  # not as many in each text
    mask = visible(n, n, first)
    with torch.enable_grad():
        model = model_of(sizes, wide(parameters))
        logits = logits_of(model, n_heads, ids, asked, attn_mask=mask)
        loss = loss_of(logits, target)
        loss.backward()
    save(case, sizes=[*sizes, first], parameters=parameters, ids=ids,
         asked=asked, target=target, logits=logits.detach(),
         loss=loss.detach(), gradient=torch.cat(
             [p.grad.flatten() for p in model if p.numel()]))


def repeated():
    """A text that repeats itself, with what is asked and the next words."""
    period = 4 + torch.randint(5, (1,))
    text = torch.randperm(16)[torch.arange(17) % period]
    before = torch.cat([tensor([16]), text[:-2]])
    return (text[:-1], torch.stack([text[:-1], before], dim=-1),
            text[1:].where(torch.arange(16) >= period, -100))


def agreement(number):
    """Sentence `number`: the 0, nouns from 1 on, one and many, adjectives
    from 11 on, prepositions from 13 on, the blank 16, and the verb."""
    choices = []
    for count in 5, 2, 2, 3, 2, 2, 4:
        number, choice = divmod(number, count)
        choices.append(choice)
    noun, many, others, near, old, is_first, step = choices
    subject = [1 + 2 * noun + many]
    other = [1 + 2 * ((noun + 1 + step) % 5) + others]
    (subject if is_first else other).insert(0, 11 + old)
    text = tensor([0, *subject, 13 + near, 0, *other, 16])
    return text, text[:, None], tensor([-100] * 6 + [17 + many])


RUNS = {  # words, length, d_x, d_y, heads, d_k, d_v, biases; how to draw
    "repeated": ((17, 16, 16, 32, 1, 16, 16, 0, 1), repeated),
    "agreement": ((19, 7, 16, 16, 1, 16, 16, 0, 1),
                  lambda: agreement(int(torch.randint(720, (1,)))))}
TEXTS, STEPS, WARM_UP, RATE = 16, 100, 10, 0.02


def trained(task, dtype):
    """100 steps of a head that learns, drawn from seed 123: the parameters
    that it begins with, its losses, and its parameters on the way."""
    sizes, draw = RUNS[task]
    torch.manual_seed(123)
    count = sum(map(math.prod, parts_of(sizes)))
    start = torch.empty(count).uniform_(-0.25, 0.25)
    model = model_of(sizes, start.to(dtype))
    optimizer = torch.optim.AdamW(model, lr=RATE)
    scheduler = warmed_up(optimizer, WARM_UP, STEPS, 0)
    losses, after = [], {}
    for step in range(1, STEPS + 1):
        ids, asked, target = map(torch.stack, zip(*[
            draw() for _ in range(TEXTS)]))
        optimizer.zero_grad()
        with torch.enable_grad():
            loss = loss_of(logits_of(model, sizes[4], ids, asked,
                                     is_causal=True), target)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model, 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if step in (1, 10, STEPS):
            after[f"after_{step}"] = flat_of(model)
    return start, losses, after


def save_trained(task):
    """The run in float64. That in float32, which anyone may repeat, must not
    stray from it by more than is allowed to ours."""
    start, losses, after = trained(task, torch.float64)
    strays = [abs(a / b - 1) for a, b in
              zip(trained(task, torch.float32)[1], losses)]
    if max(strays[:10]) > 1e-5 or max(strays) > 1e-4:
        sys.exit(f"generate.py: {task}: the losses of float32 stray by "
                 f"{max(strays[:10])} in ten steps, by {max(strays)} in all")
    save(task, sizes=[*RUNS[task][0], TEXTS, STEPS, WARM_UP], rate=RATE,
         start=start, losses=losses, **after)
    return losses


def table_of_losses(losses):
    """Those of the steps that chapter 21 shows, and draws beside its own."""
    steps = [1, *range(20, len(losses) + 1, 20)]
    return "\n".join([
        "# The losses of a training by PyTorch, in float64. Made by "
        "golden/generate.py.", "step\tloss",
        *[f"{step}\t{losses[step - 1]:.9f}" for step in steps], ""])


def optimizers():
    save_loss("rows", uniform(2002, 5, 7, size=3), [6, 0, 3, 3, 1])
    save_loss("ignored", uniform(2003, 6, 5, size=3),
              [-100, 4, 0, -100, -100, 2])
    save_loss("all_ignored", uniform(2004, 2, 3), [-100, -100])
    save_loss("one_class", uniform(2005, 3, 1), [0, 0, -100])
    save_loss("hundreds", tensor([[0., 200., -3.], [-1000., 30., 31.],
                                  [300., 299., 301.], [-200., -201., -202.]]),
              [0, 0, 2, 1])
    save_loss("ten_thousands", tensor([[1e4, -1e4], [1e4, 9999.]]), [1, 0])
    save_loss("hidden", tensor([[0., -INF, 1.], [-INF, -INF, 2.]]), [2, 2])
    save_loss("batch", uniform(2006, 96, 19, size=4),
              [-100 if i % 3 == 1 else i % 19 for i in range(96)])

    adam, adamw, sgd = (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD)
    save_steps("adam", 2010, adam)
    save_steps("adam_coupled", 2020, adam, lr=0.05, weight_decay=0.3)
    save_steps("adam_small", 2040, adam, size=1e-6)
    save_steps("adam_leaps", 2045, adam, betas=(0.0, 0.5), falls=1e8)
    save_steps("adamw", 2050, adamw)
    save_steps("adamw_decay", 2060, adamw, lr=0.1, weight_decay=0.5,
               betas=(0.8, 0.95))
    save_steps("adamw_long", 2070, adamw, steps=60, count=5, lr=0.02)
    save_steps("sgd", 2080, sgd, lr=0.5)
    save_steps("sgd_momentum", 2090, sgd, lr=0.1, momentum=0.9)
    save_steps("sgd_both", 2110, sgd, lr=0.05, momentum=0.7, weight_decay=0.4)

    for case, count, size, most in [
            ("clipped", 40, 2.0, 1.0), ("short", 9, 0.1, 1.0),
            ("clipped_hard", 17, 100.0, 0.25), ("single", 1, 3.0, 0.5),
            ("not_quite", 6, 1.0, 5.0)]:
        save_clipped(case, uniform(2120 + count, count, size=size), most)
    save_clipped("of_zeros", torch.zeros(4), 2.0)
    save_clipped("tiny", tensor([3e-7, -4e-7]), 1e-7)

    save_rates("rates", 10, 100, 0.02, 0.0)
    save_rates("rates_cold", 0, 7, 0.5, 0.1)
    save_rates("rates_long", 100, 500, 3e-3, 3e-4)


def training():
    for high in 1, 2, 5, 720, 2**28 - 1, 2**28, 2**31 - 1:
        save(f"below_{high}", seeds=SEEDS, high=high, drawn=each_seed(
            lambda r: torch.randint(high, (40,), generator=r)))
    for count in 1, 2, 3, 16, 17, 200:
        save(f"order_{count}", seeds=SEEDS, count=count, drawn=each_seed(
            lambda r: torch.randperm(count, generator=r)))

    # words, length, d_x, d_y, heads, d_k, d_v, bias, bias of the output
    save_model("model", 2201, 2, 5, (7, 6, 3, 6, 2, 4, 2, 1, 1))
    save_model("model_bare", 2202, 3, 4, (5, 4, 4, 4, 3, 2, 5, 0, 0))
    save_model("model_wide", 2203, 2, 3, (9, 8, 2, 6, 1, 3, 4, 0, 1), first=1)
    save_model("model_one", 2204, 1, 2, (4, 2, 3, 3, 2, 2, 3, 1, 0))

    torch.manual_seed(123)
    texts = [*zip(*[repeated() for _ in range(40)])]
    save("texts", **{name: torch.stack(lists) for name, lists in
                     zip(("ids", "asked", "target"), texts)})
    sentences = [*zip(*[agreement(number) for number in range(960)])]
    save("sentences", ids=torch.stack(sentences[0]),
         verbs=torch.stack(sentences[2])[:, -1])

    losses = save_trained("repeated")
    save_trained("agreement")
    return losses


def save_norm(case, n, d, x=None, shift=0.0):
    """A layer norm, and what comes back through it."""
    seed = 2100 + len(made)
    x = uniform(seed, n, d, size=3) + shift if x is None else x
    weight, bias, g_out = (uniform(seed + 1, d, size=2), uniform(seed + 2, d),
                           uniform(seed + 3, n, d))
    given = [wide(it).requires_grad_() for it in (x, weight, bias)]
    with torch.enable_grad():
        out = F.layer_norm(given[0], (d,), *given[1:])
        g_x, g_weight, g_bias = torch.autograd.grad(out, given, wide(g_out))
    save(case, x=x, weight=weight, bias=bias, out=out, g_out=g_out, g_x=g_x,
         g_weight=g_weight, g_bias=g_bias)


def save_gelu(case, x):
    g_out = uniform(2150, *x.shape, size=2)
    given = wide(x).requires_grad_()
    with torch.enable_grad():
        out = F.gelu(given, approximate="tanh")
        g_x, = torch.autograd.grad(out, given, wide(g_out))
    save(case, x=x, gelu=out, g_out=g_out, g_x=g_x)


def drawn_from(shares):
    """The first token where the sum of the shares is above a random part of
    the whole, and how near to another the draw has come."""
    sums = wide(shares).cumsum(-1)
    point = torch.rand(1, dtype=torch.float64) * sums[-1]
    return (torch.searchsorted(sums, point, right=True),
            (sums - point).abs().min() / sums[-1])


def save_draws(case, seed, shares, times=40):
    """What is drawn from each row of shares, again and again."""
    torch.manual_seed(seed)
    places = [torch.cat([drawn_from(row)[0] for row in shares])
              for _ in range(times)]
    save(case, shares=shares, drawn=torch.stack(places), seed=[seed],
         following=torch.rand(1))


def save_mass(case, shares, p):
    """As Hugging Face's TopPLogitsWarper: what adds up to p before a share
    decides whether it goes."""
    ordered, order = shares.sort(descending=True)
    before = wide(ordered).cumsum(-1) - wide(ordered)
    kept = ordered.masked_fill(before >= p, 0)
    save(case, shares=shares, p=p,
         massed=torch.zeros_like(shares).scatter(-1, order, kept))


def save_starts(case, seed, n, texts, batches=5):
    """Where the passages of batches begin, one batch after the other."""
    torch.manual_seed(seed)
    starts = [torch.randint(n, (texts,)) for _ in range(batches)]
    save(case, starts=torch.stack(starts), range=[n], seed=[seed],
         following=torch.rand(1))


def save_repeats(case, seed, n, texts, context):
    """The ids of a batch whose every second text repeats itself, in a text
    of random bytes."""
    text = torch.randint(128, (n + context,), generator=seeded(seed))
    torch.manual_seed(seed)
    ids = []
    for i in range(texts):
        start = torch.randint(n, (1,)).item()
        passage = text[start:start + context + 1]
        if i % 2:
            length = torch.randint(16, 65, (1,)).item()
            if length <= context:
                passage = passage[torch.arange(context + 1) % length]
        ids.append(passage)
    ids = torch.stack(ids)
    save(case, text=text, seed=[seed], ids=ids[:, :-1], targets=ids[:, 1:],
         following=torch.rand(1))


def save_copy(case, text, source):
    """The longest part of a text that a source has, too, and where."""
    found = difflib.SequenceMatcher(None, text, source, False
                                    ).find_longest_match()
    save(case, text=[*text.encode()], source=[*source.encode()],
         copied=[found.size, found.a if found.size else 0])


class GptBlock(torch.nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.norm_1 = torch.nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (
            torch.nn.Linear(width, width) for _ in range(4))
        self.norm_2 = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)
        self.rate = 0.0  # of dropout

    def forward(self, x, kept):
        normed = self.norm_1(x)
        q, k, v = (cut(layer(normed), self.n_heads)
                   for layer in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        attended = F.dropout(self.out(joined(mixed)), self.rate)
        between = x + attended
        normed_2 = self.norm_2(between)
        up = self.up(normed_2)
        active = F.gelu(up, approximate="tanh")
        after = between + F.dropout(self.down(active), self.rate)
        kept.append(dict(between=between, after=after, normed_1=normed,
                         query=joined(q), key=joined(k), value=joined(v),
                         joined=joined(mixed), attended=attended,
                         normed_2=normed_2, up=up, active=active))
        return after


class Gpt(torch.nn.Module):
    """GPT-2, with the roles' three layers apart."""

    def __init__(self, vocabulary, context, width, n_heads, layers,
                 is_tied=True):
        super().__init__()
        self.tokens = torch.nn.Embedding(vocabulary, width)
        self.places = torch.nn.Embedding(context, width)
        self.blocks = torch.nn.ModuleList(
            GptBlock(width, n_heads) for _ in range(layers))
        self.last = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, vocabulary, bias=False)
        if is_tied:
            self.head.weight = self.tokens.weight

    def forward(self, ids):
        kept = []
        x = self.tokens(ids) + self.places.weight[:ids.shape[-1]]
        begin = x
        for block in self.blocks:
            x = block(x, kept)
        last = self.last(x)
        return dict(begin=begin, last=last, logits=self.head(last)), kept

    def loss(self, ids, targets):
        return F.cross_entropy(self(ids)[0]["logits"].flatten(0, -2),
                               targets.flatten())


GPT_SIZES = dict(vocabulary=20, context=8, width=12, n_heads=2, layers=2)


def gpt_drawn(seed, is_tied=True, **sizes):
    """With numbers as GPT-2 begins: one draw after the other, in the order
    in which the parameters stand."""
    model = Gpt(is_tied=is_tied, **{**GPT_SIZES, **sizes})
    deviation = 0.02 / math.sqrt(2 * len(model.blocks))
    torch.manual_seed(seed)
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            p.zero_()
        elif p.dim() == 2:
            p.normal_(0, deviation if ".out." in name or ".down." in name
                      else 0.02)
    return model


def gpt_given(seed, is_tied=True, rate=0.0, **sizes):
    """With numbers that are the same on every machine, and large enough to
    matter."""
    model = Gpt(is_tied=is_tied, **{**GPT_SIZES, **sizes})
    for k, p in enumerate(model.parameters()):
        p.copy_(uniform(seed + k, *p.shape, size=0.7) + (p == 1))
    for block in model.blocks:
        block.rate = rate
    return model


def gpt_sizes(model):
    return [model.tokens.num_embeddings, model.places.num_embeddings,
            model.tokens.embedding_dim, model.blocks[0].n_heads,
            len(model.blocks), model.head.weight is model.tokens.weight]


def gpt_ids(seed, *shape, vocabulary=20):
    return torch.randint(vocabulary, shape, generator=seeded(seed))


def gpt2_named(model):
    """The parameters by the names of GPT-2, whose layers are [in][out], with
    those of the three roles side by side."""
    named = {"wte": model.tokens, "wpe": model.places}
    turned = {}
    for k, block in enumerate(model.blocks):
        roles = block.query, block.key, block.value
        named |= {f"h.{k}.ln_1": block.norm_1, f"h.{k}.ln_2": block.norm_2}
        turned |= {f"h.{k}.attn.c_attn": roles,
                   f"h.{k}.attn.c_proj": [block.out],
                   f"h.{k}.mlp.c_fc": [block.up],
                   f"h.{k}.mlp.c_proj": [block.down]}
    named["ln_f"] = model.last
    tensors = {f"{name}.{what}": p for name, layer in named.items()
               for what, p in layer.named_parameters()}
    for name, layers in turned.items():
        tensors[f"{name}.weight"] = torch.cat([l.weight.T for l in layers], 1)
        tensors[f"{name}.bias"] = torch.cat([l.bias for l in layers])
    return {name: t.detach().contiguous().clone()
            for name, t in tensors.items()}


def save_gpt(case, seed, is_tied, rate=0.0):
    """Every intermediate, the loss, and the gradients of all parameters. Two
    texts shorter than the context."""
    model = gpt_given(seed, is_tied, rate)
    parameters = torch.cat([p.flatten() for p in model.parameters()])
    ids, targets = gpt_ids(seed, 2, 7), gpt_ids(seed + 1, 2, 7)
    model.double()
    torch.manual_seed(seed)
    outer, kept = model(ids)
    if rate:
        save(case, rate=rate, seed=[seed], following=torch.rand(1))
        torch.manual_seed(seed)
    with torch.enable_grad():
        loss = model.loss(ids, targets)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
    save(case, sizes=gpt_sizes(model), parameters=parameters, ids=ids,
         targets=targets, loss=loss.detach(),
         gradient=torch.cat([g.flatten() for g in gradients]), **outer,
         **{what: torch.stack([one[what] for one in kept])
            for what in kept[0]})


def save_gradient(case, seed, is_tied, texts, n):
    """The loss of a batch, and its gradient."""
    model = gpt_given(seed, is_tied)
    parameters = torch.cat([p.flatten() for p in model.parameters()])
    ids, targets = gpt_ids(seed, texts, n), gpt_ids(seed + 1, texts, n)
    model.double()
    with torch.enable_grad():
        loss = model.loss(ids, targets)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
    save(case, sizes=gpt_sizes(model), parameters=parameters, ids=ids,
         targets=targets, loss=loss.detach(),
         gradient=torch.cat([g.flatten() for g in gradients]))


def save_ten_steps(case, seed, rate):
    """The losses of ten steps of AdamW, on batches of four parts, of which
    each drops by a seed of its own. (The parameters are not compared: the
    bias of the keys has no slope, and Adam makes whole steps of what rounding
    leaves of it.)"""
    model = gpt_given(seed, rate=rate).double()
    ids, targets = (gpt_ids(seed + k, 10, 4, 2, 8) for k in (0, 1))
    parameters = torch.cat([p.flatten() for p in model.parameters()])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2,
                                  betas=(0.9, 0.95), weight_decay=0.1)
    losses = []
    with torch.enable_grad():
        for step in range(10):
            optimizer.zero_grad()
            loss = 0
            for part in range(4):
                torch.manual_seed(4 * step + part)
                loss += model.loss(ids[step, part], targets[step, part]) / 4
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    save(case, sizes=gpt_sizes(model), parameters=parameters.float(),
         ids=ids.flatten(1, 2), targets=targets.flatten(1, 2), rate=rate, losses=losses)


def save_written(case, seed, temperature, top_k):
    """What a model writes, token by token, as far as its context reaches. What
    is drawn must not be near another, so that the same model in float32 draws
    it, too."""
    model = gpt_given(seed).double()
    parameters = torch.cat([p.flatten() for p in model.parameters()]).float()
    ids = gpt_ids(seed, 2)
    begin = ids
    torch.manual_seed(seed)
    while len(ids) < GPT_SIZES["context"]:
        logits = model(ids[None])[0]["logits"][0, -1] / temperature
        if top_k:
            logits = logits.masked_fill(logits < logits.topk(top_k)[0][-1],
                                        -INF)
        shares = weights_of(logits)
        token, near = drawn_from(shares)
        assert near > 1e-4, (case, len(ids), near)
        ids = torch.cat([ids, token])
    save(case, sizes=gpt_sizes(model), parameters=parameters, begin=begin,
         ids=ids, seed=[seed], temperature=temperature, top_k=[top_k])


def gpt():
    save_norm("norm_1x2", 1, 2)
    save_norm("norm_5x3", 5, 3)
    save_norm("norm_3x17", 3, 17)
    save_norm("norm_2x768", 2, 768)
    save_norm("norm_far", 4, 9, shift=300.0)
    save_norm("norm_equal", 3, 4, x=tensor([
        [2.0, 2, 2, 2], [0, 0, 0, 0], [1e-3, 0, 0, 1e-3]]))
    save_gelu("gelu_small", uniform(2151, 50, size=4))
    save_gelu("gelu_large", tensor([0.0, -0.0, 1e-6, -1e-6, 5, -5, 8, -8, 12,
                                    -12, 60, -60, 1e4, -1e4, 1e10, -1e10]))
    for case, sizes in [("drawn", {}), ("drawn_odd", dict(
            vocabulary=7, context=3, width=6, n_heads=3, layers=3)),
            ("drawn_small", dict(vocabulary=4, context=3, width=2,
                                 n_heads=1, layers=3))]:
        model = gpt_drawn(42, **sizes)
        save(case, sizes=gpt_sizes(model), seed=[42],
             parameters=torch.cat([p.flatten() for p in model.parameters()]),
             following=torch.rand(1))
    save_gpt("gpt_tied", 2160, True)
    save_gpt("gpt_apart", 2230, False)
    save_gpt("dropped", 2750, True, 0.3)
    # The numbers of gpt_tied once more, under the names that a model's own
    # file has: chapter 23's program can be given this file.
    made.update(gpt2_named(gpt_given(2160)))
    made["n_head"] = tensor(2)
    # Squares that no float holds, and a mean that none can be.
    save_norm("norm_large", 3, 4, x=tensor([
        [1e30, 2e30, 3e30, 4e30], [3e38, 3e38, -3e38, 1],
        [2**24, 2**24 + 2, 2**24 + 4, 2**24 + 6]]))


def language_model():
    for seed, n in [(1, 1), (2, 2), (123, 7), (2021, 128), (2**32 + 5, 300)]:
        shares = torch.rand(3, n, generator=seeded(seed)).square().square()
        save_draws(f"draws_{n}", seed, shares)
    shares = torch.rand(2, 40, generator=seeded(9))
    shares[:, ::3] = 0
    save_draws("draws_zeros", 5, shares * 7)
    for k, (n, p) in enumerate([(1, 0.5), (5, 0.9), (5, 0.3), (40, 0.75),
                                (40, 0.05), (40, 1.0)]):
        save_mass(f"mass_{n}_{k}", weights_of(uniform(2190 + k, n, size=4)), p)
    save_mass("mass_equal", tensor([0.1875, 0.125, 0.375, 0.125, 0.1875]), 0.7)
    save_mass("mass_zeros", tensor([0.25, 0, 0.5, 0.125, 0, 0.125]), 0.75)
    for seed, n, texts in [(3, 1, 2), (4, 2, 3), (123, 37, 1),
                           (2**31, 9000, 4)]:
        save_starts(f"starts_{n}", seed, n, texts)
    for case, seed, context in [("long", 7, 128), ("short", 36, 40),
                                ("shorter", 9, 15), ("exact", 17, 16),
                                ("ends", 17, 128)]:
        save_repeats(f"repeats_{case}", seed, 300, 6, context)
    for case, text, source in [
            ("none", "abc", "def"), ("all", "abc", "abc"),
            ("one", "a", "bab"), ("end", "xyab", "cab"),
            ("first", "ab-cd-ab", "cd ab"), ("begun", "aab", "aaab"),
            ("more", "ab", "abcd"),
            ("long", "the cat sat on the mat", "a cat sat on a mat")]:
        save_copy(f"copy_{case}", text, source)
    save_gradient("gradient_one", 2810, True, 1, 1)
    save_gradient("gradient_tied", 2820, True, 3, 5)
    save_gradient("gradient_apart", 2830, False, 2, 8)
    save_ten_steps("steps_plain", 2300, 0.0)
    save_ten_steps("steps_dropped", 2700, 0.1)
    save_written("written_plain", 2380, 1.0, 0)
    save_written("written_cold", 2480, 0.5, 0)
    save_written("written_few", 2580, 1.5, 3)


def save_weight_back(case, seed, n, start, back):
    weights = weights_of(uniform(seed, n, n, size=3))
    save(case, weights=weights, start=[start], back=[back],
         mean=weights.double().diagonal(-back)[start - back:].mean())


def heads_twice(model, ids):
    """Of each head the mean weight on the token before, and, in the second
    half, on what followed at the same point of the first; the losses of both
    halves; and the mean weight on the token itself, one back, two back ..."""
    half = ids.shape[-1] // 2
    outer, kept = model(ids)
    scores, backs = [], []
    for block, one in zip(model.blocks, kept):
        q, k = (cut(one[what], block.n_heads) for what in ("query", "key"))
        weights = torch.softmax((q @ k.mT / q.shape[-1]**0.5).masked_fill(
            torch.ones(len(ids[0]), len(ids[0])).triu(1).bool(), -torch.inf), -1)
        scores.append(torch.stack([
            weights.diagonal(-1, -2, -1).mean((0, -1)),
            weights.diagonal(1 - half, -2, -1)[..., 1:].mean((0, -1))], -1))
        backs.append(torch.stack([weights.diagonal(-b, -2, -1).mean((0, -1))
                                  for b in range(2 * half)], -1))
    losses = [F.cross_entropy(part[:, :-1].flatten(0, 1), right[:, 1:].flatten())
              for part, right in zip(outer["logits"].split(half, 1),
                                     ids.split(half, 1))]
    return torch.cat(scores), torch.stack(losses), torch.cat(backs)


def all_heads(model, ids):
    """A model's heads as they are, and with each of them switched off by
    zeros in the columns of its output layer."""
    scores, loss, backs = heads_twice(model, ids)
    off = []
    for block in model.blocks:
        for columns in block.out.weight.chunk(block.n_heads, 1):
            before = columns.clone()
            columns.zero_()
            others, loss_off, _ = heads_twice(model, ids)
            others = torch.cat([others[:len(off)], others[len(off) + 1:]])
            off.append([loss_off[1], others[:, 1].max() if len(others) else 0])
            columns.copy_(before)
    return dict(loss=loss, weights=scores, backs=backs,
                scores=torch.cat([scores, tensor(off)], 1))


def save_twice(case, seed, texts, half, ids_seed=None, **sizes):
    model = gpt_given(seed, **sizes)
    parameters = torch.cat([p.flatten() for p in model.parameters()])
    ids = gpt_ids(ids_seed or seed, texts, half,
                  vocabulary=model.tokens.num_embeddings).repeat(1, 2)
    save(case, sizes=gpt_sizes(model), parameters=parameters, ids=ids,
         **all_heads(model.double(), ids))


def inside():
    for case, n, start, back in [("before", 6, 1, 1), ("itself", 5, 0, 0),
                                 ("later", 7, 4, 2), ("last", 4, 3, 3),
                                 ("after", 8, 4, 3), ("one", 1, 0, 0)]:
        save_weight_back(f"back_{case}", 3100 + n, n, start, back)
    save_twice("heads_apart", 3300, 2, 3, is_tied=False)
    save_twice("heads_one", 3400, 1, 3, n_heads=1, layers=1)
    save_twice("heads_three", 3500, 2, 4, vocabulary=5, width=6, n_heads=3,
               layers=3)
    # What the program says of the model in 22_gpt.safetensors.
    save_twice("heads_program", 2160, 2, 4, ids_seed=123)
    for case, seed, vocabulary, half in [("random", 123, 1000, 30),
                                         ("few", 5, 3, 3)]:
        torch.manual_seed(seed)
        ids = torch.randint(vocabulary, (4, half)).repeat(1, 2)
        save(f"twice_{case}", vocabulary=[vocabulary], seed=[seed], ids=ids,
             following=torch.rand(1))


def save_pairs(case, text, merges, other):
    """What byte-pair encoding learns from a text: the most frequent pairs,
    how often each stood there, what became of the text, and of another."""
    tokens, pairs, counts = [*text], [], []
    for k in range(merges):
        found = Counter(zip(tokens, tokens[1:]))
        pair = max(found, key=found.get, default=None)
        if not found or found[pair] < 2:
            break
        pairs.append(pair)
        counts.append(found[pair])
        tokens = put_together(tokens, pair, 256 + k)
    encoded = [*other]
    for k, pair in enumerate(pairs):
        encoded = put_together(encoded, pair, 256 + k)
    save(case, text=[*text], merges=merges, pairs=torch.tensor(
        pairs, dtype=torch.int64).reshape(-1, 2), counts=counts,
         merged=tokens, other=[*other], encoded=encoded)


def put_together(tokens, pair, whole):
    """One token for each such pair."""
    rest, left = iter(tokens), []
    for token in rest:
        if left and (left[-1], token) == pair:
            left[-1] = whole
        else:
            left.append(token)
    return left


def gpt2():
    shoes = b"a shiny sun and a shiny shoe: shiny shoes shine in the sun"
    save_pairs("pairs_shoes", shoes, 8, b"a shinyish sunshine")
    save_pairs("pairs_banana", b"banana bandana", 3, b"ban")
    save_pairs("pairs_aaa", b"aaaaaaabaaa", 5, b"aaaaaaaaa")
    save_pairs("pairs_all", b"abcabcabc", 9, b"abab cabc")
    save_pairs("pairs_bytes", bytes([0, 255, 0, 255, 128, 0, 255]), 2,
               bytes([255, 0, 255, 0, 0]))
    many = Random(2016)
    save_pairs("pairs_many", bytes(many.choice(b"abcd ") for _ in range(600)),
               60, bytes(many.choice(b"abcd e") for _ in range(200)))


CHAPTERS = {
    "01_dot_product": dot_product,
    "02_softmax": softmax,
    "03_qkv": qkv,
    "04_scaling": scaling,
    "05_tokens": tokens,
    "06_learning": learning,
    "07_self_attention": self_attention,
    "08_cross_attention": cross_attention,
    "09_causal_mask": causal_mask,
    "10_dropout": dropout,
    "11_causal_attention": causal_attention,
    "12_heads": heads,
    "13_multi_head": multi_head,
    "14_flash": flash,
    "15_kernel": kernel,
    "16_kv_cache": kv_cache,
    "17_positions": positions,
    "18_backward": backward,
    "19_flash_backward": flash_backward,
    "20_optimizers": optimizers,
    "21_training": training,
    "22_gpt": gpt,
    "23_language_model": language_model,
    "24_inside": inside,
    "25_gpt2": gpt2,
    "B_random": random,
    "C_sheet": sheet,
    "D_mkl": mkl,
    "attend": attend_fast,
    "backward": attend_backward,
    "layers": layers,
}


def versions(name):
    """What a chapter's data is made with, in words; tests/golden.t compares
    them with what is pinned. What is pinned for some machines only is MKL."""
    pinned = [(line.split("==")[0], ";" in line) for line in
              (HERE / "requirements.txt").read_text().splitlines()]
    names = [package for package, is_mkl in pinned
             if package not in gpt2_tokens.MADE_WITH
             and (not is_mkl or name == "D_mkl")]
    return ", ".join([f"{name} {version(name).split('+')[0]}" for name in names]
                     + [f"python {platform.python_version()}"])


def main():
    if len(sys.argv) > 2 or sys.argv[1:] and sys.argv[1].startswith("-"):
        sys.exit("usage: python golden/generate.py [FOLDER]")
    folder = Path(sys.argv[1]) if sys.argv[1:] else HERE
    folder.mkdir(parents=True, exist_ok=True)
    sums, count = {}, 0
    for name, make in CHAPTERS.items():
        made.clear()
        file = f"{name}.safetensors"
        if name == "D_mkl" and not has_mkl():
            print(f"{file} is left out: there is no MKL for this machine",
                  file=sys.stderr)
            data = (HERE / file).read_bytes()
            made.update(safetensors.torch.load(data))
        else:
            losses = make()
            if name == "21_training":
                table = table_of_losses(losses).encode()
                (folder / f"{name}.tsv").write_bytes(table)
                sums[f"{name}.tsv"] = hashlib.sha256(table).hexdigest()
            # One entry: safetensors writes several in another order each time.
            data = safetensors.torch.save(made, metadata={
                "made": f"by golden/generate.py with {versions(name)}"})
        (folder / file).write_bytes(data)
        sums[file] = hashlib.sha256(data).hexdigest()
        count += len(made)
    for file in gpt2_tokens.write(folder):
        sums[file] = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text("".join(
        f"{sums[name]}  {name}\n" for name in sorted(sums)))
    print(f"{count} tensors in {len(CHAPTERS)} files in {folder}")


if __name__ == "__main__":
    main()
