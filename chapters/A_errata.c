/*
# Errata: if your tutorial disagrees {#errata}

Five tutorials have lent this book their examples, and each explains
something better than the others do. Each also has its slips, as any text
has. Here are those that we have found: what is said, what was probably
meant, and a computation, or a line of the author's own, that settles it.

These lead to another number, or to a program that stops: [A.1](#errata-1),
[A.2](#errata-2), [A.3](#errata-3), [A.11](#errata-11) to
[A.16](#errata-16), [A.19](#errata-19), [A.22](#errata-22),
[A.28](#errata-28), [A.30](#errata-30), [A.31](#errata-31) and
[A.32](#errata-32). The others are about words, reasons and limits. Where a
sentence and a program of one author disagree, the program is mostly right,
for it has been run.

The errata were counted anew for the third edition. Translations are ours.
If you find a slip of our own, `CONTRIBUTING.md` says how to tell us.
*/

#include "attention.h"

static const float hello[3][3] = {
    {0.34f, 0.22f, 0.54f}, /* Hello */
    {0.53f, 0.34f, 0.98f}, /* shiny */
    {0.29f, 0.54f, 0.93f}, /* sun */
};

/*
## HackTricks {#errata-hacktricks}

A page in English, which we read in German [@hacktricks]. It works a context
vector by hand, and has three classes from the notebook of Raschka's book
[@raschka2024book], all of them right.

### A.1 The context vector of *shiny* {#errata-1}

The page arrives at [0.3992, 0.3858, 0.8610]{.quoted}. Its method is that of
[](#softmax), and right; only two products are slips of the pen. From the
others one can tell that it took the weights to be 0.2291, 0.4064 and
0.3645. First without rounding, then with these weights:
*/

/* folded: how this is printed */
static void show_shiny(void)
{
    const float rounded[3] = {0.2291f, 0.4064f, 0.3645f};
    float scores[3], weights[3], context[3], product[3][3];
    attend_one(3, 3, 3, hello[1], hello, hello, scores, weights, context);
    print_vector("weights of shiny", 3, weights);
    print_vector("context vector of shiny", 3, context);
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
            product[j][k] = rounded[j] * hello[j][k];
    print_vector("weights as the page took them", 3, rounded);
    print_matrix("products for these, a word a row", 3, 3, product);
    weighted_sum(3, 3, rounded, hello, context);
    print_vector("their sums", 3, context);
}

/*
``` output
weights of shiny (3)
[0.2291, 0.4063, 0.3646]
context vector of shiny (3)
[0.3990, 0.3854, 0.8610]
weights as the page took them (3)
[0.2291, 0.4064, 0.3645]
products for these, a word a row (3, 3)
[[0.0779, 0.0504, 0.1237],
 [0.2154, 0.1382, 0.3983],
 [0.1057, 0.1968, 0.3390]]
their sums (3)
[0.3990, 0.3854, 0.8610]
```

The page has [0.2156]{.quoted} for 0.2154, and [0.1972]{.quoted} for 0.1968.
Its [0.1382]{.quoted}, [0.3983]{.quoted} and [0.3390]{.quoted} are right for
its weights, of which the last two are off by one in the fourth digit. That
alone does no harm.

### A.2 Zero times minus infinity {#errata-2}

To hide the words that come later, a short program multiplies a mask of
zeros and ones by minus infinity, and adds it to the scores. Where the mask
is 0, this was meant to change nothing. But 0 times infinity is no number at
all, and softmax spreads it over the whole row:
*/

/* folded: how this is printed */
static void show_mask(void)
{
    float scores[3][3], added[3][3], weights[3][3];
    dot_scores(3, 3, 3, hello, hello, scores);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            added[i][j] = scores[i][j] + (float)(j > i) * -INFINITY;
    print_matrix("scores with the product added", 3, 3, added);
    softmax_rows(3, 3, added, weights);
    print_matrix("weights from these", 3, 3, weights);
    mask_scores(3, scores);
    softmax_rows(3, 3, scores, weights);
    print_matrix("weights when minus infinity is filled in", 3, 3, weights);
}

/*
``` output
scores with the product added (3, 3)
[[ nan, -inf, -inf],
 [ nan,  nan, -inf],
 [ nan,  nan,  nan]]
weights from these (3, 3)
[[nan, nan, nan],
 [nan, nan, nan],
 [nan, nan, nan]]
weights when minus infinity is filled in (3, 3)
[[1.0000, 0.0000, 0.0000],
 [0.3606, 0.6394, 0.0000],
 [0.2283, 0.3874, 0.3843]]
```

The page's class, further down, does not multiply. Its `masked_fill_` writes
minus infinity where the mask is 1, as [](#causal-mask) does.

### A.3 Eight dimensions and three heads {#errata-3}

"If a token has 8 dimensions and we want to use [3 heads]{.quoted}, the
dimensions are divided into 2 arrays of 4 dimensions, and each head uses one
of them." Two heads were meant.
*/

