/*
# A batch is a loop {#causal-attention}

![The way from words to attention. This chapter puts the shaded steps
together](pipeline.svg){#fig-causal-attention-pipeline}

Every step of a head is written: the three roles, scores, their division,
the mask, softmax, dropout, the mixture. Each has been shown by itself, on
one sentence. A model does all of them in one go, and learns from many
sentences at a time, a **batch**. In a program for PyTorch that looks like a
great change. Tables become arrays with three dimensions, `keys.T` becomes
`keys.transpose(1, 2)`, and the shapes are printed to make sure. In C one
sees what it is. A batch is a loop around what we have, and the weights
stand outside of it.
*/

#include "attention.h"

/*
## The steps, in order

A trace of [](#self-attention) has room for everything from queries to
context vectors. Dropout adds two tables to it: which weights are kept, and
what becomes of them.
*/

void causal_trace_init(CausalTrace *t, int n, int d_k, int d_v)
{
    trace_init(&t->head, n, n, d_k, d_v);
    t->kept = new_table(n, n);
    t->dropped = new_table(n, n);
}

void causal_trace_free(CausalTrace *t)
{
    trace_free(&t->head);
    free(t->kept);
    free(t->dropped);
}

/*
Given queries, keys and values, there is one right order for the rest. The
mask comes before softmax, so that the shares of what is left add up to one
([](#causal-mask)). Dropout comes after it, so that the survivors do not
share what was dropped ([](#dropout)). And it is what dropout has left that
mixes the values.

Dropout needs random numbers, and only while the model is trained. So the
function takes a generator, and where there is none, it drops nothing.

**Exercise 11.1** (★★, 3 points): `causal_trace_attention`. From the
queries, keys and values of a trace: scores, weights, which of them are
kept, what dropout makes of them, context. If `r` is `NULL`, nothing is
dropped, whatever `p` is.

::: hint
All seven steps are functions of earlier chapters, one call each.
:::

::: hint
A rate of 0 keeps everything, and draws nothing from the generator.
:::

::: hint
`weights` stays as softmax has made it. What is the left factor of the last
product?
:::
*/

void causal_trace_attention(CausalTrace *t, double p, Random *r)
{
    Trace *h = &t->head;
    const int n = h->n;
    const double rate = r ? p : 0;
    dot_scores(n, n, h->d_k, h->query, h->key, h->scores);
    scale_scores(n, n, h->d_k, h->scores);
    mask_scores(n, n, 0, h->scores);
    softmax_rows(n, n, h->scores, h->weights);
    dropout_mask(r, rate, n, n, t->kept);
    dropout_apply(rate, n, n, t->kept, h->weights, t->dropped);
    matmul(n, h->d_v, n, t->dropped, h->value, h->context);
}

/*
## One object {#causal-attention-object}

Around that we put the three linear layers of [](#self-attention), the rate,
and one number more: the **context length**, the most tokens that a sentence
may have. Models are made for a certain length. For this chapter's functions
alone it would not be needed, as we shall see; but a model that has been
trained on sentences up to that length knows nothing about longer ones.
*/

void causal_attention_init(CausalAttention *c, Random *r, int d_in,
                           int d_out, int context_length, double p,
                           int has_bias)
{
    dropout_must_fit(p);
    if (context_length < 1)
        REFUSE("a context length of %d: at least 1 is needed",
               context_length);
    c->context_length = context_length;
    c->p = p;
    linear_init(&c->query, r, d_in, d_out, has_bias);
    linear_init(&c->key, r, d_in, d_out, has_bias);
    linear_init(&c->value, r, d_in, d_out, has_bias);
}

void causal_attention_free(CausalAttention *c)
{
    linear_free(&c->query);
    linear_free(&c->key);
    linear_free(&c->value);
}

