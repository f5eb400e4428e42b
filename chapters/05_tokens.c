/*
# Tokens and embeddings: a word is a row number {#tokens}

![The way from words to attention. This chapter is about the two shaded
steps](pipeline.svg){#fig-tokens-pipeline}

So far the embeddings were typed into the program. A model must find the
vector of any word it meets, among thousands. All vectors stand in one large
table, a row for each word that the model knows, and a word has the number
of its row.

We follow the sentence with which Raschka's article explains all of this
[@raschka2024magazine]: *Life is short, eat dessert first*.
*/

#include "attention/05_tokens.h"
#include "attention/01_dot_product.h"
#include "attention/04_random.h"
#include "attention/B_normals.h"
#include "support.h"

/*
## From text to words {#tokens-words}

To cut a text into tokens is called **tokenization**. We cut a sentence at
its blanks and leave its commas out. Real models also cut inside words, into
*subwords*, so that a word they have never seen can be put together from
subwords they know. The tokens are then subwords, which makes no difference
for all that follows.

::: {.header of="Word"}
:::

Each character of the sentence is a letter of a word, a comma, or the end of
a word: a blank, or the 0 at the end of the sentence. (`strchr` finds the 0
too, since its list of characters ends with one.) A letter outside the
English alphabet takes several bytes, in UTF-8. None of them looks like a
blank or a comma, so that no letter is cut in two.
*/

int split_words(const char *sentence, Word word[WORDS_MAX])
{
    int n = 0;
    size_t letters = 0; /* of word n, so far */
    const char *c = sentence;
    do {
        if (!strchr(", \t\n", *c)) { /* a letter */
            if (n == WORDS_MAX || letters == sizeof *word - 1)
                REFUSE("word %d does not fit: at most %d words of at most "
                       "%zu bytes are needed",
                       n + 1, WORDS_MAX, sizeof *word - 1);
            word[n][letters++] = *c;
        } else if (*c != ',' && letters > 0) { /* the end of a word */
            word[n++][letters] = '\0';
            letters = 0;
        }
    } while (*c++);
    if (n == 0)
        REFUSE("the sentence '%s' has no words: at least one is needed",
               sentence);
    return n;
}

/*
## From words to numbers {#tokens-ids}

The words of the sentence in alphabetical order, each once, are its
**vocabulary**. A word's position in the vocabulary, counted from 0, is the
word's number, or **id**. In Python the vocabulary is `sorted(set(words))`.
The article's program lacks the `set`, which strikes out repetitions
([A.28](#errata-28)). `strcmp` compares bytes, and so all capital letters
come before all small ones, as they do in Python.

A real model has one vocabulary for all sentences. Raschka's article names
[30,000 to 50,000]{.cited} entries as usual [@raschka2024magazine], and
newer models have more.

**Exercise 5.1** (★★★, 4 points): `build_vocabulary`. The words in order,
each once. It returns how many there are.

::: hint
Keep the entries in order from the start. Find where a word belongs among
the entries you have; if it is not there yet, make room and put it in.
:::

::: hint
`strcmp(a, b)` is negative if `a` comes before `b`, and 0 if they are equal.
`memmove` moves the rest up by one place.
:::

::: done
Words have become numbers, the same ones each time. A large model cuts words
into subwords first; then it does the same.
:::
*/

int build_vocabulary(int n, const Word word[n], Word entry[n])
{
    int size = 0;
    for (int i = 0; i < n; i++) {
        int place = 0;
        while (place < size && strcmp(entry[place], word[i]) < 0)
            place++;
        if (place < size && strcmp(entry[place], word[i]) == 0)
            continue;
        memmove(entry[place + 1], entry[place],
                (size_t)(size - place) * sizeof *entry);
        memcpy(entry[place], word[i], sizeof *entry);
        size++;
    }
    return size;
}

void word_ids(int n, const Word word[n], int size, const Word entry[size],
              int ids[n])
{
    for (int i = 0; i < n; i++) {
        ids[i] = 0;
        while (ids[i] < size && strcmp(entry[ids[i]], word[i]) != 0)
            ids[i]++;
        if (ids[i] == size)
            REFUSE("'%s' is not in the vocabulary: one of its %d words is "
                   "needed",
                   word[i], size);
    }
}

/*
## From numbers to vectors {#tokens-vectors}

The table has a row for each id. In a model it is called the
**embedding layer**, and the number of its columns the **embedding size**.
To look a word up is to copy its row. There is nothing to compute.

**Exercise 5.2** (★, 2 points): `embed`. Row `i` of the result is row
`ids[i]` of the table. It refuses an id that is no row of the table, since C
would read other memory and say nothing.

::: hint
All ids may be tested first, so that nothing is written where one is wrong.
The row to copy is `table[ids[i]]`.
:::

::: done
A language model begins with this look-up. Try your own words:
`make -s run-05 ARGS="'the cat and the dog'"`.
:::
*/