/* folded: how this is printed */
static void show_division(void)
{
    const int dimensions = 8;
    printf("dimensions that 3 heads leave over: %d\n", dimensions % 3);
    printf("heads for arrays of 4 dimensions: %d\n", dimensions / 4);
}

/*
``` output
dimensions that 3 heads leave over: 2
heads for arrays of 4 dimensions: 2
```

With three, the page's own program refuses, by an `assert` that nothing is
left over.

### A.4 What the heads divide {#errata-4}

The same sentence says that it is a *token* whose dimensions are divided,
and a box has ChatGPT say why that is better than to let each head see all
of them. The program divides the queries, keys and values, each entry of
which is made from all entries of the token ([](#multi-head)). We make two
heads for tokens of 8 entries, change one entry at a time, and see whether
the first head notices:
*/

/* folded: how this is printed */
static void show_inputs(void)
{
    Attention a;
    float x[3][8], before[3][4];
    int seen = 0;
    Random r = random_seeded(123);
    random_fill(&r, 3, 8, x);
    multi_head_init(&a, &r, 8, 8, 3, 0, 2, 0);
    Trace t;
    trace_init_for(&t, &a, 3, 3);
    attention_forward(&a, mask_none(), NULL, 3, 3, x, x, &t);
    memcpy(before, t.context, sizeof before);
    for (int k = 0; k < 8; k++) {
        x[0][k] += 1;
        attention_forward(&a, mask_none(), NULL, 3, 3, x, x, &t);
        seen += memcmp(before, t.context, sizeof before) != 0;
        x[0][k] -= 1;
    }
    printf("entries that the first head notices, of 8: %d\n", seen);
    trace_free(&t);
    attention_free(&a);
}

/*
``` output
entries that the first head notices, of 8: 8
```

### A.5 Three matrices {#errata-5}

The page introduces "three weight matrices", rightly, and then says: "The
query is the data to be used, as before, while the key and value matrices
are simply random, trainable matrices." "Each token has its own query, key
and value matrix", step 2 takes "the key matrix of the token", and step 3 is
to "sum all value matrices and multiply each by its attention weight". The
program has it right: `queries = torch.matmul(inputs, W_query)`. All three
matrices are random at first and then trained, and all tokens share them.
What a token has of its own are three *vectors*, and what is summed are
value vectors, each times its weight ([](#qkv)).

### A.6 `nn.Linear` is random too {#errata-6}

The second version is said to use `nn.Linear` "instead of initialising the
matrices with random values", so as to mark the weights as parameters. Here
is the weight of an `nn.Linear(3, 2)`, and six random numbers in its range
from the same seed:
*/

/* folded: how this is printed */
static void show_linear(void)
{
    const float limit = 1 / sqrtf(3);
    float weight[2][3], x[2][3];
    Random r = random_seeded(789);
    linear_fill(&r, 3, 2, weight, NULL);
    print_matrix("weight of a linear layer", 2, 3, weight);
    r = random_seeded(789);
    uniform_fill(&r, 2, 3, -limit, limit, x);
    print_matrix("random numbers", 2, 3, x);
}

/*
``` output
weight of a linear layer (2, 3)
[[ 0.3161,  0.4568,  0.5118],
 [-0.1683, -0.3379, -0.0918]]
random numbers (2, 3)
[[ 0.3161,  0.4568,  0.5118],
 [-0.1683, -0.3379, -0.0918]]
```

The mark was there before: `nn.Parameter`, in the first version, is nothing
else. What `nn.Linear` adds is the range ([](#self-attention-range)).

### A.7 Does softmax amplify? {#errata-7}

Softmax is said to be used because its exponentials amplify differences. Two
shares never differ by more than their scores do. What can grow is their
ratio, which is $e$ to the power of that difference
([](#softmax-differences)). First for 0.1 and 0.2, then for 10 and 10.1, at
last for the page's own *Hello* and *shiny*:
*/