/*
**Exercise 11.2** (★★, 3 points): `causal_attention_forward`. A sentence of
`n` tokens, from its embeddings to its context vectors. It refuses more
tokens than the context length, and a trace that was made for other sizes.

::: hint
`trace_must_fit` does the second refusal. Its sizes are `n`, `n` and the
sizes of a query and of a value.
:::

::: hint
Three calls of `linear_forward`, one of `causal_trace_attention`.
:::
*/

void causal_attention_forward(const CausalAttention *c, Random *r, int n,
                              const float x[n][c->query.d_in],
                              CausalTrace *t)
{
    if (n > c->context_length)
        REFUSE("a sentence of %d tokens: at most %d, the context length, "
               "are possible",
               n, c->context_length);
    roles_must_fit(&c->query, &c->key, &c->value);
    trace_must_fit(&t->head, n, n, c->query.d_out, c->value.d_out);
    linear_forward(&c->query, n, x, t->head.query);
    linear_forward(&c->key, n, x, t->head.key);
    linear_forward(&c->value, n, x, t->head.value);
    causal_trace_attention(t, c->p, r);
}

/*
And a batch is the loop that the title promises. The object stands outside
of it, so that all sentences meet the same weights. The sentence changes,
and its trace. The generator goes on from one sentence to the next, if there
is one.
*/

void causal_attention_batch(const CausalAttention *c, Random *r, int batch,
                            int n, const float x[batch][n][c->query.d_in],
                            CausalTrace trace[batch])
{
    for (int b = 0; b < batch; b++)
        causal_attention_forward(c, r, n, x[b], &trace[b]);
}

/*
## Two sentences {#causal-attention-sentences}

A German page on attention has this class in Python, taken from the notebook
of a book, and a program that runs it [@hacktricks; @raschka2024book]. Its
batch is the sentence *Your journey starts with one step*, twice. Somewhere
on its way the page has lost what the program prints. Here it is.
*/

enum { BATCH = 2, N = 6, D_IN = 3, D_OUT = 2 };

static const float journey[N][D_IN] = {
    {0.43f, 0.15f, 0.89f}, /* Your */
    {0.55f, 0.87f, 0.66f}, /* journey */
    {0.57f, 0.85f, 0.64f}, /* starts */
    {0.22f, 0.58f, 0.33f}, /* with */
    {0.77f, 0.25f, 0.10f}, /* one */
    {0.05f, 0.80f, 0.55f}, /* step */
};

static void forward_batch(const CausalAttention *c, Random *r,
                          const float x[BATCH][N][D_IN],
                          float context[BATCH][N][D_OUT])
{
    CausalTrace t[BATCH];
    for (int b = 0; b < BATCH; b++)
        causal_trace_init(&t[b], N, D_OUT, D_OUT);
    causal_attention_batch(c, r, BATCH, N, x, t);
    for (int b = 0; b < BATCH; b++) {
        memcpy(context[b], t[b].head.context, sizeof context[b]);
        causal_trace_free(&t[b]);
    }
}

/*
The class in the program is called with a rate of 0, without a bias, and
with as many tokens for the context length as the sentence has. We run it
so, and with other numbers of our own.
*/

static void print_batch(const char *label,
                        const float context[BATCH][N][D_OUT])
{
    printf("%s: torch.Size([%d, %d, %d])\n", label, BATCH, N, D_OUT);
    print_matrix("first sentence", N, D_OUT, context[0]);
    print_matrix("second sentence", N, D_OUT, context[1]);
}

static void run_program(double p, int has_bias, int context_length,
                        float context[BATCH][N][D_OUT])
{
    Random r;
    CausalAttention c;
    float batch[BATCH][N][D_IN];
    memcpy(batch[0], journey, sizeof journey);
    memcpy(batch[1], journey, sizeof journey);
    random_seed(&r, 123);
    causal_attention_init(&c, &r, D_IN, D_OUT, context_length, p, has_bias);
    forward_batch(&c, &r, batch, context);
    causal_attention_free(&c);
}

