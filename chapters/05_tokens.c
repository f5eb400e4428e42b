/*
# Tokens and embeddings: a word is a row number {#tokens}

GPT-2 is a set of tables of numbers, and there isn't a word in any of them.
The first large table has a row for each token that GPT-2 knows. To the
model a word is the number of a row, and that's all it ever finds out about
how the word is written.

So before attention can begin, a text has to become row numbers, and the row
numbers have to become rows. That takes three short steps, and at the end
you can give the program a sentence of your own.
*/

#include "attention/05_tokens.h"
#include "attention/01_dot_product.h"
#include "attention/04_scaling.h"
#include "attention/B_random.h"
#include "support.h"

/*
## From text to words {#tokens-words}

To cut a text into tokens is called **tokenization**. We cut at spaces and
leave commas out; everything else, full stops too, stays with its word. Real
models also cut inside words, into *subwords*, so
that a word they have never seen can be put together from pieces they know.
For everything that follows it makes no difference what the pieces are.

::: {.header of="Word"}
:::
*/

/* A letter outside the English alphabet takes several bytes in UTF-8. None
 * of them looks like a space or a comma, so no letter is cut in two.
 * (strchr finds the closing 0 too, since its list of characters ends with
 * one; so the end of the text ends the last word.) */
int split_words(const char *sentence, Word word[WORDS_MAX])
{
    int n = 0;
    size_t letters = 0; /* of word n, so far */
    const char *c = sentence;
    do {
        if (!strchr(", \t\n", *c)) { /* part of a word */
            if (n == WORDS_MAX || letters == sizeof *word - 1)
                REFUSE("word %d does not fit: at most %d words, of at most "
                       "%zu bytes each, are needed",
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

Put the words of the text in the order of `strcmp`, capital letters first,
each of them once. That is the **vocabulary**, and a word's position in it,
counted from 0, is the word's number, or **id**. It doesn't matter which
word gets which number, only that the same word always gets the same one.

Our program makes its vocabulary from the sentence it's given. A real model
has one for all texts, made once. Raschka gives
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
into subwords first, and then looks up their numbers as you do.
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

/*
With the vocabulary in hand, finding a word's id is a search:
*/

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

The table with a row for each id is called the **embedding layer**, and the
number of its columns the **embedding size**. Looking a word up means
copying its row. There is nothing to calculate.

**Exercise 5.2** (★, 2 points): `embed`. Row `i` of the result is row
`ids[i]` of the table. It refuses an id that is no row of the table, since C
would read other memory and say nothing.

::: hint
Test an id before you use it, and remember that it may be negative. The row
to copy is `table[ids[i]]`.
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
You'll meet the look-up written as a product, too. Turn every id into a
**one-hot** row, with as many entries as the vocabulary has words, $v$ of
them, all 0 but for a single 1 at the place of the id. That row times the
table $E$ is the row of $E$ with that id, because all other rows are
multiplied by 0. With the one-hot rows of a text in a table $H$:

$$\underset{n \times d}{X}
    = \underset{n \times v}{H}\;\underset{v \times d}{E}$$

No program looks words up that way. But the product shows what the table is,
a matrix of parameters like those of [](#qkv), and that training can change
its rows as it changes any other matrix.

## A sentence {#tokens-sentence}

The sentence is *Life is short, eat dessert first*. The table has 50,000
rows, as for a real vocabulary, and three columns, as fits on a page. What
is in it, before anything has been learned? Random numbers: if all rows were
equal, no word could be told from another until training had moved them
apart. PyTorch draws them from a bell curve around 0 with the spread 1, and
`embedding_fill` draws the same ones from the same seed ([](#random-bell)).
(Draw only six rows, and most of them would come out different, for a reason
that [](#random-groups) gives. So we draw them all and use six.)
*/

/* folded: how this is printed */
static void print_vocabulary(int size, const Word entry[size])
{
    puts("vocabulary");
    for (int i = 0; i < size; i++)
        printf("%s'%s': %d", i ? ", " : "{", entry[i], i);
    puts("}");
}

/*
All three steps, one after another:
*/

static void show_sentence(const char *sentence)
{
    enum { N_ROWS = 50000 };
    Word word[WORDS_MAX], entry[WORDS_MAX];
    const int n = split_words(sentence, word);
    const int size = build_vocabulary(n, word, entry);
    int ids[WORDS_MAX];
    word_ids(n, word, size, entry, ids);
    print_vocabulary(size, entry);
    print_integers("ids", n, ids);

    float(*table)[3] = new_table(N_ROWS, 3);
    float x[WORDS_MAX][3];
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

`strcmp` compares bytes, and so capital letters come before small ones.
*Life* leads the alphabet, and *dessert* follows as the first of the words
in small letters.
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

These rows are random, so they don't mean anything yet. Now try sentences of
your own. A word that occurs twice has one id, and gets the same row twice:

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

*The* has the row that *first* had before, and that is no accident: this is
another vocabulary, with its own number 3. A model meant to remember what
*first* means can't afford that, which is why its vocabulary is made once
and kept.

Any alphabet will do:

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

(`detach()` asks for the numbers alone. Without it, PyTorch would add its
note `grad_fn=...`, since the table of an `Embedding` is meant to be
trained.)

So any sentence becomes vectors, vectors become queries, keys and values,
and attention mixes them. The whole machine runs, and it's full of random
numbers. Who is going to put something sensible in? In [](#learning) you'll
see that the numbers can find it by themselves.

## In the tutorials {#tokens-tutorials}

The sentence, the seed and the table of 50,000 rows are those of Raschka's
article [@raschka2024magazine]. Its program sorts the words without removing
duplicates first, which goes wrong for a sentence with a repeated word
([A.28](#errata-28)). The three columns are for the page's sake there, too:
the article gives [4,096]{.cited} as the embedding size of Llama 2 with
seven billion parameters.

The six rows are needed in later chapters, so here they are, with nine
digits, which are enough to recover a float exactly. A test checks them
against what the seed makes.
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
The article continues with matrices from the seed 123, and works out what
the word *is* looks at. Its values have four entries where queries and keys
have two. Queries and keys must agree, since they meet in a dot product; the
size of the values is free, and is the size of the result.
*/

/* folded: how this is printed */
static void show_life(void)
{
    const char *const words[6] = {"Life", "is",      "short",
                                  "eat",  "dessert", "first"};
    float query[6][2], key[6][2], value[6][4], unscaled[6][6];
    float scores[6][6], weights[6][6], context[6][4];
    qkv_from_seed(123, 6, 3, 2, 4, life, query, key, value);
    dot_scores(6, 6, 2, query, key, unscaled);
    attention(6, 6, 2, 4, query, key, value, scores, weights, context);

    print_integers("keys, values: rows and columns", 4,
                   (const int[]){6, 2, 6, 4});
    print_vector("query of is", 2, query[1]);
    print_vector("key of is", 2, key[1]);
    print_vector("value of is", 4, value[1]);
    print_vector("scores of is, not divided", 6, unscaled[1]);
    print_matrix("attention weights", 6, 6, weights);
    print_vector("context vector of is", 4, context[1]);
    figure_heatmap("life", "What each word takes of each", 6, words, 6,
                   words, weights);
}

/*
``` output
keys, values: rows and columns (4)
[6, 2, 6, 4]
query of is (2)
[0.5667, 1.8269]
key of is (2)
[0.5295, 1.7355]
value of is (4)
[0.6612, 1.8972, 1.0963, 1.8106]
```

``` output
scores of is, not divided (6)
[-0.6004,  3.4707, -1.5023,  0.4991,  1.2903, -1.3374]
attention weights (6, 6)
[[0.1772, 0.1326, 0.1879, 0.1645, 0.1547, 0.1831],
 [0.0386, 0.6870, 0.0204, 0.0840, 0.1470, 0.0229],
 [0.1965, 0.0618, 0.2506, 0.1452, 0.1146, 0.2312],
 [0.1505, 0.2187, 0.1401, 0.1651, 0.1793, 0.1463],
 [0.1347, 0.2758, 0.1162, 0.1621, 0.1881, 0.1231],
 [0.1973, 0.0247, 0.3102, 0.1132, 0.0751, 0.2794]]
context vector of is (4)
[0.5313, 1.3607, 0.7891, 1.3110]
```

The article calls its fifth score, 1.2903, by the name of the fourth,
$\omega_{2,4}$ ([A.27](#errata-27)).

![What each word, a row, takes of each. *Is*, *eat* and *dessert* look at
*is* most, the other three look at it least. With random vectors and
matrices, that says nothing about English](life.svg){#fig-life}

::: {.workbench args="stage=scale"}
:::
*/

int main(int argc, char *argv[])
{
    char sentence[WORDS_MAX * sizeof(Word)] = "";
    for (int i = 1; i < argc; i++) { /* a shell has split it into words */
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
    show_sentence("Life is short, eat dessert first");
    show_life();
    return 0;
}

/*
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