/* folded: how this is printed */
static void show_ratios(void)
{
    const int n[3] = {2, 2, 3};
    float scores[3][3] = {{0.1f, 0.2f}, {10, 10.1f}}, weights[3],
          table[3][4];
    dot_scores(1, 3, 3, &hello[1], hello, &scores[2]);
    for (int i = 0; i < 3; i++) {
        softmax(n[i], scores[i], weights);
        table[i][0] = scores[i][1] - scores[i][0];
        table[i][1] = weights[1] - weights[0];
        table[i][2] = scores[i][1] / scores[i][0];
        table[i][3] = weights[1] / weights[0];
    }
    print_matrix("differences of scores and shares, and ratios", 3, 4,
                 table);
}

/*
``` output
differences of scores and shares, and ratios (3, 4)
[[0.1000, 0.0500, 2.0000, 1.1052],
 [0.1000, 0.0500, 1.0100, 1.1052],
 [0.5727, 0.1771, 1.7303, 1.7730]]
```

The first two pairs lie equally far apart and get the same shares. Their
ratio shrinks in one and grows in the other: that depends on the scores
themselves. In the page's example it grows a little.

### A.8 A word sees itself {#errata-8}

The model is to consider "only the tokens that appear before the current
position, to predict the next token"; Raschka's article has "previous
positions", and further down "itself and the words before it"
[@raschka2024magazine]. If the current position is that of the word to be
predicted, this is exact. But the word that *asks* sees itself as well, in
both authors' programs. The first would otherwise have nothing to look at:
*/

/* folded: how this is printed */
static void show_first_word(void)
{
    const char *const label[2] = {"first word, which sees itself",
                                  "first word, which does not"};
    float scores[3][3], weights[3];
    for (int i = 0; i < 2; i++) {
        dot_scores(3, 3, 3, hello, hello, scores);
        apply_mask(3, 3, mask_causal(-i), scores);
        softmax(3, scores[0], weights);
        print_vector(label[i], 3, weights);
    }
}

/*
``` output
first word, which sees itself (3)
[1.0000, 0.0000, 0.0000]
first word, which does not (3)
[nan, nan, nan]
```

### A.9 Dropout also multiplies {#errata-9}

"Dropout sets some of the attention weights to zero at random during
training." That is half of what the page's `nn.Dropout` does then. It also
divides the survivors by $1 - p$, which keeps the mean, and the rows no
longer add up to one ([](#dropout)). For six words with equal weights:
*/

/* folded: how this is printed */
static void show_dropout(void)
{
    float keep_mask[6][6], weights[6][6], dropped[6][6], sums[6] = {0};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            weights[i][j] = 1 / 6.0f;
    Random r = random_seeded(123);
    dropout_mask(&r, 0.5, 6, 6, keep_mask);
    dropout_apply(0.5, 6, 6, keep_mask, weights, dropped);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sums[i] += dropped[i][j];
    print_vector("row sums after dropout of one half, seed 123", 6, sums);
    print_vector("factors for the rates 0.5 and 0.1", 2,
                 (const float[2]){1 / (1 - 0.5f), 1 / (1 - 0.1f)});
}

/*
``` output
row sums after dropout of one half, seed 123 (6)
[1.3333, 0.6667, 1.6667, 1.0000, 1.0000, 1.3333]
factors for the rates 0.5 and 0.1 (2)
[2.0000, 1.1111]
```

One half is a bad example, since $p$ is $1 - p$ then. A reader of Raschka's
book, which scales by $1/0.5$, rightly, tried 0.1 and expected the factor
ten [@llms431].

### A.10 Sequences, dimensions, neighbours {#errata-10}

Comments call `b` "the number of batches" and `num_tokens` "the number of
tokens per batch". There is one batch, of `b` sequences with `num_tokens`
tokens each ([](#causal-attention)). For the context vector one is to "sum
all dimensions, to get only 1 vector". It is one vector because the sum runs
over the tokens, for each dimension by itself, as in the page's own example
([](#softmax-mixture)). And by a word's "neighbours in the current sentence"
the tip at the beginning means all its words, "regardless of their
distance", as the page says below.

### A.11 A picture twice, and names that are missing {#errata-11}

Where the exponentials should be, the German page has the picture of the
first score once more; in English they are two. What it should show is in
[](#softmax-exponential). Short programs use `torch`, `nn`, `inputs`,
`seq_len` and `attention_scores` without defining them, and the third class
needs the `batch` of the second. And the first programs set no seed: your
numbers will not be those of [](#scaling-tutorials), which are for the seed
123.

## From Tokens to the Transformer {#errata-tokens}

The author of this Chinese page says that mathematics is not their strong
suit, and then does what few do: an example in whole numbers, which everyone
can check on paper [@tokens2transformer].

### A.12 `np.multiply` and `@` {#errata-12}

For the lists 1, 2, 3 and 4, 5, 6 the page has the result [32]{.quoted}
beside both. `np.multiply` stops before the sum ([](#dot-product-sum)):
*/