static void show_program(void)
{
    float context[BATCH][N][D_OUT];
    run_program(0, 0, N, context);
    print_batch("context_vecs.shape", context);
    run_program(0.5, 0, N, context);
    print_batch("with a dropout of one half", context);
    run_program(0, 1, N, context);
    print_matrix("with a bias, first sentence", N, D_OUT, context[0]);
}

/*
::: question
The two sentences are the same. Will their context vectors be the same, too?
And with a dropout of one half?

Without dropout they are: the same weights, the same words. With dropout
they are not. The lots of the second sentence are drawn after those of the
first.
:::

``` output
context_vecs.shape: torch.Size([2, 6, 2])
first sentence (6, 2)
[[-0.4519,  0.2216],
 [-0.5874,  0.0058],
 [-0.6300, -0.0632],
 [-0.5675, -0.0843],
 [-0.5526, -0.0981],
 [-0.5299, -0.1081]]
second sentence (6, 2)
[[-0.4519,  0.2216],
 [-0.5874,  0.0058],
 [-0.6300, -0.0632],
 [-0.5675, -0.0843],
 [-0.5526, -0.0981],
 [-0.5299, -0.1081]]
```

::: aside
In the program, $b$ is called the number of batches, and the second size the
tokens per batch [@hacktricks]. A batch is the whole bundle. What is meant
is the number of sentences in the batch, and of tokens in a sentence.
:::

The rate was 0, as in the program. With one half:

``` output
with a dropout of one half: torch.Size([2, 6, 2])
first sentence (6, 2)
[[-0.9038,  0.4432],
 [-0.4368,  0.2142],
 [-0.4849, -0.1341],
 [-0.5834,  0.0081],
 [-0.6219, -0.0526],
 [-0.1417, -0.0505]]
second sentence (6, 2)
[[ 0.0000,  0.0000],
 [-1.1749,  0.0116],
 [-0.7733,  0.0073],
 [-0.9140, -0.2769],
 [-0.7679, -0.0735],
 [-0.6749, -0.0984]]
```

In the second sentence, the context vector of *Your* is zero. *Your* sees
only itself, and that was dropped. Where it is kept, in the first sentence,
it is doubled. To get the same numbers as PyTorch, which draws the
lots for the whole batch at once, it is enough to let the generator go on
from sentence to sentence.

With a bias, the layers draw more numbers than before. The queries' bias
comes after the queries' weight, and so the weights of keys and values are
different from those without.

``` output
with a bias, first sentence (6, 2)
[[-0.0960,  0.7940],
 [ 0.0285,  0.9387],
 [ 0.0657,  0.9850],
 [ 0.1062,  0.9604],
 [ 0.0659,  0.9308],
 [ 0.1188,  0.9375]]
```

## Room to spare {#causal-attention-room}

PyTorch's class has a table for the mask. It is made once, for the longest
sentence, and for a shorter one its upper left corner is cut out. How large
is it for a context length of 1,024?
*/

static float largest_difference(const float a[BATCH][N][D_OUT],
                                const float b[BATCH][N][D_OUT])
{
    float largest = 0;
    for (int k = 0; k < BATCH; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < D_OUT; j++)
                largest = fmaxf(largest, fabsf(a[k][i][j] - b[k][i][j]));
    return largest;
}

static int size_of(const Linear *l)
{
    return l->d_in * l->d_out + (l->bias ? l->d_out : 0);
}

static void show_room(void)
{
    Random r;
    CausalAttention c;
    random_seed(&r, 123);
    causal_attention_init(&c, &r, D_IN, D_OUT, 1024, 0, 0);
    printf("numbers to be trained: %d\n",
           size_of(&c.query) + size_of(&c.key) + size_of(&c.value));
    printf("numbers in PyTorch's mask: %d\n",
           c.context_length * c.context_length);

    causal_attention_free(&c);
}

