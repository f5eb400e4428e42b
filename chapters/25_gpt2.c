/*
# GPT-2 {#gpt2}

![The way from words to attention. This chapter looks at the shaded
step](pipeline.svg){#fig-gpt2-pipeline}

The model of [](#language-model) reads *shiny* as five letters. To GPT-2 it
is number 22441, or, at the beginning of a text, the numbers 1477 and 3541.
GPT-2 can only memorize how many letters such a number stands for.

Why would anyone build a reader that doesn't see the letters of a word?
Letters are expensive. A context of 128 of them ends after two dozen words,
and each letter costs as much to read as a word would. A token for every
word is the other extreme: then *shinyish* has no token, and can be neither
read nor written.

Large models take a middle course: letters that often occur together become
one token, and a count over a large text decides which. This chapter finds
such tokens, and then loads GPT-2, with its own tokens, to continue a
sentence of yours.
*/

#include "attention/25_gpt2.h"
#include "attention/prose.h"
#include "support.h"
#include "support/tsv.h"

/*
## Byte-pair encoding {#gpt2-pairs}

Begin with bytes, of which there are 256, so that every text can be written.
Then look for the most frequent pair of neighbours, and give it a token of
its own, number 256. Do it again, with the new token among the others: 257,
258, and so on. That is **byte-pair encoding** [@sennrich2016], and it takes
a few short functions.

**Exercise 25.1** (★★, 3 points): `most_frequent_pair`. Which two tokens are
neighbours most often? Write them to `pair`, and return how often. All ids
are below `tokens`. Of equally frequent pairs take the one that comes first
in the text; for a text of fewer than two tokens, return 0 and leave `pair`
alone. (In *aaa*, the pair *aa* counts twice.) `most_frequent_pair` refuses
an id that is not below `tokens`.

::: hint
Count all pairs first, in a table of `tokens` rows of `tokens` numbers:
`new_list(tokens, sizeof *count)` gives one that is filled with 0.
:::

::: hint
Then go through the text once more, and keep the first pair with the largest
count. The table is yours to free.
:::

::: done
With fifty thousand tokens the table would have billions of counts: for
large vocabularies, keep a list of pairs instead.
:::
*/

int most_frequent_pair(int tokens, int n, const int ids[n], int pair[2])
{
    int(*count)[tokens] = new_list((size_t)tokens, sizeof *count);
    int most = 0;
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= tokens)
            REFUSE("id %d is %d: one from 0 to %d is needed", i, ids[i],
                   tokens - 1);
    for (int i = 0; i + 1 < n; i++)
        count[ids[i]][ids[i + 1]]++;
    for (int i = 0; i + 1 < n; i++)
        if (count[ids[i]][ids[i + 1]] > most) {
            most = count[ids[i]][ids[i + 1]];
            pair[0] = ids[i];
            pair[1] = ids[i + 1];
        }
    free(count);
    return most;
}

/*
**Exercise 25.2** (★★, 3 points): `bpe_merge`. Put the token `whole` in
place of each occurrence of `pair`, from left to right, and return how many
tokens are left. `ids` is overwritten. In *aaa*, the pair *aa* is merged
once, and the last *a* stays.

::: hint
Two indices: one that reads, and one that writes, which never gets ahead.
:::

::: done
Nothing is lost: you can get the text back, token by token.
:::
*/

int bpe_merge(int n, int ids[n], const int pair[2], int whole)
{
    int left = 0;
    for (int i = 0; i < n; i++)
        if (i + 1 < n && ids[i] == pair[0] && ids[i + 1] == pair[1]) {
            ids[left++] = whole;
            i++;
        } else
            ids[left++] = ids[i];
    return left;
}

/*
**Exercise 25.3** (★★, 3 points): `bpe_train`. Learn up to `merges` merges
from a text of bytes; `ids` is overwritten. Merge `k` makes the token
`BPE_BYTES + k` from `pair[k]`. Stop when no pair is counted twice, and
return how many merges were made.

::: hint
At merge `k` there are `BPE_BYTES + k` tokens. `n` shrinks.
:::

::: done
That's all there is to training here: counting. No slope, no loss, no step.
:::
*/