/* folded: how this is printed */
static void show_multiply(void)
{
    const float a[3] = {1, 2, 3}, b[3] = {4, 5, 6};
    float product[3];
    multiply_entries(3, a, b, product);
    print_vector("np.multiply(a, b)", 3, product);
    print_value("a @ b", dot(3, a, b));
}

/*
``` output
np.multiply(a, b) (3)
[ 4.0000, 10.0000, 18.0000]
a @ b: 32.0000
```

### A.13 A lost digit {#errata-13}

The second row of *S* is printed as [4, 16, 2]{.quoted}. Its last entry, the
dot product of $(2, 2, 2)$ and $(2, 3, 1)$, has lost its first digit. In the
shares, at which the page does not arrive, it would make little difference:
*/

/* folded: how this is printed */
static void show_digit(void)
{
    const float misprint[3] = {4, 16, 2};
    float query[3][3], key[3][3], value[3][3], scores[3][3], weights[3];
    project_paper(query, key, value);
    dot_scores(3, 3, 3, query, key, scores);
    print_matrix("S", 3, 3, scores);
    softmax(3, scores[1], weights);
    print_vector("shares of the second row, not scaled", 3, weights);
    softmax(3, misprint, weights);
    print_vector("shares of the misprint", 3, weights);
}

/*
``` output
S (3, 3)
[[ 2.0000,  4.0000,  4.0000],
 [ 4.0000, 16.0000, 12.0000],
 [ 4.0000, 12.0000, 10.0000]]
shares of the second row, not scaled (3)
[0.0000, 0.9820, 0.0180]
shares of the misprint (3)
[0.0000, 1.0000, 0.0000]
```

### A.14 The root of three {#errata-14}

Before *S* stands the factor [1/1]{.quoted}, probably to keep the numbers
whole. But queries and keys have three entries, and by the formula above it
the scores are divided by $\sqrt{3}$ ([](#scaling-attention)). *A*, *V* and
*Z*, which the page does not print, are then:
*/

/* folded: how this is printed */
static void show_root(void)
{
    float query[3][3], key[3][3], value[3][3];
    float scores[3][3], weights[3][3], context[3][3];
    project_paper(query, key, value);
    attention(3, 3, 3, 3, query, key, value, scores, weights, context);
    print_matrix("S divided by the root of 3", 3, 3, scores);
    print_matrix("A", 3, 3, weights);
    print_matrix("V", 3, 3, value);
    print_matrix("Z", 3, 3, context);
}

/*
``` output
S divided by the root of 3 (3, 3)
[[1.1547, 2.3094, 2.3094],
 [2.3094, 9.2376, 6.9282],
 [2.3094, 6.9282, 5.7735]]
A (3, 3)
[[0.1361, 0.4319, 0.4319],
 [0.0009, 0.9088, 0.0903],
 [0.0074, 0.7547, 0.2378]]
V (3, 3)
[[1.0000, 2.0000, 3.0000],
 [2.0000, 8.0000, 0.0000],
 [2.0000, 6.0000, 3.0000]]
Z (3, 3)
[[1.8639, 6.3194, 1.7042],
 [1.9991, 7.8141, 0.2735],
 [1.9926, 7.4796, 0.7359]]
```

Without the division, the shares would be those of [A.19](#errata-19).

### A.15 The result is *A* times *V* {#errata-15}

The page goes on with $Z = A \cdot W_o$, for a trained matrix of $n$ rows,
$n$ being the number of words. Such a matrix would fit sentences of one
length only. The words beside it are right: a weighted sum of the values, $Z
= AV$. The trained $W_O$ comes after the heads have been put side by side,
where the page has it too ([](#multi-head-output)).

### A.16 Shapes {#errata-16}

*Q*, *K* and *V* are said to have the shape of *X*, which is given as
[(4,4)]{.quoted}. A word is said to have [3]{.quoted} features. But *X* has
three rows, the words, and four columns, the features. With its (4, 3)
matrices one gets:
*/

/* folded: how this is printed */
static void show_shapes(void)
{
    float query[3][3], key[3][3], value[3][3];
    project_paper(query, key, value);
    print_vector("a word of X", 4, paper[0]);
    print_matrix("Q", 3, 3, query);
}