/*
``` output
numbers to be trained: 18
numbers in PyTorch's mask: 1048576

```

The mask is no parameter. Training must not change it, and nobody wants to
learn it. But it is part of the object, and must be wherever the object is,
for instance in the memory of the processor that computes with it. PyTorch
has a word for such a table, a **buffer**, and the class says
`self.register_buffer('mask', ...)`. Had it said `nn.Parameter`, training
would have a million numbers more to improve.

Our object has no such table. `mask_scores` compares two row numbers, which
is quicker than to read a table, and needs no memory. All that is left of
the buffer is its size, and with it the refusal. Without that, a longer
sentence would get some answer or other. PyTorch would refuse too, though
not in so many words: the corner that it cuts out would be too small, and it
would say that two sizes do not match.

## Equal sentences hide mistakes

Two equal sentences are convenient to look at, and a bad test. Here is a
loop that is wrong: it takes the first sentence for all of them. We let it
run, once with the same sentence twice and once with *Life is short, eat
dessert first* as the second, and look for the largest difference from what
is right.
*/

static void wrong_batch(const CausalAttention *c,
                        const float x[BATCH][N][D_IN],
                        float context[BATCH][N][D_OUT])
{
    CausalTrace t;
    causal_trace_init(&t, N, D_OUT, D_OUT);
    for (int b = 0; b < BATCH; b++) {
        causal_attention_forward(c, NULL, N, x[0], &t);
        memcpy(context[b], t.head.context, sizeof context[b]);
    }
    causal_trace_free(&t);
}

static void show_mistake(void)
{
    Random r;
    CausalAttention c;
    float life[N][D_IN], same[BATCH][N][D_IN], different[BATCH][N][D_IN];
    float taken[BATCH][N][D_OUT], context[BATCH][N][D_OUT], errors[2];
    life_is_short(life);
    for (int b = 0; b < BATCH; b++)
        memcpy(same[b], journey, sizeof journey);
    memcpy(different[0], journey, sizeof journey);
    memcpy(different[1], life, sizeof life);
    random_seed(&r, 123);
    causal_attention_init(&c, &r, D_IN, D_OUT, N, 0, 0);
    wrong_batch(&c, same, taken);
    forward_batch(&c, NULL, same, context);
    errors[0] = largest_difference(taken, context);
    wrong_batch(&c, different, taken);
    forward_batch(&c, NULL, different, context);
    errors[1] = largest_difference(taken, context);
    print_vector("largest error, equal sentences and different ones", 2,
                 errors);
    print_matrix("what is right for the second, when different", N, D_OUT,
                 context[1]);
    causal_attention_free(&c);
}

static void draw_batch(void)
{
    const Block block[] = {
        {"Your journey ...", N, D_IN, 1, "·"},
        {"W_query", D_IN, D_OUT, 1, "="},
        {"its queries", N, D_OUT, 1, NULL},
        {"Life is short ...", N, D_IN, 1, "·"},
        {"W_query", D_IN, D_OUT, 1, "="},
        {"its queries", N, D_OUT, 1, NULL},
    };
    blocks("batch", "Two sentences, one set of weights", 6, block);
}

/*
``` output
largest error, equal sentences and different ones (2)
[0.0000, 0.7045]
what is right for the second, when different (6, 2)
[[-0.0387, -0.0747],
 [-0.5033, -0.4115],
 [-0.2284, -0.3644],
 [-0.1874, -0.1532],
 [-0.1420, -0.1001],
 [ 0.1746, -0.3157]]
```

With equal sentences there is nothing to be seen. Nor would one see it if
the answers came in the wrong order. That is why the tests of this chapter
use different ones. The first sentence, by the way, comes out the same in
both batches: what stands beside a sentence has no influence on it.

![Two sentences, one set of weights: each goes through the same
matrices](batch.svg){#fig-batch}

## Sentences of different length

A loop need not mind if its sentences have different lengths, since each
call of `causal_attention_forward` has an `n` of its own. An array must be
rectangular. So in PyTorch, and for our `causal_attention_batch`, shorter
sentences are filled up with tokens that mean nothing, **padding**.
These must not be attended to. One might think that padding with zeros takes
care of it. It does not. A key of zeros has the score 0, and $e^0$ is 1,
which gets its share like any other score.

We take four words of *journey*'s sentence and two rows of zeros, and look
at how far the context vectors of the four words are from those without
padding.
*/