int bpe_train(int n, int ids[n], int merges, int pair[merges][2])
{
    for (int k = 0; k < merges; k++) {
        int found[2];
        if (most_frequent_pair(BPE_BYTES + k, n, ids, found) < 2)
            return k;
        pair[k][0] = found[0];
        pair[k][1] = found[1];
        n = bpe_merge(n, ids, found, BPE_BYTES + k);
    }
    return merges;
}

/*
**Exercise 25.4** (★, 2 points): `bpe_encode`. Encode another text of bytes,
in place, by merges that have been learned, in the order in which they were
learned, whether or not its own pairs are frequent. Return how many tokens
there are.

::: hint
One loop over the merges, with one line in it.
:::

::: done
A tokenizer is a list of pairs, and this loop.
:::
*/

int bpe_encode(int merges, const int pair[merges][2], int n, int ids[n])
{
    for (int k = 0; k < merges; k++)
        n = bpe_merge(n, ids, pair[k], BPE_BYTES + k);
    return n;
}

/*
**Exercise 25.5** (★★, 3 points): `bpe_decode`. The way back: write the
bytes of one token to `text`, which has room for `most`, and return how many
there are. A token below `BPE_BYTES` is a byte. Any other is a merge of two
tokens, each of which may be a merge. `bpe_decode` refuses an id that
belongs to no token, and a `text` that is too small.

::: hint
Let the function call itself, for the left part and for the right one. Where
does the right one begin?
:::

::: done
A token is a tree whose leaves are bytes.
:::
*/

int bpe_decode(int merges, const int pair[merges][2], int id, int most,
               char text[most])
{
    if (id < 0 || id >= BPE_BYTES + merges)
        REFUSE("id %d: one from 0 to %d is needed", id,
               BPE_BYTES + merges - 1);
    if (most < 1)
        REFUSE("token %d: room for more bytes is needed", id);
    if (id < BPE_BYTES) {
        *text = (char)id;
        return 1;
    }
    const int *parts = pair[id - BPE_BYTES];
    const int left = bpe_decode(merges, pair, parts[0], most, text);
    return left +
           bpe_decode(merges, pair, parts[1], most - left, text + left);
}

/* folded: how this is printed */
static int *new_bytes(const char *text, int n)
{
    int *ids = new_list((size_t)n, sizeof *ids);
    for (int i = 0; i < n; i++)
        ids[i] = (unsigned char)text[i];
    return ids;
}

/* A token between bars, so that its spaces can be seen. Returns how many
 * columns it takes. */
static int print_token(int merges, const int pair[merges][2], int id)
{
    char text[1000];
    const int n = bpe_decode(merges, pair, id, sizeof text, text);
    return printf("%.*s|", n, text);
}

static void print_text(int merges, const int pair[merges][2],
                       const char *text)
{
    const int bytes = (int)strlen(text);
    int *ids = new_bytes(text, bytes);
    const int n = bpe_encode(merges, pair, bytes, ids);
    printf("%d bytes, %d tokens\n  |", bytes, n);
    for (int i = 0, columns = 0; i < n; i++) {
        if (columns > 56)
            columns = printf("\n  |") - 4;
        columns += print_token(merges, pair, ids[i]);
    }
    puts("");
    free(ids);
}

static void show_shoes(void)
{
    enum { MERGES = 8 };
    static const char text[] =
        "a shiny sun and a shiny shoe: shiny shoes shine in the sun";
    int pair[MERGES][2];
    int *ids = new_bytes(text, sizeof text - 1);
    const int merges = bpe_train(sizeof text - 1, ids, MERGES, pair);
    for (int k = 0; k < merges; k++) {
        printf("%d: |", BPE_BYTES + k);
        print_token(merges, pair, pair[k][0]);
        printf(" and |");
        print_token(merges, pair, pair[k][1]);
        puts("");
    }
    print_text(merges, pair, text);
    print_text(merges, pair, "a shinyish sunshine");
    free(ids);
}