void embed(int n, int d, int rows, const int ids[n],
           const float table[rows][d], float x[n][d])
{
    for (int i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= rows)
            REFUSE(
                "id %d is no row of a table of %d: from 0 to %d is needed",
                ids[i], rows, rows - 1);
        for (int k = 0; k < d; k++)
            x[i][k] = table[ids[i]][k];
    }
}

/*
Written as a formula, the look-up is a product. Each id becomes a
**one-hot** row: as many entries as the vocabulary has words, $v$ of them,
all 0 but for a single 1 at the index of the id. The product of such a row
and the table $E$ is the row of $E$ with that id, since all other rows are
multiplied by 0. With the one-hot rows of a text in a table $H$:

$$\underset{n \times d}{X}
    = \underset{n \times v}{H}\;\underset{v \times d}{E}$$

No program looks words up that way. But the product shows what the table is:
a matrix of parameters, like those of [](#qkv). The table begins with random
numbers, and training improves its rows.

## The shape of a bell {#tokens-normal}

The numbers of [](#random) are uniform, equally frequent everywhere between
their limits. For embeddings PyTorch draws from the **normal distribution**:
most numbers lie near zero, fewer and fewer farther out, on both sides and
without a limit. How often a number near $x$ is drawn is in proportion to
$e^{-x^2/2}$, whose curve has the shape of a bell:

![How often each number occurs, among 100,000 uniform ones from $-1$ to 1
and among 100,000 normal ones; each panel is as high as its most frequent
number](bell.svg){#fig-bell}

The **standard deviation** says how widely numbers are spread. Take the
difference of each number from their mean, and square that difference. Take
the mean of all squares. The root of that mean is the standard deviation.
The numbers of the bell have the mean 0, so their deviation is the root of
the mean of their own squares. It is 1, as we will measure. If another
deviation is wanted, multiply the numbers by it.

How does one make such numbers? (If you are content to know that it can be
done, go on to [](#tokens-sentence).) Box and Muller had the idea to make
two at a time [@box1958]. Throw darts at a board. A dart hits $x$ to the
right of the middle and $y$ above the middle. Let $x$ and $y$ be two normal
numbers, such that knowing one says nothing of the other. The share of darts
near $x$, in an upright strip, is in proportion to $e^{-x^2/2}$. Of the
darts in the strip, the share near $y$ is in proportion to $e^{-y^2/2}$. The
share of a share is the product of both. So around the point $(x, y)$ the
darts lie as densely as

$$e^{-x^2/2} \cdot e^{-y^2/2} = e^{-(x^2 + y^2)/2} = e^{-r^2/2}$$

where $r$ is the distance of the point from the middle, by Pythagoras. The
density depends on nothing but that distance. So the cloud of darts is
round, with no preferred direction, and a dart's direction is an angle that
is uniform over the full circle.

And the distance? We claim that the share of darts farther out than $r$ is
$e^{-r^2/2}$ once more. For $r = 0$ the claim says 1, all darts, and is
right. For any other $r$, take a thin ring of darts, from the distance $r$
to $r + w$. First, what does the claim say of the ring? Farther out than $r
+ w$ lies the share

$$e^{-(r + w)^2/2} = e^{-r^2/2} \cdot e^{-rw} \cdot e^{-w^2/2}
    \approx e^{-r^2/2} (1 - rw)$$

Here $e^{-rw}$ is close to $1 - rw$, as $e^{-s}$ is close to $1 - s$ for
every small $s$. And $e^{-w^2/2}$ is closer still to 1, since $w^2$ is tiny
even beside $w$. The ring holds the difference of both shares, $e^{-r^2/2} -
e^{-r^2/2}(1 - rw)$, which is $e^{-r^2/2}\, r w$.

Now, how many darts does the ring hold? Its circumference is $2\pi r$ and
its width $w$, so its area is about $2\pi r w$. The darts in the ring are as
dense as $e^{-r^2/2}$. Area times density is in proportion to $e^{-r^2/2}\,
r w$, as the claim says. So the claim is right for every ring, up to one
common factor. The factor is 1, since all rings together hold the whole, by
the claim as by the count. For the distances 1, 2 and 3, the program counts
which share of 50,000 darts lies farther out.
*/

/* The share of n darts that lie farther from the middle than r. */
static float farther(int n, const float dart[n][2], float r)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += length(2, dart[i]) > r;
    return (float)count / (float)n;
}