/*
``` output
a word of X (4)
[1.0000, 0.0000, 1.0000, 0.0000]
Q (3, 3)
[[1.0000, 0.0000, 2.0000],
 [2.0000, 2.0000, 2.0000],
 [2.0000, 1.0000, 3.0000]]
```

What was probably meant is the final result of a real model, which has the
shape of *X*.

### A.17 Letters, signs, words {#errata-17}

$W_Q = X W_Q$ should read $Q = X W_Q$. The number of heads is $k$, $H$ and
$h$ in turn. $(H, d_k)$ means the product $H d_k$, `d_512` a $d_{model}$ of
[512]{.cited}, and $1/\sqrt{k}$ the factor $1/\sqrt{d_k}$
[@tokens2transformer]. That $d_{model}$ "may be 8 in practice" is true of
the example with two heads; in practice it is rather the [512]{.cited}
before. The table of $n$ rows and [64]{.cited} columns that the page calls
the attention matrix is the result of one head. The attention matrix has $n$
rows and $n$ columns, as it says before ([](#heads)). And a query does not
ask "who am I?", but for what is sought, as the same line says.

### A.18 What the division does {#errata-18}

The division by $\sqrt{d_k}$ is said to turn scores into a probability
distribution, and $Q_{bread} K$ to be a vector of probabilities. Softmax
does that, as the next section of the page explains very well. After the
division alone, the rows add up to anything:
*/

/* folded: how this is printed */
static void show_row_sums(void)
{
    float query[3][3], key[3][3], value[3][3], scores[3][3], sums[3] = {0};
    project_paper(query, key, value);
    dot_scores(3, 3, 3, query, key, scores);
    scale_scores(3, 3, 3, scores);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sums[i] += scores[i][j];
    print_vector("row sums of the divided scores", 3, sums);
}

/*
``` output
row sums of the divided scores (3)
[ 5.7735, 18.4752, 15.0111]
```

The page's second point is the paper's [@vaswani2017], and the true reason:
dot products grow, and then softmax loses its balance ([](#scaling)).

### A.19 What an array can hold {#errata-19}

The page normalizes by `attention_scores[0] = softmax(attention_scores[0])`
and two more such lines. (`softmax` one has to write; NumPy has none.) If
*S* was typed in as printed, its array holds whole numbers, and keeps its
type: the shares are cut off to 0, without a warning. Computed with the
page's factor, as `1/1 * Q @ K.T`, it holds floats, since Python's `1/1` is
one, and all is well. The slip in C:
*/

/* folded: how this is printed */
static void show_whole_numbers(void)
{
    float query[3][3], key[3][3], value[3][3];
    float scores[3][3], weights[3][3];
    int whole[3];
    project_paper(query, key, value);
    dot_scores(3, 3, 3, query, key, scores);
    softmax_rows(3, 3, scores, weights);
    for (int j = 0; j < 3; j++)
        whole[j] = (int)weights[0][j];
    print_matrix("shares, not scaled", 3, 3, weights);
    print_integers("the first row in whole numbers", 3, whole);
}

/*
``` output
shares, not scaled (3, 3)
[[0.0634, 0.4683, 0.4683],
 [0.0000, 0.9820, 0.0180],
 [0.0003, 0.8805, 0.1192]]
the first row in whole numbers (3)
[0, 0, 0]
```

### A.20 Eat and bread {#errata-20}

The words are *eat*, *bread*, *table*, and "clearly the relation between
*eat* and *bread* has the most potential". The matrix *S* does not know it:
for *bread*, the second row, *eat* has the lowest score, and for *eat*, the
first row, *bread* and *table* are level. The numbers were not made for
these words. For some that are, see [](#qkv-cat).

### A.21 Encoder and decoder {#errata-21}

The page begins with the encoder, which reads a whole sentence at once, and
then justifies the scores by the fact that a language model writes word by
word. That is the decoder, which looks back only ([](#causal-mask)). Scores
are needed in both. (In the introduction, what *bread* has to do with
*table* breaks off after "because".)

## Raschka's article {#errata-raschka}

*Understanding and Coding Self-Attention, Multi-Head Attention,
Cross-Attention, and Causal-Attention in LLMs* [@raschka2024magazine]. This
book follows it most, and three of the others take their programs from the
book that its author wrote then [@raschka2024book]. All its printed numbers
are right. Where it has [-0.2627]{.quoted}, some machines get $-0.2626$: the
value lies halfway between the two, and the order of adding decides
([](#self-attention-first)). We read it in Chinese, beside a copy in
English. Where a slip is the translator's, we say so.

### A.22 Above the diagonal {#errata-22}

In Chinese, minus infinity is to replace the values *on* the diagonal; a
character is missing. The English, the program, and the Chinese further down
have *above*. With the diagonal alone hidden, each word sees all but itself,
the future included:
*/