static void context_of(const CausalAttention *c, int n,
                       const float x[n][D_IN], const float mask[n][n],
                       Trace *t)
{
    linear_forward(&c->query, n, x, t->query);
    linear_forward(&c->key, n, x, t->key);
    linear_forward(&c->value, n, x, t->value);
    dot_scores(n, n, D_OUT, t->query, t->key, t->scores);
    scale_scores(n, n, D_OUT, t->scores);
    mask_where(n, n, mask, t->scores);
    softmax_rows(n, n, t->scores, t->weights);
    matmul(n, D_OUT, n, t->weights, t->value, t->context);
}

static void make_mask(int n, int is_causal, float mask[n][n])
{
    /* With first = n, even the first query sees all keys. */
    causal_mask(n, n, is_causal ? 0 : n, mask);
}

/* The words stand at rows `start` to `start` + 3 of the padded sentence. */
static float padding_error(const CausalAttention *c, int is_causal,
                           int start, int is_hidden)
{
    enum { WORDS = 4 };
    float padded[N][D_IN] = {{0}}, mask[N][N], few[WORDS][WORDS];
    float largest = 0;
    Trace t, right;
    trace_init(&t, N, N, D_OUT, D_OUT);
    trace_init(&right, WORDS, WORDS, D_OUT, D_OUT);
    memcpy(padded[start], journey, WORDS * sizeof *journey);
    make_mask(N, is_causal, mask);
    for (int i = 0; i < N; i++)
        for (int j = 0; is_hidden && j < N; j++)
            if (j < start || j >= start + WORDS)
                mask[i][j] = 0;
    context_of(c, N, padded, mask, &t);
    make_mask(WORDS, is_causal, few);
    context_of(c, WORDS, journey, few, &right);
    const float(*got)[D_OUT] = t.context, (*expect)[D_OUT] = right.context;
    for (int i = 0; i < WORDS; i++)
        for (int j = 0; j < D_OUT; j++)
            largest =
                fmaxf(largest, fabsf(got[start + i][j] - expect[i][j]));
    trace_free(&t);
    trace_free(&right);
    return largest;
}

static void show_padding(void)
{
    Random r;
    CausalAttention c;
    float errors[2][2];
    random_seed(&r, 123);
    causal_attention_init(&c, &r, D_IN, D_OUT, N, 0, 0);
    for (int is_hidden = 0; is_hidden < 2; is_hidden++) {
        puts(is_hidden ? "padding hidden" : "padding seen");
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                errors[i][j] = padding_error(&c, i, 2 * j, is_hidden);
        print_matrix("    all seen or causal, padding behind or in front",
                     2, 2, errors);
    }
    causal_attention_free(&c);
}

/*
``` output
padding seen
    all seen or causal, padding behind or in front (2, 2)
[[0.1819, 0.1819],
 [0.0000, 0.2784]]
padding hidden
    all seen or causal, padding behind or in front (2, 2)
[[0.0000, 0.0000],
 [0.0000, 0.0000]]
```

The rows are attention without and with the causal mask, the columns padding
behind the words and in front of them. (Without a mask both are alike, since
order does not matter then.) One of the four is right without any
help. Where a word sees nothing that comes after it, padding behind it might
as well not be there. So a language model can be trained with padding at the
end and no mask for it. In the other three cases the scores of the padding
must be set to minus infinity, as those of the future are.
`mask_where` does it, with a mask whose columns are 0 where the padding is.

What the padding itself gets for context vectors is of no use to anyone.
With the causal mask, padding in front has nothing left to see that is not
hidden, and its rows are `nan`. They may be ignored, but must not be mixed
with anything.

## Everything together
*/