/*
Eight merges, learned from one sentence about shoes; then that sentence, *a
shiny sun and a shiny shoe: shiny shoes shine in the sun*; then *a shinyish
sunshine*. Tokens end at bars, so that you can see their spaces:

``` output
256: | | and |s|
257: | s| and |h|
258: |i| and |n|
259: | sh| and |in|
260: | shin| and |y|
261: |a| and | shiny|
262: | s| and |u|
263: | su| and |n|
58 bytes, 26 tokens
  |a shiny| sun| |a|n|d| |a shiny| sh|o|e|:| shiny| sh|o|e|s|
  | shin|e| |in| |t|h|e| sun|
19 bytes, 9 tokens
  |a shiny|i|s|h| sun|s|h|in|e|
```

After five merges *shiny* is one token, with the space before it: 260. Read
the list from the top and you see it grow. The second text has two words
that were not in the first, and it can still be encoded: in pieces that were
learned, and in single letters for the rest. No word is unknown, only
expensive.

And look at token 261: *a shiny*. Two words in one token, because they came
together twice. Nobody told the encoder what a word is.

## From a whole book {#gpt2-book}

One sentence teaches its own words. What does a book teach? Here are some of
250 merges from the prose of this one:
*/

/* folded: how this is printed */
static int longer_first(const void *a, const void *b)
{
    const int *left = a, *right = b;
    return right[1] - left[1] ? right[1] - left[1] : left[0] - right[0];
}

static void show_book(void)
{
    enum { MERGES = 250, SHOWN = 8 };
    static int pair[MERGES][2], length[MERGES][2];
    int *ids = new_bytes(prose()->bytes, prose()->length);
    char text[1000];
    bpe_train(prose()->length, ids, MERGES, pair);
    printf("the first %d\n  |", SHOWN);
    for (int k = 0; k < SHOWN; k++)
        print_token(MERGES, pair, BPE_BYTES + k);
    for (int k = 0; k < MERGES; k++) {
        length[k][0] = BPE_BYTES + k;
        length[k][1] =
            bpe_decode(MERGES, pair, BPE_BYTES + k, sizeof text, text);
    }
    qsort(length, MERGES, sizeof *length, longer_first);
    printf("\nthe longest %d\n  |", SHOWN);
    for (int k = 0; k < SHOWN; k++)
        print_token(MERGES, pair, length[k][0]);
    free(ids);
    ids = new_bytes(held_out()->bytes, held_out()->length);
    const int left = bpe_encode(MERGES, pair, held_out()->length, ids);
    print_integers("\ntext held out: bytes, tokens", 2,
                   (int[]){held_out()->length, left});
    print_value("bytes per token", (float)held_out()->length / (float)left);
    free(ids);
}

/*
``` output
the first 8
  |e |s |th| a| th|er|t | the |
the longest 8
  | attention|chapter |numbers |of the |tention|, and |. The | the s|
text held out: bytes, tokens (2)
[23578, 10849]
bytes per token: 2.1733
```

An *e* or an *s* at the end of a word comes first, then *th*; and the
longest of all is *attention*, with the space before it. In paragraphs that
were held out, a token stands for 2.1733 bytes: a context of 128 tokens
reaches more than twice as far as one of 128 bytes, and attention costs the
same as before. (The tables of embeddings and of logits grow.) That is what
tokens are for.

::: question
One of these tokens begins with a full stop. How did it get into a token
with *The*?

Pairs are counted, not words. *The* begins many sentences, and what comes
before it there is a full stop and a space, often enough to be merged with
it.
:::
*/

/*
## GPT-2's own tokens {#gpt2-tokens}

GPT-2's vocabulary was made like this, from the text of millions of web
pages, with [50000]{.cited} merges [@radford2019]. With the 256 bytes and
one token that ends a text, that makes $256 + 50000 + 1 = 50257$. There is
one more rule. Before any merge, the text is split into words, each with the
space before it, into numbers, and into punctuation, and no merge crosses
these boundaries. So *a shiny* can't become a token there, and the
vocabulary isn't wasted on *shoe.* beside *shoe,* and *shoe!*

The files that come with the model contain everything: `vocab.json` names
the tokens, and `merges.txt` the pairs, in their order. `src/gpt2_tokens.c`
reads them, splits a text into such words, and encodes each as `bpe_encode`
does. A test compares it with OpenAI's own `tiktoken`, on hundreds of texts
with code, emoji, Chinese and bytes that aren't text at all. Three of these
texts, with the ids that both produce:
*/

/* folded: how this is printed */
/* What tiktoken has made of a text, by golden/gpt2_tokens.tsv, where blanks
 * are \\x20. */
static void show_ids(Tsv *file, const char *field, const char *text)
{
    do
        tsv_row(file, 3);
    while (strcmp(file->field[0], field));
    printf("'%s': %s\n", text, file->field[2]);
}