/* folded: how this is printed */
static void show_bell(void)
{
    enum { MANY = 100000 };
    const char *const panel[2] = {"uniform", "normal"};
    float(*x)[MANY] = new_table(2, MANY), table[3][3];
    const float root = sqrtf(MANY);
    Random r = random_seeded(123);
    uniform_fill(&r, 1, MANY, -1, 1, x);
    normal_fill(&r, 1, MANY, 0, 1, x + 1);
    figure_histograms("bell", "100,000 numbers each", 2, panel, MANY, x);

    puts("standard deviations of 100,000 numbers");
    print_value("uniform", length(MANY, x[0]) / root);
    print_value("normal", length(MANY, x[1]) / root);
    for (int i = 0; i < 3; i++) {
        const float far = (float)(i + 1);
        table[i][0] = far;
        table[i][1] = farther(MANY / 2, ROWS(2, x[1]), far);
        table[i][2] = expf(-far * far / 2);
    }
    print_matrix("r, share of darts beyond r, e^(-r^2/2)", 3, 3, table);
    free(x);
}

/*
The darts are the normal numbers of the figure, two for each dart:

``` output
standard deviations of 100,000 numbers
uniform: 0.5782
normal: 1.0026
r, share of darts beyond r, e^(-r^2/2) (3, 3)
[[1.0000, 0.6080, 0.6065],
 [2.0000, 0.1378, 0.1353],
 [3.0000, 0.0116, 0.0111]]
```

The shares agree, but for chance. Now each dart has a number $u$ of its own:
the share of all darts that lie farther out. Sort the darts from the outside
in: for the first tenth of the darts $u$ is below one tenth, for the next
tenth between one tenth and two tenths, and so on. So $u$ is uniform, and a
uniform number we can draw. Call the draw $u_1$, and solve $u_1 =
e^{-r^2/2}$ for the distance, with the natural logarithm $\ln$, which undoes
the exponential. A second uniform number, $u_2$, gives the angle, from 0 to
$2 \pi$ for a full circle:

$$r = \sqrt{-2 \ln(u_1)}, \qquad \varphi = 2\pi u_2, \qquad
  x = r \cos(\varphi), \qquad y = r \sin(\varphi)$$

Two uniform numbers have become two normal ones. (As $u_1$ may be 0, which
has no logarithm, programs take $1 - u_1$, which is as uniform and never 0.)
[](#normals) has this in C, first in a dozen lines, `one_normal`, and then
as PyTorch does it for many numbers. From there we use `normal_fill`, which
takes the mean and the deviation wanted, and `embedding_fill`, which is
`normal_fill` for 0 and 1.

## The sentence {#tokens-sentence}

Raschka makes a table of 50,000 rows, as for a real vocabulary, with three
entries each, from seed 123, and looks the six words up.
*/

/* folded: how this is printed */
static void show_sentence(const char *sentence)
{
    enum { N_ROWS = 50000 };
    Word word[WORDS_MAX], entry[WORDS_MAX];
    const int n = split_words(sentence, word);
    const int size = build_vocabulary(n, word, entry);
    int ids[WORDS_MAX];
    word_ids(n, word, size, entry, ids);

    puts("vocabulary");
    for (int i = 0; i < size; i++)
        printf("%s'%s': %d", i ? ", " : "{", entry[i], i);
    puts("}");
    print_integers("ids", n, ids);

    float(*table)[3] = new_table(N_ROWS, 3), x[WORDS_MAX][3];
    Random r = random_seeded(123);
    embedding_fill(&r, N_ROWS, 3, table);
    embed(n, 3, N_ROWS, ids, table, x);
    print_matrix("embedded sentence", n, 3, x);
    free(table);
}

/*
::: question
*Life* is the first word of the sentence and the first of the vocabulary.
Why does *dessert*, the fifth word, have the id 1?

Capital letters come before small ones, so *Life* leads the alphabet, and
*dessert* follows as the first of the words in small letters.
:::

``` output
vocabulary
{'Life': 0, 'dessert': 1, 'eat': 2, 'first': 3, 'is': 4, 'short': 5}
ids (6)
[0, 4, 5, 2, 1, 3]
embedded sentence (6, 3)
[[ 0.3374, -0.1778, -0.3035],
 [ 0.1794,  1.8951,  0.4954],
 [ 0.2692, -0.0770, -1.0205],
 [-0.2196, -0.3792,  0.7671],
 [-0.5880,  0.3486,  0.6603],
 [-1.1925,  0.6984, -1.4097]]
```

![Each word's id picks its row](lookup.svg){#fig-lookup}

These six rows are the input of much that follows. They are random, and mean
nothing yet. The size 3 is for the page's sake: Llama 2 with seven billion
parameters has an embedding size of [4,096]{.cited} [@raschka2024magazine].

So that no later chapter has to fill 50,000 rows for the sake of six, the
six rows above are written down here, as `journey` was in [](#softmax). Nine
digits are enough to give a float back to the last bit, and a test compares
the rows with what the seed makes.
*/

