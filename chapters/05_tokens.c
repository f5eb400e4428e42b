/*
# A word is a row number {#tokens}

![The way from words to attention. This chapter is about the two shaded
steps](pipeline.svg){#fig-tokens-pipeline}

So far the embeddings were simply there, typed into the program. A model
must find the vector of any word it meets, among thousands. The way it does
so is as plain as can be. All vectors stand in one large table, a row for
each word that the model knows, and each word has the number of its row.

We follow a sentence that its author has used to explain all of this in
Python [@raschka2024magazine]: *Life is short, eat dessert first*.
*/

#include "attention.h"

/*
## From text to words {#tokens-words}

First the sentence is taken apart at its blanks, and commas are thrown away.
Real models cut more cleverly, inside words too, so that a word they have
never seen can be put together from pieces they know. The pieces are called
tokens as well, and for all that follows it makes no difference.

A word here has room for a few dozen letters, or bytes to be exact. Letters
outside the English alphabet are more than one byte each. They pass through
unharmed as long as we never cut one in two, and blanks and commas are never
part of one.
*/

int split_words(const char *sentence, Word word[WORDS_MAX])
{
    int n = 0;
    for (const char *c = sentence; *c; n++) {
        size_t letters = 0;
        c += strspn(c, " \t\n,");
        if (!*c)
            break;
        if (n == WORDS_MAX)
            REFUSE("the sentence has more than %d words: at most %d fit",
                   WORDS_MAX, WORDS_MAX);
        for (; *c && !strchr(" \t\n", *c); c++) {
            if (*c == ',')
                continue;
            if (letters == sizeof word[n] - 1)
                REFUSE("word %d has more than %zu bytes: fewer are needed",
                       n + 1, sizeof word[n] - 1);
            word[n][letters++] = *c;
        }
        word[n][letters] = '\0';
    }
    if (n == 0)
        REFUSE("the sentence '%s' has no words: at least one is needed",
               sentence);
    return n;
}

/*
## From words to numbers {#tokens-ids}

The words of the sentence in alphabetical order, each once, are its
**vocabulary**, and a word's place in it is the word's number, or **id**. (A
real model has a vocabulary for all sentences; the tutorial names [30,000 to
50,000]{.cited} entries as usual [@raschka2024magazine], and newer models
have more.) `strcmp` compares bytes, and so all capital letters come before
all small ones, as they do in Python.

**Exercise 5.1** (★★★, 4 points): `vocabulary`. The words in order, each
once. It returns how many there are.

::: hint
Keep the entries in order from the start: find the place of each word among
those you have, and if it is not there yet, make room and put it in.
:::

::: hint
`strcmp(a, b)` is negative if `a` comes before `b`, and 0 if they are equal.
`memmove` moves the rest up by one place.
:::
*/

int vocabulary(int n, const Word word[n], Word entry[n])
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

The table has a row for each id. Looking a word up means copying its row.
There is nothing to compute.

**Exercise 5.2** (★, 2 points): `embed`. Row `i` of the result is row
`ids[i]` of the table. It refuses an id that is no row of the table, since C
would read some memory or other without a word.

::: hint
The rows are lists of `d` numbers.
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
The table itself is made of parameters, like the matrices of [](#qkv): it
begins with random numbers, and training moves its rows to better places.
Here is where the uniform numbers of [](#random) are not enough. For
embeddings PyTorch draws from the **normal distribution**: most numbers near
zero, fewer and fewer farther out, on both sides and without limit. How wide
they are spread is told by their **standard deviation**. As their mean is 0,
it is the root of the mean of their squares.
Box and Muller found how to
make such numbers, with deviation 1, from uniform ones, two from two
[@box1958]. [](#normals) has the code for it: `normal_fill`, which takes the
mean and the deviation wanted, here 0 and 1, and `embedding_fill`, which
calls it so.

## The sentence {#tokens-sentence}

The author of our sentence makes a table of 50,000 rows with three entries
each, as for a real vocabulary, from seed 123, and looks the six words up.
Most of the rows are never used.
*/

static void show_sentence(const char *sentence)
{
    enum { ROWS = 50000 };
    Word word[WORDS_MAX], entry[WORDS_MAX];
    const int n = split_words(sentence, word);
    const int size = vocabulary(n, word, entry);
    int ids[WORDS_MAX];
    word_ids(n, word, size, entry, ids);

    puts("vocabulary");
    for (int i = 0; i < size; i++)
        printf("%s'%s': %d", i ? ", " : "{", entry[i], i);
    puts("}");
    print_integers("ids", n, ids);

    Random r;
    float(*table)[3] = (void *)new_table(ROWS, 3), x[WORDS_MAX][3];
    random_seed(&r, 123);
    embedding_fill(&r, ROWS, 3, table);
    embed(n, 3, ROWS, ids, table, x);
    print_matrix("embedded sentence", n, 3, x);

    const char *words[WORDS_MAX];
    for (int i = 0; i < n; i++)
        words[i] = word[i];
    lookup("lookup", "Each word picks its row", n, words, ids, ROWS, 3, x);
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

These six rows are the input of almost everything that follows. They are
random, and mean nothing yet. And three entries are for the page's sake:
Llama 2, a model with seven billion parameters, has
[4,096]{.cited} for each token [@raschka2024magazine].

They are needed so often that we write them down, as `journey` was written
down in [](#softmax), to the last bit:
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
The program takes another sentence as its argument. A word that occurs twice
has one id, and gets the same row twice:

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

::: aside
The recipe that our sentence comes with numbers the sorted words without
striking out repetitions [@raschka2024magazine]. With *the* twice, *the*
would get the id 4 in a vocabulary of four words, one past the end. Its own
sentence has no word twice, so that it does not show.
:::

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

``` {.output args="', ,'" status=2}
05_tokens.c: split_words: the sentence ', ,' has no words: at least one is needed
```

## Everything together
*/

int main(int argc, char *argv[])
{
    if (argc > 2)
        REFUSE("%d arguments are given: one sentence, in quotes, is needed",
               argc - 1);
    if (argc == 2) {
        show_sentence(argv[1]);
        return 0;
    }
    pipeline("pipeline", "words vectors");
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
add a note, `grad_fn=...`, of how they came about, which it needs for
training and we do not.

Words, vectors, queries, keys and values: everything is there to take up the
six scores of [](#random), and to see what is done with them.

## Further exercises

**Exercise 5.3** (★★, challenge, 3 points): `embed_one_hot`. A look-up is a
matrix product in disguise. Write each id as a row of `rows` entries, all 0
but a single 1 in the place of the id, a **one-hot** row. Multiply these
rows by the table. The caller hands in memory for the one-hot rows,
`one_hot`, which the function fills.

::: hint
What remains of row times column if the row is 0 but for one place?
:::

**Exercise 5.4** (by hand): How many numbers does the table of 50,000 rows
hold, and how many multiplications does the one-hot way need for one token?

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
Three times 50,000; and as many multiplications. Nobody does it this way.
But it shows that the table is a matrix of the same kind as those of
[](#qkv).
:::
*/