int main(void)
{
    pipeline("pipeline", "roles scores scale mask weights dropout context");
    show_program();
    show_room();
    show_mistake();
    draw_batch();
    show_padding();
    return 0;
}

/*
The same in PyTorch, with the class in our words:

``` python
import torch
from torch import nn
import torch.nn.functional as F

class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, p, bias=False):
        super().__init__()
        self.query = nn.Linear(d_in, d_out, bias)
        self.key = nn.Linear(d_in, d_out, bias)
        self.value = nn.Linear(d_in, d_out, bias)
        self.dropout = nn.Dropout(p)
        future = torch.ones(context_length, context_length).triu(1).bool()
        self.register_buffer('future', future)

    def forward(self, x):
        n = x.shape[1]
        scores = self.query(x) @ self.key(x).transpose(1, 2)
        scores.masked_fill_(self.future[:n, :n], -torch.inf)
        weights = F.softmax(scores / self.key.out_features**0.5, dim=-1)
        return self.dropout(weights) @ self.value(x)

journey = torch.tensor([[0.43, 0.15, 0.89],   # Your
                        [0.55, 0.87, 0.66],   # journey
                        [0.57, 0.85, 0.64],   # starts
                        [0.22, 0.58, 0.33],   # with
                        [0.77, 0.25, 0.10],   # one
                        [0.05, 0.80, 0.55]])  # step
batch = torch.stack([journey, journey])
for p in 0.0, 0.5:
    torch.manual_seed(123)
    for context in CausalAttention(3, 2, context_length=6, p=p)(batch):
        print(context)
torch.manual_seed(123)
biased = CausalAttention(3, 2, context_length=1024, p=0.0, bias=True)
print(biased(batch)[0])
```

`@` multiplies the last two dimensions and repeats that for every sentence:
there is the loop. `transpose(1, 2)` exchanges rows and columns of each
sentence, counting the dimensions from 0. And
`F.scaled_dot_product_attention` with `is_causal=True` and `dropout_p` is
our `causal_trace_attention`.

So far a word asks one question. A model wants to ask several at a time.

## Further exercises

**Exercise 11.3** (★★, challenge, 3 points): `mask_padding`. Some of `m`
keys are words, and the others padding. Hide the padding in a mask that may
hide other things already, in place.

::: hint
A column of the mask belongs to a key.
:::

**Exercise 11.4** (by hand): A batch has sentences of 3, 6 and 1 tokens,
padded to the longest. How many scores does PyTorch compute for it, how many
does a loop with lengths of its own compute, and how many of the latter does
the causal mask leave?

**Exercise 11.5** (by hand): Somebody puts the dropout before softmax, and
sets the dropped scores to minus infinity. What are the row sums then, and
what happens to the first row?

## Solutions

::: {.solution exercise="11.3"}
*/

void mask_padding(int n, int m, const int is_word[m], float mask[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (!is_word[j])
                mask[i][j] = 0;
}

/*
`mask_where` then does the rest. In PyTorch one finds the same list with the
opposite meaning, as `key_padding_mask`, which is true for padding.
:::

::: {.solution exercise="11.4"}
PyTorch computes 6 times 6 for each of the three, the loop 3 times 3, 6
times 6, and 1. Of these, the causal mask leaves 1 + 2 + 3 in the first
sentence, 1 + 2 + 3 + 4 + 5 + 6 in the second, and 1 in the last.
:::

::: {.solution exercise="11.5"}
All row sums are 1, because softmax comes last, so that the survivors share
what the dropped ones have lost. The first word sees only itself. If its one
score is dropped, the row has nothing left, and is `nan`.
:::
*/