static void show_tokens(void)
{
    static const char *const column[3] = {"text", "small", "gpt2"};
    Tsv file = tsv_read("golden/gpt2_tokens.tsv");
    tsv_value_integer(&file, "texts", 1, INT_MAX);
    tsv_columns(&file, 3, column);
    show_ids(&file, "shiny", "shiny");
    show_ids(&file, "\\x20shiny", " shiny");
    show_ids(&file, "A\\x20shiny\\x20shoe\\x20is", "A shiny shoe is");
    tsv_free(&file);
}

/*
``` output
'shiny': 1477 3541
' shiny': 22441
'A shiny shoe is': 32 22441 17292 318
```

With a space before it, *shiny* is one token; at the very beginning of a
text it is two, *sh* and *iny*. (GPT-2 numbers the bytes in an order of its
own, from *!* on: *A* comes 32 places later, so it is token 32.) How many
letters are in token 22441?

## GPT-2 continues your sentence {#gpt2-writes}

GPT-2's 124,439,808 parameters ([](#gpt-model)) are public. Fetch the four
files, half a gigabyte in all, and type how a text begins:

``` sh
from=https://huggingface.co/openai-community/gpt2/resolve/main
for file in model.safetensors config.json vocab.json merges.txt; do
  curl -LO $from/$file
done
make -s gpt2 DIR=. TEXT="A shiny shoe is"
```

The program, `tools/gpt2.c`, shows the tokens of your text with their ids,
the five that most likely come next, with their shares, and then it writes.
`TOKENS=40` says how many, and `TEMPERATURE=0.8` and `TOP_K=40` are the
settings of [](#language-model-writing). The model is the one you built in
[](#gpt), in its fast version, and your `draw_token` chooses the words.
`HEADS=1`, in place of a text, switches off each of its $12 \cdot 12 = 144$
heads in turn, and prints their scores as in [](#inside-run): look for
induction heads. (Its texts are 64 random tokens, twice, so that only the
first half helps to predict the second.) The files of `gpt2-medium`,
`gpt2-large` and `gpt2-xl` work the same way.

Numbers in a file don't say what they are for. In this one, the table of a
layer is `[in][out]`, the transpose of `nn.Linear`'s, and queries, keys and
values share one table. If you read a square table the wrong way round,
nothing reports an error, and the model talks nonsense. So the tests compare
the stream after each block with PyTorch's, for a small model of this
layout: the first block that differs has the wrong table.

## The end

You began with two lists of numbers and one product. The model that reads
and writes here is made of little else: of products and shares. Its tokens
came from counting, and everything else it knows came from slopes.

Models that people talk with are much larger than GPT-2, and differ from it
in some parts. Most of them rotate queries and keys instead of adding a
table of positions ([](#positions)), and let heads share keys
([](#kv-cache-groups)). Many keep several networks in each block, and send
each token through a few (mixture of experts). And after they have read,
they are trained once more, on people's answers and ratings, to be of use in
a conversation. Whatever you meet there, you know how to find out what it
does: give it small numbers, try each of them a little larger, switch it
off, and compare.
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "words");
    show_shoes();
    show_book();
    show_tokens();
    return 0;
}

/*
The same merges in Python, which names a token by its text:

``` python
from collections import Counter

text = "a shiny sun and a shiny shoe: shiny shoes shine in the sun"
tokens = list(text)
for k in range(8):
    pairs = Counter(zip(tokens, tokens[1:]))
    left, right = max(pairs, key=pairs.get)
    merged = []
    for token in tokens:
        if merged and (merged[-1], token) == (left, right):
            merged[-1] = left + right
        else:
            merged.append(token)
    tokens = merged
    print(f"{256 + k}: |{left}| and |{right}|")
print(f"{len(text)} bytes, {len(tokens)} tokens")
```

## Further exercises

**Exercise 25.6** (by hand): Which pair does byte-pair encoding merge first
in *banana bandana*, and which next? Of equally frequent pairs the first one
in the text counts.

## Solutions

::: {.solution exercise="25.6"}
*a* and *n* are neighbours four times, and no other pair occurs as often:
*n* and *a* three times, in *banana* twice and in *bandana* once. With *an*
as one token, the text is *b an an a*, a space, *b an d an a*. Now *b* and
*an* are neighbours twice, and so are *an* and *a*. The former pair comes
first.
:::
*/