const float life[6][3] = {
    {0.337370187f, -0.177777216f, -0.303527594f}, /* Life */
    {0.179379612f, 1.89514804f, 0.495446384f},    /* is */
    {0.269198567f, -0.0770202354f, -1.02047193f}, /* short */
    {-0.219637617f, -0.379169822f, 0.767107069f}, /* eat */
    {-0.588011861f, 0.348605186f, 0.660340965f},  /* dessert */
    {-1.19250202f, 0.69835192f, -1.40972292f},    /* first */
};

/*
The program takes another sentence as its arguments. A word that occurs
twice has one id, and gets the same row twice:

``` {.output args="'the cat and the dog'"}
vocabulary
{'and': 0, 'cat': 1, 'dog': 2, 'the': 3}
ids (5)
[3, 1, 0, 3, 2]
embedded sentence (5, 3)
[[-1.1925,  0.6984, -1.4097],
 [-0.5880,  0.3486,  0.6603],
 [ 0.3374, -0.1778, -0.3035],
 [-1.1925,  0.6984, -1.4097],
 [-0.2196, -0.3792,  0.7671]]
```

(Row 0 is *and* here, where it was *Life*. A real vocabulary is made once
and stays.) Other alphabets do as well:

``` {.output args="'Schöne Grüße, 你好'"}
vocabulary
{'Grüße': 0, 'Schöne': 1, '你好': 2}
ids (3)
[1, 0, 2]
embedded sentence (3, 3)
[[-0.5880,  0.3486,  0.6603],
 [ 0.3374, -0.1778, -0.3035],
 [-0.2196, -0.3792,  0.7671]]
```

## Everything together
*/

int main(int argc, char *argv[])
{
    char sentence[WORDS_MAX * sizeof(Word)] = "";
    for (int i = 1; i < argc; i++) { /* a shell has parted it into words */
        if (strlen(sentence) + strlen(argv[i]) + 2 > sizeof sentence)
            REFUSE(
                "the sentence does not fit into %zu bytes: a shorter one "
                "is needed",
                sizeof sentence);
        strcat(strcat(sentence, argv[i]), " ");
    }
    if (argc > 1) {
        show_sentence(sentence);
        return 0;
    }
    figure_pipeline("pipeline", "words vectors");
    show_bell();
    show_sentence("Life is short, eat dessert first");
    return 0;
}

/*
The same in PyTorch:

``` python
import torch

words = 'Life is short, eat dessert first'.replace(',', '').split()
ids = {word: i for i, word in enumerate(sorted(set(words)))}
print(ids)
sentence = torch.tensor([ids[word] for word in words])
print(sentence)

torch.manual_seed(123)
embed = torch.nn.Embedding(50_000, 3)
print(embed(sentence).detach())
```

`detach()` says that we want the numbers alone. Without it, PyTorch would
add its note, `grad_fn=...`, since the table of an `Embedding` is meant to
be trained.

[](#random) stopped at six scores, those of *journey*. The next chapter goes
on from there.

## Further exercises

**Exercise 5.3** (★★, challenge, 3 points): `embed_one_hot`. The look-up as
a product of matrices: write each id as a one-hot row of `rows` entries, and
multiply these rows by the table. The caller hands in memory for the one-hot
rows, `one_hot`, which the function fills. It refuses what `embed` refuses.

::: hint
[](#tokens-vectors) has the formula. What remains of row times column if the
row is 0 but for one entry?
:::

::: done
Both ways give the same rows. So the table is a matrix of a product, and
training can change it like the others.
:::

**Exercise 5.4** (by hand): How many numbers does the table of 50,000 rows
of three numbers hold, and how many multiplications does the one-hot way
need for one token?

## Solutions

::: {.solution exercise="5.3"}
*/

void embed_one_hot(int n, int d, int rows, const int ids[n],
                   const float table[rows][d], float one_hot[n][rows],
                   float x[n][d])
{
    for (int i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= rows)
            REFUSE(
                "id %d is no row of a table of %d: from 0 to %d is needed",
                ids[i], rows, rows - 1);
        for (int k = 0; k < rows; k++)
            one_hot[i][k] = k == ids[i];
    }
    matmul(n, d, rows, one_hot, table, x);
}

/*
:::

::: {.solution exercise="5.4"}
$3 \cdot 50{,}000 = 150{,}000$; and as many multiplications, to copy three
numbers.
:::
*/