/* folded: how this is printed */
static void show_diagonal(void)
{
    float query[6][2], key[6][2], value[6][4], scores[6][6], weights[6][6];
    float seen[6][6];
    qkv_from_seed(123, 6, 3, 2, 4, life, query, key, value);
    dot_scores(6, 6, 2, query, key, scores);
    scale_scores(6, 6, 2, scores);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            seen[i][j] = i != j;
    apply_mask(6, 6, mask_table(6, 6, seen), scores);
    softmax_rows(6, 6, scores, weights);
    print_matrix("weights, the diagonal hidden", 6, 6, weights);
}

/*
``` output
weights, the diagonal hidden (6, 6)
[[0.0000, 0.1611, 0.2284, 0.1999, 0.1881, 0.2225],
 [0.1234, 0.0000, 0.0652, 0.2685, 0.4697, 0.0733],
 [0.2623, 0.0824, 0.0000, 0.1937, 0.1530, 0.3086],
 [0.1803, 0.2619, 0.1678, 0.0000, 0.2147, 0.1752],
 [0.1659, 0.3397, 0.1431, 0.1997, 0.0000, 0.1516],
 [0.2739, 0.0343, 0.4304, 0.1572, 0.1042, 0.0000]]
```

Hidden on the diagonal *and* above, the first word has nothing left, as in
[](#errata-8).

### A.23 What `triu` keeps {#errata-23}

`torch.triu` "retains the main diagonal and the elements above it". So it
does when asked for nothing else. The line that this explains asks for
`diagonal=1`, and then the diagonal is 0:
*/

/* folded: how this is printed */
static void show_triu(void)
{
    float mask[3][3];
    causal_mask(3, mask);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            mask[i][j] = 1 - mask[i][j];
    print_matrix("triu(ones(3, 3), diagonal=1)", 3, 3, mask);
}

/*
``` output
triu(ones(3, 3), diagonal=1) (3, 3)
[[0.0000, 1.0000, 1.0000],
 [0.0000, 0.0000, 1.0000],
 [0.0000, 0.0000, 0.0000]]
```

The sentence before it says 0 below the diagonal and 1 above, which is
right, and nothing of the diagonal itself.

### A.24 A remark and a size {#errata-24}

The remark "reduce d_out_v from 4 to 1, because we have 4 heads" stands in
the first program that runs the class, beside a line that keeps 4. It was
meant for the next, which has 1. The first row of both results:
*/

/* folded: how this is printed */
static void show_remark(void)
{
    for (int d_v = 4; d_v >= 1; d_v -= 3) {
        Attention a;
        Random r = random_seeded(123);
        cross_attention_init(&a, &r, 3, 3, 2, d_v);
        Trace t;
        trace_init_for(&t, &a, 6, 6);
        self_attention_forward(&a, 6, life, &t);
        print_vector("context of Life", d_v, t.context);
        trace_free(&t);
        attention_free(&a);
    }
}

/*
``` output
context of Life (4)
[-0.1564,  0.1028, -0.0763, -0.0764]
context of Life (1)
[-0.0185]
```

In the program after that, `block_size = embedded_sentence.shape[1]` is 3,
the size of an embedding. The number of words is `shape[0]`. Nothing there
uses it.

### A.25 *e* to the power of minus infinity {#errata-25}

It "approaches 0", as one says of limits. This is a matter of words; but a
float has minus infinity as a value, and what it hides is hidden completely.
Compare a score that is merely very low:
*/

/* folded: how this is printed */
static void show_limit(void)
{
    print_answer("e to the power of minus infinity is 0",
                 expf(-INFINITY) == 0);
    print_answer("e to the power of -80 is 0", expf(-80) == 0);
}

/*
``` output
e to the power of minus infinity is 0: yes
e to the power of -80 is 0: no
```

### A.26 Two widths {#errata-26}

In cross-attention, the two inputs' "embedding dimensions must match". In
the article's class they must, since its three matrices share one `d_in`. In
general only queries and keys must be of one size
([](#cross-attention-queries)). Here 5 tokens of 4 entries ask 7 of 6:
*/

/* folded: how this is printed */
static void show_widths(void)
{
    Attention a;
    float x_1[5][4], x_2[7][6];
    Random r = random_seeded(123);
    cross_attention_init(&a, &r, 4, 6, 2, 3);
    random_fill(&r, 5, 4, x_1);
    random_fill(&r, 7, 6, x_2);
    Trace t;
    trace_init_for(&t, &a, 5, 7);
    cross_attention_forward(&a, 5, 7, x_1, x_2, &t);
    print_matrix("context, from inputs of 4 and of 6 entries", 5, 3,
                 ROWS(3, t.context));
    trace_free(&t);
    attention_free(&a);
}

/*
``` output
context, from inputs of 4 and of 6 entries (5, 3)
[[1.8116, 1.8567, 2.2585],
 [1.8916, 1.9052, 2.3303],
 [1.9098, 1.9160, 2.3462],
 [1.8941, 1.9068, 2.3326],
 [1.7674, 1.8308, 2.2195]]
```

PyTorch's own module takes such inputs as well, by `kdim` and `vdim`.

### A.27 `omega_24` or `omega_25` {#errata-27}

`omega_24` is computed from `keys[4]`. The article counts from 1, Python
from 0, and the name has one of each. The sentence above says "the 5th input
element", so `omega_25` it is:
*/

/* folded: how this is printed */
static void show_omega(void)
{
    float query[6][2], key[6][2], value[6][4];
    qkv_from_seed(123, 6, 3, 2, 4, life, query, key, value);
    print_vector(
        "the query with keys 4 and 5, counted from 1", 2,
        (float[2]){dot(2, query[1], key[3]), dot(2, query[1], key[4])});
}

/*
``` output
the query with keys 4 and 5, counted from 1 (2)
[0.4991, 1.2903]
```

### A.28 A word that occurs twice {#errata-28}

Ids are made by `enumerate(sorted(words))`, which is right for *Life is
short, eat dessert first*, where no word occurs twice. In *the cat and the
dog*, *the* is counted twice. Its id becomes 4, where a table for four words
ends with 3. `sorted(set(words))` is the remedy ([](#tokens-ids)):
*/

/* folded: how this is printed */
static void show_ids(void)
{
    Word word[WORDS_MAX], entry[WORDS_MAX];
    const int n = split_words("the cat and the dog", word);
    int ids[WORDS_MAX];
    for (int i = 0; i < n; i++) {
        ids[i] = -1; /* its last place among the sorted words */
        for (int j = 0; j < n; j++)
            ids[i] += strcmp(word[j], word[i]) <= 0;
    }
    print_integers("ids by sorted(words)", n, ids);
    const int size = build_vocabulary(n, word, entry);
    word_ids(n, word, size, entry, ids);
    print_integers("ids by sorted(set(words))", n, ids);
    printf("words in the vocabulary: %d\n", size);
}

/*
``` output
ids by sorted(words) (5)
[4, 1, 0, 4, 2]
ids by sorted(set(words)) (5)
[3, 1, 0, 3, 2]
words in the vocabulary: 4
```

### A.29 Of what it is a mixture, and what heads cost {#errata-29}

The context vector of the second word is introduced as "an
attention-weighted version of our original query input". One may take that
for the word's own vector with something added. It is a weighted sum of six
*values*, as the article says later, and has four entries where the word has
three:
*/

/* folded: how this is printed */
static void show_values(void)
{
    float query[6][2], key[6][2], value[6][4];
    float scores[6][6], weights[6][6], context[6][4];
    qkv_from_seed(123, 6, 3, 2, 4, life, query, key, value);
    attention(6, 6, 2, 4, query, key, value, scores, weights, context);
    print_vector("embedding of is", 3, life[1]);
    print_vector("context vector of is", 4, context[1]);
}

/*
``` output
embedding of is (3)
[0.1794, 1.8951, 0.4954]
context vector of is (4)
[0.5313, 1.3607, 0.7891, 1.3110]
```

Several heads "can also be more efficient, particularly in terms of parallel
computation", since each can be processed by itself. So can the rows of a
single head: no row of scores needs another. And the article's four heads,
which run in a loop, have more parameters than the one they are compared
with:
*/

static void show_parameters(void)
{
    printf("parameters of SelfAttention(3, 2, 4): %" PRId64 "\n",
           count_parameters(1, 3, 2, 4));
    printf("parameters of four SelfAttention(3, 2, 1): %" PRId64 "\n",
           count_parameters(4, 3, 2, 1));
}

/*
``` output
parameters of SelfAttention(3, 2, 4): 24
parameters of four SelfAttention(3, 2, 1): 60
```

What speaks for heads is what the article says first: each can look at
something else. Its wrapper leaves out $W_O$, which mixes their results
([](#multi-head-output)).


## Ma Yumin {#errata-ma}

*Self-Attention with Trainable Weights* [@ma2026] explains the first half of
a chapter of Raschka's book to readers of Chinese, each line of the program
with its result, and all results are right. *Cat likes fish* is from there.

### A.30 A formula without its root {#errata-30}

The second formula is "weights = softmax(score)". The program, and a section
further down, divide the scores by $\sqrt{d_k}$ first. What the formula
gives, and what the program prints:
*/

/* folded: how this is printed */
static void show_formula(void)
{
    float query[6][2], key[6][2], value[6][2];
    float scores[6][6], weights[6][6], context[6][2];
    qkv_from_seed(123, 6, 3, 2, 2, journey, query, key, value);
    attend_one(6, 2, 2, query[1], key, value, scores[1], weights[1],
               context[1]);
    print_vector("weights of journey by the formula", 6, weights[1]);
    print_vector("context by the formula", 2, context[1]);
    attention(6, 6, 2, 2, query, key, value, scores, weights, context);
    print_vector("weights of journey by the program", 6, weights[1]);
    print_vector("context by the program", 2, context[1]);
}

/*
``` output
weights of journey by the formula (6)
[0.1401, 0.2507, 0.2406, 0.1157, 0.0687, 0.1842]
context by the formula (2)
[0.3157, 0.8430]
weights of journey by the program (6)
[0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820]
context by the program (2)
[0.3061, 0.8210]
```

### A.31 A star for a matrix product {#errata-31}

$Q * K^\top$, $weights * V$, $x * w_q$: the star means the matrix product
here, and in *From Tokens to the Transformer* [@tokens2transformer]. In
mathematics that is a matter of taste. In PyTorch and NumPy, `*` multiplies
entry by entry, and `Q * K.T` is an error: the one has shape (6, 2), the
other (2, 6). `@` is the sign there, and both authors' programs have it.


## Self-Attention, Retold {#errata-retold}

Short notes in Chinese, without a name, on the same section of Raschka's
book, with the same numbers [@selfattention2025]. Two words go too far: the
Transformer relies "only" on self-attention and feed-forward networks, where
it has cross-attention too ([](#cross-attention-translation)), and a GPT's
input and output "always" have one size; Ma Yumin has "usually"
([](#multi-head-residual)).

### A.32 Three lines for another class {#errata-32}

At the end, to show how `nn.Linear` would shorten the class, stand
`self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)` and two more lines.
Put into the class above, they fail: `qkv_bias` is defined nowhere, and `x @
self.W_key` multiplies by a module, a `TypeError`. A layer is called,
`self.W_key(x)`, as in the book's next class ([](#self-attention-second)).


## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    show_shiny();
    show_mask();
    show_division();
    show_inputs();
    show_linear();
    show_ratios();
    show_first_word();
    show_dropout();
    show_multiply();
    show_digit();
    show_root();
    show_shapes();
    show_row_sums();
    show_whole_numbers();
    show_diagonal();
    show_triu();
    show_remark();
    show_limit();
    show_widths();
    show_omega();
    show_ids();
    show_values();
    show_parameters();
    show_formula();
    return 0;
}

/*
## What PyTorch and NumPy do {#errata-pytorch}

Claims about libraries no C program can settle. These lines do: what they
print agrees with the outputs above, and each `assert` and each `except` is
a claim.

``` python
import numpy as np
import torch

x = torch.tensor([[0.34, 0.22, 0.54], [0.53, 0.34, 0.98],
                  [0.29, 0.54, 0.93]])
mask = torch.triu(torch.ones(3, 3), diagonal=1)
added = x @ x.T + mask * -torch.inf                               # A.2
print(torch.softmax(added, dim=-1))
filled = (x @ x.T).masked_fill(mask.bool(), -torch.inf)
print(torch.softmax(filled, dim=-1))
print(torch.tensor(np.multiply([1., 2, 3], [4., 5, 6])))          # A.12
S = np.array([[2, 4, 4], [4, 16, 12], [4, 12, 10]])
floats = 1/1 * S                                                  # A.19
for i in range(3):
    floats[i] = S[i] = torch.softmax(torch.tensor(floats[i]), dim=-1)
print(torch.tensor(floats))
print(S[0].tolist())
print(mask)                                                       # A.23
attend = torch.nn.MultiheadAttention(4, 1, kdim=6, vdim=6)        # A.26
keys = torch.rand(7, 6)
assert attend(torch.rand(5, 4), keys, keys)[0].shape == (5, 4)
linear = torch.nn.Linear(3, 2)
for wrong in (lambda: linear(x) * linear(x).T,                    # A.31
              lambda: x @ linear):                                # A.32
    try:
        wrong()
        raise SystemExit('no error')
    except (RuntimeError, TypeError):
        pass
```
*/
