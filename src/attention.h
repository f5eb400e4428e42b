/*
# The header {#reference}

Every type and function of the book stands here, grouped by chapter in
reading order: what it computes, the shapes, what it refuses, and what it is
called elsewhere. The support library, which no chapter teaches, comes last;
only `objects.c`, the memory of an attention and of its trace, stands with
chapter 7.

Sizes come first, and where there are several, in this order: the rows of
the result, its columns, what is summed over. Inputs are `const`, outputs
come last and must not overlap the inputs, and the caller owns all memory.
A module that a function works on, and a generator that fills a table, come
before everything else. A module is a struct with an `_init` that asks for
memory, and a `_free` that gives it back; a copy of the struct is not a copy
of the memory, and only one of them is to be freed. A shape that a
type can say is not repeated in words. Sizes are at least 1: C has no type
for a smaller table. Of a list only a pointer is passed, and a function that
says what it does with an empty one may be given one. `F` is PyTorch's
`torch.nn.functional`.
*/

#ifndef ATTENTION_H
#define ATTENTION_H

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
## Chapter 1, alignment {#header-dot-product}
*/

/* Multiplies two lists entry by entry: product[k] = a[k] * b[k].
 * PyTorch: a * b. NumPy: np.multiply(a, b). */
void multiply(int n, const float a[n], const float b[n], float product[n]);

/* The dot product, the sum of a[k] * b[k]; 0 for n = 0. Like other
 * products of vectors and tables in this book, it is added up as a float:
 * of a million terms, the fifth digit may be wrong.
 * PyTorch: torch.dot(a, b), a @ b. */
float dot(int n, const float a[n], const float b[n]);

/* The length of a list as an arrow, root of its dot product with itself,
 * whose squares must be numbers that a float can hold.
 * PyTorch: torch.linalg.vector_norm(a). */
float length(int n, const float a[n]);

/* All dot products of n queries with m keys of d entries each:
 * scores[i][j] = dot(query[i], key[j]).
 * PyTorch: query @ key.T. Vaswani et al. 2017, in equation 1. */
void dot_scores(int n, int m, int d, const float query[n][d],
                const float key[m][d], float scores[n][m]);

/* The matrix product: entry [i][j] is row i of a times column j of b.
 * PyTorch: a @ b, torch.matmul(a, b). */
void matmul(int n, int m, int d, const float a[n][d], const float b[d][m],
            float product[n][m]);

/* Exchanges rows and columns: turned[j][i] = a[i][j].
 * PyTorch: a.T. */
void transpose(int n, int m, const float a[n][m], float turned[m][n]);

/* The cosine of the angle between two lists, -1 to 1 but for rounding.
 * Refuses a list of zeros.
 * PyTorch: F.cosine_similarity(a, b, dim=0), which takes a length below
 * 1e-8 for 1e-8, and answers 0 where a length is beyond a float. */
float cosine(int n, const float a[n], const float b[n]);

/* The cosines of n queries with m keys of d entries each.
 * Refuses what cosine refuses.
 * PyTorch: F.normalize(query) @ F.normalize(key).T. */
void cosine_scores(int n, int m, int d, const float query[n][d],
                   const float key[m][d], float scores[n][m]);

/*
## Chapter 2, shares {#header-softmax}
*/

/* Softmax as the formula has it: e^score divided by the sum of all of them.
 * For show only: where e^score or the sum exceeds the largest float, or all
 * come to nothing, weights become 0 or NaN. From 89 up and -104 down, that
 * happens to a single score. */
void softmax_naive(int n, const float scores[n], float weights[n]);

/* Softmax: shares from 0 to 1 that add up to one, whatever the size of the
 * scores. A score of -infinity gets 0; if all are -infinity, or one is
 * +infinity or NaN, every share is NaN. Refuses n < 1.
 * PyTorch: F.softmax(scores, dim=-1), alike in every case but the last. */
void softmax(int n, const float scores[n], float weights[n]);

/* The mixture of n rows by their weights:
 * context[k] = sum over j of weights[j] * value[j][k].
 * PyTorch: weights @ value. For many rows of weights at once: matmul. */
void mix(int n, int d, const float weights[n], const float value[n][d],
         float context[d]);

/* Softmax of each row of a table.
 * PyTorch: F.softmax(scores, dim=-1). */
void softmax_rows(int n, int m, const float scores[n][m],
                  float weights[n][m]);

/* The embeddings of "Your journey starts with one step", which several
 * tutorials use. Raschka 2024, section 3.3. */
extern const float journey[6][3];

/* Softmax that finds maximum and sum in one pass over the scores; a second
 * writes the shares. Agrees with softmax, NaN included. Refuses n < 1.
 * Milakov and Gimelshein 2018, algorithm 3. */
void softmax_online(int n, const float scores[n], float weights[n]);

/*
## Chapter 3, three roles {#header-qkv}
*/

/* Queries, keys and values of n tokens of d entries: x times each matrix.
 * PyTorch: x @ w_query, x @ w_key, x @ w_value. */
void project(int n, int d, int d_k, int d_v, const float x[n][d],
             const float w_query[d][d_k], const float w_key[d][d_k],
             const float w_value[d][d_v], float query[n][d_k],
             float key[n][d_k], float value[n][d_v]);

/* What one query gets from m keys and their values: its scores, their
 * softmax, and the mixture of the values. Not scaled.
 * PyTorch: F.scaled_dot_product_attention(query, key, value, scale=1.0). */
void attend_one(int m, int d_k, int d_v, const float query[d_k],
                const float key[m][d_k], const float value[m][d_v],
                float scores[m], float weights[m], float context[d_v]);

/* A matrix for the queries of "cat likes fish" with which the verb asks for
 * cat and fish alike, and the others ask as before. */
void hand_weights(float w_query[3][3]);

/*
## Chapter 4, a seed {#header-random}
*/

/* The Mersenne Twister as PyTorch keeps it for a CPU, with the second of a
 * pair of normal numbers, which waits for the next call. */
enum { RANDOM_STATE = 624 };
typedef struct {
    uint32_t state[RANDOM_STATE];
    int next; /* the number of the state that comes next */
    int has_kept;
    double kept;
} Random;

/* Begins the stream of a seed, of which the lower 32 bits count.
 * PyTorch: torch.manual_seed(seed). Matsumoto and Nishimura 1998. */
void random_seed(Random *r, uint64_t seed);

/* Makes the next 624 numbers of the state from the last, in place.
 * Matsumoto and Nishimura 1998, section 2. */
void random_twist(uint32_t state[RANDOM_STATE]);

/* The next 32 bits; or 64, of which the first draw is the upper half.
 * PyTorch: at::mt19937, and random64() of its CPU generator. */
uint32_t random_u32(Random *r);
uint64_t random_u64(Random *r);

/* A number from 0 to below 1: the lower 24 bits of a draw, divided by 2^24.
 * PyTorch: torch.rand(1), to the last bit. */
float random_float(Random *r);

/* A table of such numbers, row by row.
 * PyTorch: torch.rand(n, m), to the last bit. */
void rand_fill(Random *r, int n, int m, float x[n][m]);

/* A table of numbers from low to below high. Refuses low above high, and
 * limits that are not finite or whose difference as a float is not.
 * PyTorch: x.uniform_(low, high), to the last bit. */
void uniform_fill(Random *r, int n, int m, float low, float high,
                  float x[n][m]);

/* Another seed with the same stream. */
uint64_t seed_collision(uint64_t seed);

/*
## Chapter 5, words and rows {#header-tokens}
*/

/* A word and its closing 0; and how many words a sentence may have. */
enum { WORDS_MAX = 64 };
typedef char Word[32];

/* Takes a sentence apart at blanks, tabs and newlines, leaves commas out,
 * and returns the number of words. Refuses a sentence with no words, or
 * with more than fit, and a word that is too long.
 * Python: sentence.replace(',', '').split(). */
int split_words(const char *sentence, Word word[WORDS_MAX]);

/* The different words, in the order of their bytes; returns their number.
 * Python: sorted(set(words)). */
int vocabulary(int n, const Word word[n], Word entry[n]);

/* The place of each word in the vocabulary. Refuses one that has none. */
void word_ids(int n, const Word word[n], int size, const Word entry[size],
              int ids[n]);

/* Looks ids up: row i of x is row ids[i] of the table. Refuses an id that
 * is no row. PyTorch: F.embedding(ids, table). */
void embed(int n, int d, int rows, const int ids[n],
           const float table[rows][d], float x[n][d]);

/* The six vectors of "Life is short, eat dessert first": rows of a table of
 * 50,000 that seed 123 has filled.
 * PyTorch: torch.manual_seed(123), nn.Embedding(50_000, 3)(ids). */
extern const float life[6][3];

/* As embed, by way of a matrix product with one-hot rows.
 * PyTorch: F.one_hot(ids, rows).float() @ table. */
void embed_one_hot(int n, int d, int rows, const int ids[n],
                   const float table[rows][d], float one_hot[n][rows],
                   float x[n][d]);

/*
## Chapter 6, the scale {#header-scaling}
*/

/* The spread of n scores, their standard deviation: the root of the mean
 * square of what they differ from their mean.
 * PyTorch: torch.std(scores, correction=0). */
float score_spread(int n, const float scores[n]);

/* Divides the scores by the root of d_k, in place.
 * PyTorch: scores / d_k**0.5. Vaswani et al. 2017, in equation 1. */
void scale_scores(int n, int m, int d_k, float scores[n][m]);

/* The largest entry of each row, and the mean of these; NaN if one is NaN.
 * PyTorch: weights.max(dim=-1).values.mean(). */
float mean_largest(int n, int m, const float weights[n][m]);

/* What n queries get from m keys and their values: the scores, divided by
 * the root of d_k, their softmax by rows, and the mixtures of the values.
 * PyTorch: F.scaled_dot_product_attention(query, key, value).
 * Vaswani et al. 2017, equation 1. */
void attention(int n, int m, int d_k, int d_v, const float query[n][d_k],
               const float key[m][d_k], const float value[m][d_v],
               float scores[n][m], float weights[n][m],
               float context[n][d_v]);

/* What n shares become when the score behind share j is raised by step; NaN
 * if the step is NaN.
 * PyTorch: F.softmax(log(weights) + step * F.one_hot(j, n), dim=-1). */
void nudge(int n, const float weights[n], int j, float step,
           float nudged[n]);

/*
## Chapter 7, one object {#header-self-attention}
*/

/* What an attention computes: the pages print it, and training reads it.
 * Its tables are given by all their entries, row after row, and lie one
 * behind the other in one block. Each forward says which of them it
 * fills. */
typedef struct {
    int n, m;      /* tokens that ask, and tokens that are asked */
    int n_heads;   /* 1 for one head */
    int d_k, d_v;  /* entries of a head's queries and keys, of its values */
    int d_out;     /* columns of `out`, chapter 13; 0: there are none */
    float *query;  /* [n][n_heads * d_k] */
    float *key;    /* [m][n_heads * d_k] */
    float *value;  /* [m][n_heads * d_v] */
    float *scores; /* [n_heads][n][m], scaled, and masked: chapter 9 */
    float *weights; /* [n_heads][n][m] */
    float *context; /* [n_heads][n][d_v] */
    float *memory;  /* the block with all tables */
    size_t count;   /* how many numbers it holds */

    /* From chapter 11 on: */
    double rate;    /* of dropout; 0 if nothing was to be dropped */
    float *kept;    /* [n_heads][n][m], 1 where dropout keeps */
    float *dropped; /* [n_heads][n][m], weights after dropout */

    /* From chapter 13 on, query, key and value head by head, the contexts
     * of all heads side by side, and what the output layer makes of it: */
    float *head_query; /* [n_heads][n][d_k] */
    float *head_key;   /* [n_heads][m][d_k] */
    float *head_value; /* [n_heads][m][d_v] */
    float *joined;     /* [n][n_heads * d_v] */
    float *out;        /* [n][d_out], or NULL */

    /* From chapter 19 on, and 0 until then: with texts above 0, so many
     * texts of n tokens that ask and m that are asked, for functions that
     * do without tables. Then query, key, value, joined and out have the
     * rows of all texts, one text after the other; the log-sum-exps take
     * the place of scores and weights; and all other tables are NULL. */
    int texts;
    float *log_sum; /* [texts][n_heads][n] */
} Trace;

/* Makes room, filled with 0, for the tables of the sizes that t has been
 * given; gives it back. Refuses n, m, n_heads, d_k or d_v below 1, a d_out
 * or texts below 0, texts with more tokens than an int can count, and sizes
 * whose tables do not fit. */
void trace_init(Trace *t);
void trace_free(Trace *t);

/* Refuses a trace of other sizes, of several texts, or without tables. */
void trace_must_fit(const Trace *t, int n, int m, int n_heads, int d_k,
                    int d_v, int d_out);

/* From the queries, keys and values of a trace scores, weights and context:
 * attention. Refuses a trace for several heads, with an output, or without
 * tables. */
void attend_trace(Trace *t);

/*
Version 1 has three matrices:
*/

/* The first form of self-attention. */
typedef struct {
    int d_in, d_k, d_v;
    float *w_query; /* [d_in][d_k] */
    float *w_key;   /* [d_in][d_k] */
    float *w_value; /* [d_in][d_v] */
} SelfAttentionV1;

/* Makes room for the three matrices and draws them in this order by
 * torch.rand; gives it back. Refuses sizes below 1. */
void self_v1_init(SelfAttentionV1 *a, Random *r, int d_in, int d_k,
                  int d_v);
void self_v1_free(SelfAttentionV1 *a);

/* Every one of n tokens attends to all. Fills the tables from query to
 * context. Refuses a trace that is not of n and n tokens, one head of d_k
 * and d_v, and no output.
 * Raschka 2024, section 3.4: SelfAttention_v1. */
void self_v1_forward(const SelfAttentionV1 *a, int n,
                     const float x[n][a->d_in], Trace *t);

/*
Version 2, and all that follows, has linear layers instead:
*/

/* A linear layer: a matrix that stands the other way round, and a bias. The
 * numbers belong to the module that the layer is a part of. */
typedef struct {
    int d_in, d_out;
    float *weight; /* [d_out][d_in] */
    float *bias;   /* [d_out], or NULL */
} Linear;

/* The numbers that a linear layer begins with: its weight, then, unless it
 * is NULL, its bias of d_out entries.
 * PyTorch: nn.Linear(d_in, d_out, bias=...), to the last bit. */
void linear_fill(Random *r, int d_in, int d_out, float weight[d_out][d_in],
                 float *bias);

/* For each row of x: its dot product with each row of the weight, plus the
 * bias if there is one. PyTorch: F.linear(x, weight, bias). */
void linear_forward(const Linear *l, int n, const float x[n][l->d_in],
                    float out[n][l->d_out]);

/* An attention: its sizes and settings, and its parameters, which lie one
 * behind the other in one block, in the order of the layers, each weight
 * before its bias. */
typedef struct {
    int d_x, d_y;  /* entries of a token that asks, and of one asked */
    int n_heads;   /* 1 for one head */
    int d_k, d_v;  /* entries of a head's queries and keys, of its values */
    int has_bias;  /* asks attention_init for a bias of these three: */
    Linear query;  /* d_x to n_heads * d_k */
    Linear key;    /* d_y to n_heads * d_k */
    Linear value;  /* d_y to n_heads * d_v */
    float *memory; /* the block with all parameters */
    size_t count;  /* how many there are */

    /* From chapter 11 on, and 0 until then: */
    int context_length; /* the most tokens of a text; 0: any number */
    double p;           /* the rate of dropout */

    /* From chapter 13 on, and 0 until then: */
    int d_out;        /* columns of the result of `out`; 0: no such layer */
    int has_out_bias; /* asks attention_init for its bias */
    Linear out;       /* n_heads * d_v to d_out */
} Attention;

/*
Its room, a trace that fits it, and what it refuses:
*/

/* Makes room, filled with 0, for the parameters of the sizes that a has
 * been given, and draws nothing; gives it back. Refuses d_x, d_y, n_heads,
 * d_k or d_v below 1, a d_out or context_length below 0, and sizes whose
 * parameters do not fit. */
void attention_init(Attention *a);
void attention_free(Attention *a);

/* One table in a block: where its address goes, and three sizes, of which
 * the product is the number of its entries. A table of none is NULL. */
typedef struct {
    float **table;
    int layers, rows, columns;
} Part;

/* For an attention whose parameters lie in the block of a larger model:
 * sets the sizes of its layers, and lists their tables, in order, as parts
 * of the block that the caller then makes by new_block. Until then a must
 * not be moved; it has no memory of its own, and nothing to be freed.
 * Returns ATTENTION_PARTS. Refuses the sizes that attention_init
 * refuses. */
enum { ATTENTION_PARTS = 8 };
int attention_parts(Attention *a, Part part[ATTENTION_PARTS]);

/* A trace for n tokens that ask m tokens. Refuses what trace_init
 * refuses. */
Trace trace_for(const Attention *a, int n, int m);

/* Refuses layers without numbers, or without the sizes or the biases of
 * their attention. */
void layers_must_fit(const Attention *a);

/* Refuses an attention for texts of two widths, where one text is both. */
void widths_must_agree(const Attention *a);

/* Refuses what layers_must_fit refuses, more tokens than the context
 * length, and a trace that is not for this attention, n and m. */
void attention_must_fit(const Attention *a, int n, int m, const Trace *t);

/*
And what it computes:
*/

/* The queries of n tokens x, and the keys and values of m tokens y, those
 * of all heads side by side. Refuses what attention_must_fit refuses, and
 * if x is y, what widths_must_agree refuses.
 * PyTorch: query(x), key(y), value(y), three times nn.Linear. */
void attention_roles(const Attention *a, int n, int m,
                     const float x[n][a->d_x], const float y[m][a->d_y],
                     Trace *t);

/* One head for self-attention, with three layers that are drawn in the
 * order query, key, value. Refuses what attention_init refuses.
 * Raschka 2024, section 3.4: SelfAttention_v2(d_in, d_out, qkv_bias). */
void self_attention_init(Attention *a, Random *r, int d_in, int d_k,
                         int d_v, int has_bias);

/* Every one of n tokens attends to all, with one head and no output layer.
 * Fills the tables from query to context. Refuses what attention_roles and
 * attend_trace refuse.
 * Raschka 2024, section 3.4: SelfAttention_v2. */
void self_attention_forward(const Attention *a, int n,
                            const float x[n][a->d_x], Trace *t);

/* Refuses versions of different sizes; what layers_must_fit and
 * widths_must_agree refuse; and a bias, several heads or an output layer,
 * for which version 1 has no place. */
void versions_must_fit(const Attention *from, const SelfAttentionV1 *to);

/* Copies the weights of one version into the other, which then computes the
 * same. Refuses what versions_must_fit refuses. */
void copy_v2_to_v1(const Attention *from, SelfAttentionV1 *to);

/* Row i of permuted is row order[i] of x. Refuses an order that does not
 * name each row once. PyTorch: x[order]. */
void permute_tokens(int n, int d, const int order[n], const float x[n][d],
                    float permuted[n][d]);

/*
## Chapter 8, two texts {#header-cross-attention}
*/

/* Fills the weight of a linear layer so that it computes x @ W with the
 * W that is drawn: rand_fill, turned over.
 * PyTorch: torch.rand(d_in, d_out).T. */
void rand_turned(Random *r, int d_in, int d_out, float weight[d_out][d_in]);

/* One head from one text to another, which may be of different width; its
 * three layers are drawn in the order query, key, value by torch.rand, and
 * have no bias.
 * Refuses what attention_init refuses.
 * Raschka 2024, magazine: CrossAttention, for d_x = d_y. */
void cross_attention_init(Attention *a, Random *r, int d_x, int d_y,
                          int d_k, int d_v);

/* Every one of n tokens of the first input attends to all m tokens of the
 * second, with one head and no output layer. Fills the tables from query to
 * context. Refuses what attention_roles and attend_trace refuse.
 * PyTorch: F.scaled_dot_product_attention(query(x), key(y), value(y)). */
void cross_attention_forward(const Attention *a, int n, int m,
                             const float x[n][a->d_x],
                             const float y[m][a->d_y], Trace *t);

/* The keys and values of the second input alone, into a trace that may be
 * for any number of queries. Refuses what attention_must_fit refuses.
 * Elsewhere: the encoder's part of a cross-attention cache. */
void encode_once(const Attention *a, int m, const float y[m][a->d_y],
                 Trace *t);

/* What one token of the first input gets from the keys and values that are
 * in the trace. Refuses a trace that is not for one query, and what
 * attention_must_fit and attend_trace refuse. */
void ask_encoded(const Attention *a, const float x[a->d_x], Trace *t);

/* For each query the number of the key with the largest weight, the first
 * of several. NaN is never the largest, and a row that has nothing else is
 * refused. PyTorch: torch.argmax(weights, dim=-1), but for NaN. */
void hard_alignment(int n, int m, const float weights[n][m], int place[n]);

/*
## Chapter 9, hiding {#header-causal-mask}

Query i stands at place first + i of its text, and may see the keys 0 to
first + i. With first = 0, query and key of one number stand at one place;
with first = m - n, the last query stands where the last key does.
*/

/* The mask of what may be seen: 1 seen, 0 hidden.
 * PyTorch: torch.tril(torch.ones(n, m), diagonal=first). */
void causal_mask(int n, int m, int first, float mask[n][m]);

/* Multiplies the weights by a mask, in place.
 * PyTorch: weights * mask. */
void hide_weights(int n, int m, const float mask[n][m],
                  float weights[n][m]);

/* Divides each row by its sum, in place. A row of zeros becomes NaN.
 * PyTorch: weights / weights.sum(dim=-1, keepdim=True). */
void renormalize(int n, int m, float weights[n][m]);

/* Puts minus infinity where a query may not see, in place, whatever was
 * there before. Vaswani et al. 2017, section 3.2.3. PyTorch:
 * scores.masked_fill(~torch.ones(n, m).tril(first).bool(), -torch.inf). */
void mask_scores(int n, int m, int first, float scores[n][m]);

/* The same where any mask has 0, in place; any other entry hides nothing.
 * PyTorch: scores.masked_fill(mask == 0, -torch.inf). */
void mask_where(int n, int m, const float mask[n][m], float scores[n][m]);

/* Which keys a query may see: all, those up to its own place, or those for
 * which a table has another entry than 0. The table stays its owner's.
 * PyTorch: attn_mask=None, is_causal=True (first = 0), attn_mask=table !=
 * 0, of F.scaled_dot_product_attention. */
typedef struct {
    enum { MASK_NONE, MASK_CAUSAL, MASK_TABLE } kind;
    int first;          /* of MASK_CAUSAL */
    int n, m;           /* of MASK_TABLE */
    const float *table; /* float [n][m], of MASK_TABLE */
} Mask;

Mask see_all(void);
Mask see_past(int first);
Mask see_where(int n, int m, const float table[n][m]);

/* Puts minus infinity where the mask hides a key, in place. Refuses a table
 * of other sizes than n and m, or none where one is needed, and a kind of
 * mask that there is not. */
void apply_mask(int n, int m, Mask see, float scores[n][m]);

/* Attention up to its weights, of what may be seen: the scores, divided by
 * the root of d_k and masked, and their softmax by rows. A query that may
 * see no key gets weights of NaN, as from softmax; PyTorch's attention
 * answers 0 to such a query. Refuses what apply_mask refuses.
 * Vaswani et al. 2017, equation 1 and section 3.2.3. */
void masked_weights(int n, int m, int d_k, Mask see,
                    const float query[n][d_k], const float key[m][d_k],
                    float scores[n][m], float weights[n][m]);

/* As mask_scores, but a query sees only the last w keys of those that it
 * may see, its own place being one of them. Refuses w < 1.
 * Beltagy et al. 2020, section 3.1, on one side. */
void mask_window(int n, int m, int first, int w, float scores[n][m]);

/* The smallest whole number g from 0 on for which a hidden score, g above
 * the largest of n visible ones, spoils renormalizing: some weight is NaN,
 * or differs by more than the tolerance from that of softmax over the
 * visible scores alone. Refuses a tolerance below 0 or NaN, and a visible
 * score that is not finite. */
int find_gap(int n, const float visible[n], float tolerance);

/*
## Chapter 10, lots {#header-dropout}
*/

/* Refuses a dropout rate that is not from 0 to 1, and NaN. PyTorch's
 * F.dropout refuses the same. */
void dropout_must_fit(double p);

/* Which entries a dropout of rate p keeps (1) and drops (0), drawn row by
 * row. Draws nothing if p is 0 or 1; r may be NULL where nothing is drawn.
 * Refuses what dropout_must_fit refuses. PyTorch: mask.bernoulli_(1 - p),
 * to the last bit, except version 2.6 and before on Intel's processors. */
void dropout_mask(Random *r, double p, int n, int m, float mask[n][m]);

/* Inverted dropout: x times 1 / (1 - p) where the mask is not 0, and times
 * 0 elsewhere, so that infinity becomes NaN. Refuses what dropout_must_fit
 * refuses.
 * PyTorch: F.dropout(x, p), to the last bit. Srivastava et al. 2014. */
void dropout_apply(double p, int n, int m, const float mask[n][m],
                   const float x[n][m], float y[n][m]);

/* The mean of each row's sum over many dropouts of a table of weights, each
 * with a mask of its own, drawn one after the other. Refuses what
 * dropout_must_fit refuses, and draws < 1.
 * PyTorch: the mean of F.dropout(weights, p).sum(dim=-1). */
void mean_row_sum(Random *r, double p, int n, int m, int draws,
                  const float weights[n][m], double mean[n]);

/*
## Chapter 11, a batch {#header-causal-attention}
*/

/* One head, complete: what n queries get from the m keys that they may see,
 * and from their values. The scores and weights are those of
 * masked_weights; `kept` says which weights dropout of rate p keeps, and
 * `dropped` is what it makes of them, with which the values are mixed. If r
 * is NULL, as in evaluation, nothing is dropped. A value is not hidden,
 * only mixed with weight 0: where one is not finite, that entry of the
 * contexts that must not see it is NaN. Refuses what masked_weights refuses
 * and, with r, what dropout_must_fit refuses.
 * PyTorch: F.scaled_dot_product_attention(query, key, value, attn_mask=...,
 * is_causal=..., dropout_p=p). */
void attend(int n, int m, int d_k, int d_v, Mask see, double p, Random *r,
            const float query[n][d_k], const float key[m][d_k],
            const float value[m][d_v], float scores[n][m],
            float weights[n][m], float kept[n][m], float dropped[n][m],
            float context[n][d_v]);

/* One head for a causal mask, with dropout; its layers are drawn in the
 * order query, key, value. Refuses a rate as dropout_must_fit does, a
 * context length below 0 (0: any), and what attention_init refuses.
 * Raschka 2024, section 3.5: CausalAttention(d_in, d_out, context_length,
 * p, has_bias). */
void causal_attention_init(Attention *a, Random *r, int d_in, int head_dim,
                           int context_length, double p, int has_bias);

/* One head and no output layer, from n tokens x and m tokens y that may be
 * the same to context vectors. In training r draws for the dropout; in
 * evaluation r is NULL. Fills the tables from query to context, and those
 * of dropout. Refuses several heads, an output layer, and what
 * attention_roles and attend refuse.
 * Raschka 2024, section 3.5: CausalAttention, with see_past(0) and y =
 * x. */
void head_forward(const Attention *a, Mask see, Random *r, int n, int m,
                  const float x[n][a->d_x], const float y[m][a->d_y],
                  Trace *t);

/* All sentences of a batch, one after the other, each into a trace of its
 * own, and none seeing its future. Fills what head_forward fills, and
 * refuses what it refuses.
 * PyTorch: the class called with a tensor of three dimensions, whose lots
 * for the dropout come from one stream as ours do. */
void causal_attention_batch(const Attention *a, Random *r, int batch, int n,
                            const float x[batch][n][a->d_x],
                            Trace trace[batch]);

/* Hides, in place, the keys that are no words from every query.
 * PyTorch: mask * ~key_padding_mask. */
void mask_padding(int n, int m, const int is_word[m], float mask[n][m]);

/*
## Chapter 12, several heads {#header-heads}
*/

/* Head h of an attention, as an attention of one head without an output
 * layer: its rows of each weight and bias, which stay where they are, so
 * there is nothing to free. Refuses an h that is not there, and what
 * layers_must_fit refuses.
 * PyTorch: heads[h], of an nn.ModuleList. */
Attention head_of(const Attention *a, int h);

/* Several heads and no output layer. The heads are drawn one after the
 * other, each by torch.rand as in cross_attention_init. Refuses what
 * attention_init refuses.
 * Raschka 2024, magazine: MultiHeadAttentionWrapper(d_in, d_k, d_v,
 * n_heads). */
void heads_init(Attention *a, Random *r, int n_heads, int d_in, int d_k,
                int d_v);

/* The same with heads that are drawn as in causal_attention_init. Refuses a
 * rate as dropout_must_fit does, a context length below 0 (0: any), and
 * what attention_init refuses.
 * Raschka 2024, section 3.6: MultiHeadAttentionWrapper(d_in, d_out,
 * context_length, p, n_heads, has_bias). */
void causal_heads_init(Attention *a, Random *r, int d_in, int head_dim,
                       int context_length, double p, int n_heads,
                       int has_bias);

/* Every head for itself, one after the other, each in its trace; their
 * context vectors, side by side, head 0 first, are `joined`. Refuses an
 * output layer, and what head_of and head_forward refuse. With r, the lots
 * of a text are drawn head by head; PyTorch draws those of a head for all
 * texts of a batch, before the next head's.
 * PyTorch: torch.cat([head(x) for head in heads], dim=-1). */
void heads_forward(const Attention *a, Mask see, Random *r, int n, int m,
                   const float x[n][a->d_x], const float y[m][a->d_y],
                   Trace t[a->n_heads],
                   float joined[n][a->n_heads * a->d_v]);

/* How many parameters heads of these sizes have. Refuses a size below 1,
 * and sizes whose parameters no int64_t can count.
 * PyTorch: sum(p.numel() for p in heads.parameters()). */
int64_t count_parameters(int n_heads, int d_in, int d_k, int d_v);

/*
## Chapter 13, one projection {#header-multi-head}
*/

/* Cuts columns into heads: split[h][i][k] = x[i][h * head_dim + k].
 * PyTorch: x.view(n, n_heads, head_dim).transpose(0, 1). */
void split_heads(int n, int n_heads, int head_dim,
                 const float x[n][n_heads * head_dim],
                 float split[n_heads][n][head_dim]);

/* Undoes split_heads.
 * PyTorch: split.transpose(0, 1).contiguous().view(n, -1). */
void merge_heads(int n, int n_heads, int head_dim,
                 const float split[n_heads][n][head_dim],
                 float x[n][n_heads * head_dim]);

/* Several heads and an output layer with a bias; the four layers are drawn
 * in the order query, key, value, out. Refuses a d_out that n_heads does
 * not divide, a context length below 0 (0: any), a rate as dropout_must_fit
 * does, and what attention_init refuses.
 * Raschka 2024, section 3.6: MultiHeadAttention(d_in, d_out,
 * context_length, p, n_heads, has_bias). */
void multi_head_init(Attention *a, Random *r, int d_in, int d_out,
                     int context_length, double p, int n_heads,
                     int has_bias);

/* Draws in another order and from other ranges, and sets each bias to 0.
 * Refuses what multi_head_init refuses.
 * PyTorch: nn.MultiheadAttention(d_model, n_heads, dropout=p). */
void multi_head_init_packed(Attention *a, Random *r, int d_model, double p,
                            int n_heads);

/* Attention, complete: from n tokens x and m tokens y that may be the same
 * to `joined`, and to `out` if there is an output layer; any number of
 * heads, any mask. With r, as in training, weights are dropped, head after
 * head; r NULL drops none. Fills every table of the trace. Refuses what
 * attention_roles and attend refuse.
 * PyTorch: nn.MultiheadAttention()(x, y, y, attn_mask=...), in which 1
 * means hidden. Raschka 2024, section 3.6. Vaswani et al. 2017, section
 * 3.2.2. */
void attention_forward(const Attention *a, Mask see, Random *r, int n,
                       int m, const float x[n][a->d_x],
                       const float y[m][a->d_y], Trace *t);

/* The mean of the weights of all heads. Refuses n_heads < 1.
 * PyTorch: nn.MultiheadAttention()(x, x, x)[1]. */
void average_weights(int n, int m, int n_heads,
                     const float weights[n_heads][n][m],
                     float average[n][m]);

/*
## Chapter 14, one pass {#header-flash}
*/

/* What a query remembers of the keys that it has met: the largest score,
 * and the sum of e to the power of each score minus the largest. Beside it
 * goes the mixture of the values by these exponentials, [d_v]. */
typedef struct {
    float largest;
    double sum;
} Running;

/* Before the first key. */
void running_begin(int d_v, Running *r, float mixture[d_v]);

/* After the last key: divides the mixture, which becomes the context
 * vector, and returns the log-sum-exp of all scores. If no key was seen,
 * these are NaN and minus infinity; if a score was NaN or +infinity, all is
 * NaN. PyTorch: torch.logsumexp(scores, dim=-1), which is +infinity in the
 * last case. */
float running_end(int d_v, const Running *r, float mixture[d_v]);

/* A score is larger than all before: what was summed becomes relative to
 * it. If none was before, the sum and the mixture are still 0, and stay so.
 */
void raise_largest(float largest, int d_v, Running *r, float mixture[d_v]);

/* A query meets a key, with its score and its value. Minus infinity hides a
 * key, and its value is not looked at.
 * Milakov and Gimelshein 2018, algorithm 3; Rabe and Staats 2021. */
void meet_key(int d_v, float score, const float value[d_v], Running *r,
              float mixture[d_v]);

/* The same for a block of n keys; n may be 0. */
void meet_keys(int n, int d_v, const float scores[n],
               const float value[n][d_v], Running *r, float mixture[d_v]);

/* Refuses what apply_mask refuses, before there are scores. */
void mask_must_fit(int n, int m, Mask see);

/* Puts minus infinity where the mask hides a key, in place, in the piece of
 * a table of scores whose first row is query i and whose first column is
 * key j. */
void mask_piece(Mask see, int i, int j, int rows, int cols,
                float scores[rows][cols]);

/* May the queries up to number `last` see any of the keys from j on? */
int sees_any(Mask see, int last, int j);

/* What n queries get from the m keys that they may see, and the log-sum-exp
 * of each query's scores, with a table of 32 times 32 scores, for any n and
 * m. As masked_weights and matmul, but that the value of a hidden key does
 * not matter, whatever it is, and that values are added up before they are
 * divided, so that those near FLT_MAX may become infinite. Keys and values
 * of which all are hidden from 32 queries by see_past may be left unread.
 * Refuses what mask_must_fit refuses.
 * PyTorch: F.scaled_dot_product_attention(query, key, value, attn_mask=...,
 * is_causal=...), which answers 0 to a query that sees nothing.
 * Dao et al. 2022; Dao 2023, algorithm 1. */
void flash_forward(int n, int m, int d_k, int d_v, Mask see,
                   const float query[n][d_k], const float key[m][d_k],
                   const float value[m][d_v], float context[n][d_v],
                   float log_sum[n]);

/* From what a query has got from one part of the keys, and what it has got
 * from another, each with its log-sum-exp: puts what it gets from both in
 * the place of the first, and returns its log-sum-exp. A part with minus
 * infinity for its log-sum-exp adds nothing; two of these leave NaN and
 * minus infinity. NaN or +infinity in a log-sum-exp leave NaN.
 * Dao et al. 2022, section 3.1, the decomposition of softmax. */
float join_parts(int d_v, float context[d_v], float log_sum,
                 const float other[d_v], float other_log_sum);

/*
## Chapter 15, the kernel {#header-kernel}
*/

/* Rows of floats somewhere in memory: that of token i in head h of text t
 * begins at at[t * text + h * head + i * token]. A step of 0 makes all
 * texts, or all heads, share theirs. */
typedef struct {
    float *at;
    ptrdiff_t text, head, token;
} Rows;

/* The rows of a table [texts][n_heads][n][d], and of one where the heads of
 * a token lie side by side, [texts][n][n_heads][d]. What a job only reads
 * may be constant. */
Rows rows_by_head(int n_heads, int n, int d, const float *at);
Rows rows_by_token(int n_heads, int n, int d, const float *at);

/* Where the row of token i in a head of a text begins. */
float *row_at(const Rows *rows, int text, int head, int i);

/* Attention for all heads of all texts: n queries with m keys of d_k
 * entries and m values of d_v, in each. Zeros where nothing is said:
 * n_key_heads 0 is n_heads; else so many neighbours share a head of keys
 * and values as n_heads is a multiple of it. scale 0 is 1 / sqrt(d_k). bias
 * holds rows of m numbers that are added to the scaled scores. kept holds
 * rows of m factors for the weights, as dropout_mask makes them.
 * log_sum is [texts][n_heads][n], or NULL. threads 0 is as many as there
 * are processors. */
typedef struct {
    int texts, n_heads, n_key_heads, n, m, d_k, d_v;
    Mask see;
    float scale;
    Rows query, key, value, bias, kept;
    Rows context;
    float *log_sum;
    int threads;
} Job;

/* Does the job, as flash_forward does one head's, but for rounding, and but
 * that a hidden key's value, if it is not finite, may make NaN. Scores must
 * lie within FLT_MAX / 4 of 0, or NaN may come out. The same holds for a
 * score plus a bias; but a bias of minus infinity hides its key, as one of
 * -FLT_MAX does beside keys with a larger one. A query that sees nothing
 * gets NaN, and minus infinity for its log-sum-exp. What comes
 * out does not depend on the number of threads. This one is compiled for
 * what every processor of its kind has; best_kernel()->attend is faster.
 * Refuses sizes below 1 or so large that an int cannot count all queries,
 * more than INT_MAX - 1024 keys, or 1,048,576 entries, heads that the key
 * heads do not divide, threads below 0, rows that are not there, and what
 * mask_must_fit refuses.
 * PyTorch: F.scaled_dot_product_attention(query, key, value, attn_mask=...,
 * is_causal=..., scale=..., enable_gqa=True). Dao 2023, algorithm 1. */
void attend_fast(const Job *job);

/* 2 to the power of x: for x from -126 to 127, off by 2 of ten million
 * parts at most, and exact for whole numbers; 0 from -127 down and for
 * minus infinity, and between one or the other; NaN for NaN. Above 127 it
 * is not to be used. C: exp2f(x). */
float exp2_fast(float x);

/* The product of a and b, [n][d] and [d][m], as matmul's, in the order in
 * which all that is read lies in memory. PyTorch: a @ b. */
void multiply_ordered(int n, int m, int d, const float a[n][d],
                      const float b[d][m], float c[n][m]);

/* A table somewhere in memory: entry [i][k] is at[i * row + k * column]. */
typedef struct {
    const float *at;
    ptrdiff_t row, column;
} View;

/* The view of what is below, from row i on. */
static inline View from_row(View a, int i)
{
    return (View){a.at + i * a.row, a.row, a.column};
}

/* c = start + a times b, where a is [n][d], b is [d][m], and start, which
 * may be c itself, is [n][m]; with at NULL it is all zeros.
 * PyTorch: torch.addmm(start, a, b). */
void multiply_fast(int n, int m, int d, View a, View b, View start,
                   float c[n][m]);

/* As matmul and linear_forward, but for rounding, and by the best kernel's
 * multiply. */
void matmul_fast(int n, int m, int d, const float a[n][d],
                 const float b[d][m], float c[n][m]);
void linear_forward_fast(const Linear *l, int n, const float x[n][l->d_in],
                         float y[n][l->d_out]);

/*
Chapter 15 is compiled once for each instruction set that its machine may
have. What a program is to use is looked up when it runs:
*/

/* What chapter 15 is where it was compiled for one instruction set. */
typedef struct {
    const char *name; /* "AVX-512", "AVX2", "plain" */
    int lanes;        /* floats in a vector */
    void (*attend)(const Job *job);
    void (*multiply)(int n, int m, int d, View a, View b, View start,
                     float c[n][m]);
    float (*exp2)(float x);
    void (*powers)(int n, float x[n]);
} Kernel;

/* The one with the most lanes that this processor can run. */
const Kernel *best_kernel(void);

/* The one with that name; NULL where this processor or this library has it
 * not. */
const Kernel *kernel_named(const char *name);

/* to[j][i] = factor * from[i][j] for n rows of m floats, where the rows of
 * both are so many floats apart. */
void turn(int n, int m, float factor, const float *from, ptrdiff_t row,
          float *to, ptrdiff_t to_row);

/* The floats in the widest register, and how many such registers there are,
 * for the instruction set that is compiled for. */
#if defined __AVX512F__
#define LANES 16
#elif defined __AVX__
#define LANES 8
#else
#define LANES 4
#endif
#if defined __AVX512F__ || defined __aarch64__
#define REGISTERS 32
#else
#define REGISTERS 16
#endif

/* A function that is put where it is used, so that what is known there is
 * known to it; and one that is not. */
#define INLINE inline __attribute__((always_inline))
#define APART __attribute__((noinline))

/* The smaller one. */
static INLINE int least(int a, int b)
{
    return a < b ? a : b;
}

/* How many threads are worth their while for so many products: as many as
 * are asked for, or with 0 as there are processors; and 1 for less than a
 * million products, where the caller is one of several threads itself, or
 * where the library was compiled without OpenMP. */
int threads_for(double products, int asked);

/* Refuses what attend_fast refuses. */
void job_must_fit(const Job *job);

/* How many floats lie side by side in a row that fills the lanes of a
 * register tile: two or three vectors. */
enum { COLUMNS = (LANES == 16 ? 2 : 3) * LANES };

/* c = a times b, or with `adds` c + a times b, for a of [n][d]. Of each row
 * only the first `cols` count; the others may be anything. Rows lie as
 * new_aligned(n, sizeof(float[COLUMNS])) has them. */
void multiply_columns(int n, int cols, int d, View a,
                      const float b[d][COLUMNS], int adds,
                      float c[n][COLUMNS]);

/* x[i] = 2 to the power of x[i], by exp2_fast. */
void exp2_all(int n, float x[n]);

/* x[i][k] = 2 to the power of x[i][k] - less[i], by exp2_fast, for the
 * first `cols` of each row; the others may be anything. */
void exp2_columns(int n, int cols, const float less[n],
                  float x[n][COLUMNS]);

/*
## Chapter 16, the cache {#header-kv-cache}
*/

/* How the numbers of a cache are kept: as floats, or in 16 bits, as the
 * upper half of a float, or by IEEE 754, with 5 bits for the exponent.
 * PyTorch: torch.float32, torch.bfloat16, torch.float16. */
typedef enum { FLOAT32, BFLOAT16, FLOAT16 } Format;

/* The keys and values of the tokens of one text, for each head of keys.
 * Token t of the text stands in row t % room. */
typedef struct {
    int n_key_heads, d_k, d_v;
    int room;      /* rows of each head */
    int window;    /* how many tokens a query sees; 0: all there are */
    Format format; /* of what is kept */

    /* What cache_init sets: */
    int wide_k;    /* d_k, up to a multiple of 16, with zeros */
    int wide_v;    /* d_v, the same */
    void *key;     /* [n_key_heads][room][wide_k], of that format */
    void *value;   /* [n_key_heads][room][wide_v] */
    int64_t count; /* tokens that have come */
    int64_t first; /* the first that is still there */
} Cache;

/* The bytes of keys and values of a cache of these sizes. Refuses sizes
 * below 1, d_k or d_v above 1,048,576, a window that is below 0 or larger
 * than the room, a format that there is not, and more bytes than a size_t
 * can count. */
size_t cache_bytes(const Cache *c);

/* Makes room, filled with 0, for the keys and values of the sizes that c
 * has been given; gives it back. Refuses what cache_bytes refuses, and what
 * does not fit into memory. */
void cache_init(Cache *c);
void cache_free(Cache *c);

/* Writes d numbers in this format, of which there are the three, one behind
 * the other. */
void put_row(Format format, int d, const float x[d], void *row);

/* The keys and values of the next n tokens, for each head of keys. With a
 * window, they take the rows of the oldest ones. What cannot be kept in 16
 * bits becomes infinite, NaN stays NaN. On one thread. Refuses n below 1,
 * rows that are not there, a cache without memory, and, where there is no
 * window, tokens for which there is no room.
 * PyTorch: torch.cat([keys, key], dim=-2).
 * Elsewhere: a rolling buffer, Jiang et al. 2023, section 2. */
void cache_append(Cache *c, int n, Rows key, Rows value);

/* Refuses what cache_append refuses. */
void cache_must_take(const Cache *c, int n, Rows key, Rows value);

/* What the last n tokens that have come get, in each of n_heads heads, of
 * which neighbours share a head of keys: attention to the tokens up to
 * their own place, or with a window to the last so many of these, as from
 * flash_forward with see_past(count - n), but for rounding, and but that a
 * hidden value, if it is not finite, may make NaN; so may scores that do
 * not lie within FLT_MAX / 4 of 0. threads 0 is as many as
 * there are processors; what comes out does not depend on it.
 * Refuses n below 1 or above the number of tokens, heads that the key heads
 * do not divide, more queries of all heads than an int can count, threads
 * below 0, rows that are not there, a cache without memory, queries that
 * see a token that is no longer there (with a window, room for window +
 * n - 1 tokens is needed), and what does not fit into memory: 64 tokens or
 * more have what is in 16 bits or in a ring laid out as floats.
 * PyTorch: F.scaled_dot_product_attention(query, keys, values,
 * attn_mask=..., enable_gqa=True). Shazeer 2019; Ainslie et al. 2023. */
void cache_attend(const Cache *c, int n_heads, int n, Rows query,
                  int threads, Rows context);

/* cache_attend as it was compiled for the instruction set of a kernel, one
 * from best_kernel or kernel_named. It does and refuses the same. */
typedef void CacheAttend(const Cache *c, int n_heads, int n, Rows query,
                         int threads, Rows context);
CacheAttend *cache_attend_of(const Kernel *kernel);

/* Refuses what cache_attend refuses of these. */
void cache_must_hold(const Cache *c, int n_heads, int n, int threads);

/* Takes the last n tokens back, as if they had not come. Refuses n below 0
 * or above the number of tokens, and where the next token would see one
 * that is no longer there.
 * Elsewhere: what speculative decoding does with tokens that are rejected,
 * Leviathan et al. 2023. */
void cache_forget(Cache *c, int n);

/* The nearest number in 16 bits, of two that are equally near the one whose
 * last bit is 0. What is beyond the largest becomes infinite, from halfway
 * to the next power of two's place on; NaN remains NaN.
 * PyTorch: x.bfloat16(), x.half(), to the last bit, but for the bits of a
 * NaN, which are not always the same there. */
uint16_t to_bfloat16(float x);
uint16_t to_float16(float x);

/* The number that these 16 bits are; but where a program has told its
 * processor to take floats below 2^-126 for 0, a float16 below 2^-14 is 0.
 * PyTorch: bits.view(torch.bfloat16).float(),
 * bits.view(torch.float16).float(). */
float from_bfloat16(uint16_t bits);
float from_float16(uint16_t bits);

/*
## Chapter 17, where a word stands {#header-positions}
*/

/* Refuses an odd d, whose last entry would be in no pair. */
void pairs_must_fit(int d);

/* The sinusoidal encoding of the places 0 to n - 1: entries 2 k and 2 k + 1
 * of place i are sine and cosine of i / 10000^(2 k / d), an angle that is
 * computed as a double. Refuses an odd d.
 * Vaswani et al. 2017, section 3.5. */
void sinusoids(int n, int d, float position[n][d]);

/* Adds to token i of n the row for its place, first + i, in place. Refuses
 * a first below 0, and places for which there is no row.
 * PyTorch: x + F.embedding(torch.arange(first, first + n), position). */
void add_positions(int n, int d, int length, int first,
                   const float position[length][d], float x[n][d]);

/* Which entries of a row rotate together: entries k and d / 2 + k, as for
 * the weights of Llama that Hugging Face publishes, or entries 2 k and
 * 2 k + 1, as in the paper and for Meta's own. */
typedef enum { HALVES, NEIGHBOURS } Pairing;

/* Turns pair k of row i by the angle (first + i) / 10000^(2 k / d), in
 * place. Of a head, one calls it for the queries and for the keys. Refuses
 * an odd d, a first below 0, and a pairing that there is not.
 * Su et al. 2021, equation 34. PyTorch: x * torch.polar(1, angle), of
 * complex numbers, for neighbours. Here the angle is a double; in float32,
 * as models' code mostly has it, one at place 10,000 is off by up to 0.0008
 * for d = 128. */
void rotate(Pairing pairing, int n, int d, int first, float x[n][d]);

/* By how much a score falls with each place between its query and its key:
 * 2 to the power of -8 (head + 1) / n_heads. Refuses a head that is not
 * there. Press et al. 2022, section 3; their code does this for powers of
 * 2, and for other numbers of heads mixes the slopes of the two nearest. */
float distance_slope(int n_heads, int head);

/* Takes from each score slope times how far its key, at place j, lies from
 * its query, at place first + i, in place, whichever comes first in the
 * text. A table of zeros becomes the bias of a Job.
 * Press et al. 2022, ALiBi. PyTorch: attn_mask=-slope * distance, of
 * F.scaled_dot_product_attention. */
void add_distances(int n, int m, int first, float slope,
                   float scores[n][m]);

/* From the weight of a layer for queries or keys, one that gives the same
 * scores with HALVES as it did with NEIGHBOURS: entries 2 k and 2 k + 1 of
 * each head become entries k and d_k / 2 + k. Refuses an odd d_k.
 * PyTorch: weight.view(n_heads, d_k // 2, 2, -1).transpose(1, 2). */
void halves_from_neighbours(int n_heads, int d_k, int d_in,
                            const float weight[n_heads * d_k][d_in],
                            float reordered[n_heads * d_k][d_in]);

/*
## Chapter 18, what every number did {#header-backward}
*/

/* What g_ is in front of is the gradient of a loss by what stands behind
 * it: for each entry, by how much the loss grows for each unit that the
 * entry grows. A gradient has the shape of its table, and that of an
 * Attention or of a Trace is another of the same sizes. A function named
 * _backward takes what its forward has taken and made, and the gradient of
 * what it has made; to the gradients of what it has taken it adds, so they
 * have to begin somewhere, with 0. What it writes without adding is said.
 */

/* product = a @ b. PyTorch: g_a += g_product @ b.T,
 * g_b += a.T @ g_product. */
void matmul_backward(int n, int m, int d, const float a[n][d],
                     const float b[d][m], const float g_product[n][m],
                     float g_a[n][d], float g_b[d][m]);

/* scores = query @ key.T. PyTorch: g_query += g_scores @ key,
 * g_key += g_scores.T @ query. */
void dot_scores_backward(int n, int m, int d, const float query[n][d],
                         const float key[m][d], const float g_scores[n][m],
                         float g_query[n][d], float g_key[m][d]);

/* Refuse a gradient that has other sizes than its layer or its attention,
 * or no numbers, or a bias where there is none, or none where there is
 * one. */
void layer_gradient_must_fit(const Linear *l, const Linear *g_l);
void gradient_must_fit(const Attention *a, const Attention *g_a);

/* out = x @ weight.T + bias. To the weight's gradient that of all n rows is
 * added, and to the bias's, where there is one. Refuses what
 * layer_gradient_must_fit refuses.
 * PyTorch: the backward of F.linear(x, weight, bias). */
void linear_backward(const Linear *l, int n, const float x[n][l->d_in],
                     const float g_out[n][l->d_out], Linear *g_l,
                     float g_x[n][l->d_in]);

/* weights = softmax(scores): to g_scores[j] adds weights[j] times what
 * g_weights[j] differs from the mean of all, in which each counts by its
 * weight. A score of minus infinity gets 0, unless all are.
 * PyTorch: the backward of F.softmax(scores, dim=-1). */
void softmax_backward(int n, const float weights[n],
                      const float g_weights[n], float g_scores[n]);

/* Puts 0, in place, where the scores are minus infinity: they were put
 * there, whatever was there before.
 * PyTorch: the backward of scores.masked_fill(mask == 0, -torch.inf). */
void mask_backward(int n, int m, const float scores[n][m],
                   float g_scores[n][m]);

/* x = embed(ids): row ids[i] of the table gets row i of g_x, as often as it
 * was looked up. Refuses an id that is no row.
 * PyTorch: the backward of F.embedding(ids, table). */
void embed_backward(int n, int d, int rows, const int ids[n],
                    const float g_x[n][d], float g_table[rows][d]);

/* attend, of which the tables from scores to dropped are given, and the
 * rate at which it has dropped. Writes g_dropped, g_weights and g_scores,
 * the last one as the gradient of the dot products with which attend's
 * scores begin; and adds to those of query, key and value. A query that
 * sees nothing does nothing with queries and keys, and leaves NaN in
 * g_value. Refuses what dropout_must_fit refuses.
 * PyTorch: the backward of F.scaled_dot_product_attention, but for a query
 * that sees nothing. */
void attend_backward(int n, int m, int d_k, int d_v, double rate,
                     const float query[n][d_k], const float key[m][d_k],
                     const float value[m][d_v], const float scores[n][m],
                     const float weights[n][m], const float kept[n][m],
                     const float dropped[n][m],
                     const float g_context[n][d_v], float g_dropped[n][m],
                     float g_weights[n][m], float g_scores[n][m],
                     float g_query[n][d_k], float g_key[m][d_k],
                     float g_value[m][d_v]);

/* attention_forward, which has filled t. In g, of the same sizes, `out` is
 * given, or without an output layer `joined`; its other tables are written,
 * but kept, which is left as it is. Adds to the gradients of the parameters
 * and of both texts, which may be one table, as x and y may. Refuses what
 * attention_must_fit refuses of t and of g, and what gradient_must_fit
 * refuses.
 * PyTorch: what loss.backward() does with nn.MultiheadAttention. */
void attention_backward(const Attention *a, int n, int m,
                        const float x[n][a->d_x], const float y[m][a->d_y],
                        const Trace *t, Trace *g, Attention *g_a,
                        float g_x[n][a->d_x], float g_y[m][a->d_y]);

/* cosine(n, a, b), whose gradient is g_cosine. Refuses a list of zeros.
 * PyTorch: the backward of F.cosine_similarity(a, b, dim=0). */
void cosine_backward(int n, const float a[n], const float b[n],
                     float g_cosine, float g_a[n], float g_b[n]);

/*
## Chapter 19, the way back, in tiles {#header-flash-backward}
*/

/* From scores of n queries, divided and masked, and their log-sum-exps to
 * weights, in place. A query that sees nothing, whose log-sum-exp is minus
 * infinity, has weights of 0. */
void weights_again(int n, int m, const float log_sum[n], float x[n][m]);

/* For each query the mean of its weights' slopes, each counted by its
 * weight, with no weight at hand: the dot product of its context vector and
 * that one's gradient; 0 for a query that sees nothing.
 * PyTorch: (g_context * context).sum(dim=-1). Dao et al. 2022, section
 * B.4. */
void mean_slopes(int n, int d_v, const float log_sum[n],
                 const float context[n][d_v], const float g_context[n][d_v],
                 float mean[n]);

/* flash_forward, which has made context and log_sum: attend_backward
 * without dropout and without tables, the weights being made again in
 * pieces of 32 times 32. Adds to g_query, g_key and g_value. A query that
 * sees nothing adds nothing, as in PyTorch, as long as its g_context is
 * finite. Where scores are large, few digits are left for the weights: with
 * scores of 1,000 they are right to a ten thousandth. Refuses what
 * mask_must_fit refuses.
 * PyTorch: the backward of F.scaled_dot_product_attention(query, key,
 * value, attn_mask=..., is_causal=...). Dao et al. 2022, algorithm 4. */
void flash_backward(int n, int m, int d_k, int d_v, Mask see,
                    const float query[n][d_k], const float key[m][d_k],
                    const float value[m][d_v], const float context[n][d_v],
                    const float log_sum[n], const float g_context[n][d_v],
                    float g_query[n][d_k], float g_key[m][d_k],
                    float g_value[m][d_v]);

/* Which part of the queries a part of the keys meets in a round, where
 * there are so many parts of both, and as many rounds: no two meet the same
 * in one round, and in all rounds each meets all. Parts and rounds count
 * from 0. */
int partner(int parts, int keys, int round);

/* A job that attend_fast has done, backwards, as flash_backward does one
 * head's: from g_context it adds to g_query, g_key and g_value, of which
 * the heads that share keys add to the same rows. The job has its context
 * and its log_sum as attend_fast has left them. Rows of gradients must not
 * overlap. A bias and factors `kept` are taken into account, and get no
 * gradient; where a bias leaves a query only scores below -1e38, it is not
 * to be used. What is added does not depend on the number of threads. This
 * one is compiled for what every processor of its kind has. Refuses what
 * job_gradients_must_fit refuses.
 * PyTorch: the backward of F.scaled_dot_product_attention(query, key,
 * value, attn_mask=..., is_causal=..., scale=..., enable_gqa=True). Dao
 * 2023, algorithm 2. */
void attend_fast_backward(const Job *job, Rows g_context, Rows g_query,
                          Rows g_key, Rows g_value);

/* attend_fast_backward as it was compiled for the instruction set of a
 * kernel, one from best_kernel or kernel_named. It does and refuses the
 * same. */
typedef void AttendBackward(const Job *job, Rows g_context, Rows g_query,
                            Rows g_key, Rows g_value);
AttendBackward *attend_backward_of(const Kernel *kernel);

/* Refuses what job_must_fit refuses, a job without a log_sum, and rows that
 * are not there. */
void job_gradients_must_fit(const Job *job, Rows g_context, Rows g_query,
                            Rows g_key, Rows g_value);

/* As linear_backward, but for rounding, and by the best kernel's
 * multiply. */
void linear_backward_fast(const Linear *l, int n, const float x[n][l->d_in],
                          const float g_out[n][l->d_out], Linear *g_l,
                          float g_x[n][l->d_in]);

/* A trace for so many texts of n tokens each, without tables of scores. */
Trace trace_for_texts(const Attention *a, int texts, int n);

/* Refuses what layers_must_fit and widths_must_agree refuse, more tokens
 * than the context length, no text, and a trace that is not for this
 * attention and these texts. */
void texts_must_fit(const Attention *a, int texts, int n, const Trace *t);

/* Self-attention for so many texts of n tokens each, whose rows lie one
 * text after the other: for each of them what attention_forward does
 * without dropout, but for rounding, and by the best kernel. Fills the
 * tables of such a trace. Refuses what texts_must_fit and mask_must_fit
 * refuse.
 * PyTorch: nn.MultiheadAttention(d_model, n_heads, batch_first=True),
 * called with need_weights=False. */
void attention_forward_fast(const Attention *a, Mask see, int texts, int n,
                            const float x[(int64_t)texts * n][a->d_x],
                            Trace *t);

/* The same backwards, from t, which attention_forward_fast has filled, and
 * with its mask. In g, of the same sizes, `out` is given, or without an
 * output layer `joined`; query, key, value and, with an output layer,
 * joined are written. Adds to the gradients of the parameters and of x.
 * Refuses what texts_must_fit refuses of t and of g, and what mask_must_fit
 * and gradient_must_fit refuse. */
void attention_backward_fast(const Attention *a, Mask see, int texts, int n,
                             const float x[(int64_t)texts * n][a->d_x],
                             const Trace *t, Trace *g, Attention *g_a,
                             float g_x[(int64_t)texts * n][a->d_x]);

/* log_sum, the log-sum-exp of each row of scores: adds to the slope of each
 * score its weight times the slope of its row's log-sum-exp. A row of
 * nothing but minus infinity adds nothing.
 * PyTorch: the backward of torch.logsumexp(scores, dim=-1). */
void log_sum_backward(int n, int m, const float scores[n][m],
                      const float log_sum[n], const float g_log_sum[n],
                      float g_scores[n][m]);

/*
## Chapter 20, a head that learns {#header-training}
*/

/* A target that counts for nothing.
 * PyTorch: ignore_index=-100 of F.cross_entropy. */
enum { IGNORED = -100 };

/* How surprising the right answers are: the mean, over the rows whose
 * target is not IGNORED, of minus the logarithm of the share that softmax
 * of a row's logits gives to its target; NaN where all are IGNORED. Fills
 * the shares of all rows. Refuses a target that is none of the classes.
 * PyTorch: F.cross_entropy(logits, target). */
float cross_entropy(int n, int classes, const float logits[n][classes],
                    const int target[n], float shares[n][classes]);

/* loss = cross_entropy(logits): adds to the gradient of each logit its
 * share, less 1 for the target, divided by the number of targets that are
 * not IGNORED; and nothing in the rows of those that are.
 * PyTorch: the backward of F.cross_entropy. */
void cross_entropy_backward(int n, int classes,
                            const float shares[n][classes],
                            const int target[n],
                            float g_logits[n][classes]);

/* From one number to another, by a part of the way. From one half on, it is
 * counted from the other end, and with 1 it is the other number.
 * PyTorch: torch.lerp(from, to, part). */
float lerp(float from, float to, float part);

/* How Adam moves parameters: how fast, how much its means keep, what is
 * added to the root, and how much of each parameter is taken away. */
typedef struct {
    double rate;           /* PyTorch's lr */
    double beta_1, beta_2; /* of the mean, and of the mean square */
    double epsilon;
    double decay;   /* PyTorch's weight_decay */
    int is_coupled; /* decay goes into the gradient: Adam; else: AdamW */
} Adam;

/* Step number `step`, counted from 1, of n parameters: moves each, in
 * place, and with it the means of its slopes and of their squares, which
 * begin at 0. Refuses what adam_must_fit refuses.
 * PyTorch: the step of torch.optim.AdamW, or torch.optim.Adam.
 * Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019. */
void adam_step(Adam how, int step, size_t n, const float gradient[n],
               float mean[n], float square[n], float parameter[n]);

/* Refuses a step below 1, a rate, an epsilon or a decay below 0, and a
 * beta_1 or beta_2 that is not from 0 to below 1. */
void adam_must_fit(Adam how, int step);

/* The length of a gradient as an arrow. Where that and 1e-6 are more than
 * `most`, the gradient is multiplied, in place, by most / (length + 1e-6),
 * as in PyTorch: it becomes as long as `most`, but for very short ones. NaN
 * if an entry is. Refuses a most that is not above 0.
 * PyTorch: torch.nn.utils.clip_grad_norm_(parameters, most).
 * Pascanu et al. 2013. */
double clip_norm(double most, size_t n, float gradient[n]);

/* The rate of a step, counted from 0: rises to the largest in as many steps
 * as are to warm up, and falls along a cosine, to the least after all
 * steps. Refuses a step below 0, and other steps than 0 <= warm_up < steps.
 * PyTorch: SequentialLR of LinearLR and CosineAnnealingLR. */
double rate_at(int step, int warm_up, int steps, double largest,
               double least);

/* A random whole number from 0 to below range. Refuses a range below 1.
 * PyTorch: torch.randint(range, (1,)). */
int random_below(Random *r, int range);

/* The numbers 0 to n - 1 in random order.
 * PyTorch: torch.randperm(n), for an n below 214,748,364, 2^32 / 20; from
 * there on PyTorch draws 64 bits for each number. Durstenfeld 1964. */
void shuffle(Random *r, int n, int order[n]);

/*
The model that learns, and what it learns from:
*/

/* A model of one attention: the tokens that ask and those that are asked
 * are looked up in one table, and to what is asked its place is added. The
 * attention's output layer gives the logits, one for each word. */
typedef struct {
    int words;           /* how many there are */
    int length;          /* the most tokens of a text */
    Attention attention; /* its d_y is d_x or a multiple, d_out is words */
    float *token;        /* [words][d_x] */
    float *place;        /* [length][d_y] */
    float *memory;       /* the block with all parameters, in this order: */
    size_t count;        /* token, place, those of the attention */
} Model;

/* Makes room, filled with 0, for the parameters of the sizes that m has
 * been given, of which it sets d_out; gives it back. Refuses words or a
 * length below 1, a d_y that is no multiple of d_x, and what attention_init
 * refuses. With its room, m must not be moved. */
void model_init(Model *m);
void model_free(Model *m);

/* A batch of texts of n tokens: who asks, by its id; who is asked, by one
 * id or by several, which stand side by side; and the right answer, or
 * IGNORED. The lists stay their owner's. */
typedef struct {
    int texts, n;
    const int *ids;    /* [texts][n] */
    const int *asked;  /* [texts][n][d_y / d_x] */
    const int *target; /* [texts][n] */
} Batch;

/* What a model computes for a batch; and in another of the same sizes, the
 * gradients of all that. */
typedef struct {
    int texts, n;
    int d_x, d_y, words; /* of the model that it is for */
    float *x;            /* [texts][n][d_x], what asks */
    float *y;            /* [texts][n][d_y], what is asked */
    float *logits;       /* [texts][n][words] */
    float *shares;       /* [texts][n][words] */
    Trace *trace;        /* [texts], whose `out` are rows of logits, and not
                          * in their own blocks */
    float *memory;       /* x, y, logits and shares */
    size_t count;
} Pass;

/* Makes room, filled with 0, for so many texts of n tokens; gives it back.
 * Refuses texts or n below 1, and what trace_for refuses. */
void pass_init(Pass *p, const Model *m, int texts, int n);
void pass_free(Pass *p);

/* Refuses a batch of other sizes than its pass. */
void batch_must_fit(const Batch *b, const Pass *p);

/* Refuses a pass of other widths, or another number of words, than its
 * model, and one of them without tables. */
void pass_must_fit(const Model *m, const Pass *p);

/* Refuses a gradient of other sizes than its model. */
void model_gradient_must_fit(const Model *m, const Model *g_m);

/* From a batch to its logits. Refuses what batch_must_fit, pass_must_fit,
 * embed, add_positions and attention_forward refuse. */
void model_forward(const Model *m, Mask see, const Batch *b, Pass *p);

/* model_forward, which has filled p. In g, of the same sizes, the logits
 * are given; x, y and what attention_backward writes are written. Adds to
 * the gradients of the parameters. Refuses what batch_must_fit and
 * pass_must_fit refuse of p and of g, and what model_gradient_must_fit,
 * attention_backward and embed_backward refuse. */
void model_backward(const Model *m, const Batch *b, const Pass *p, Pass *g,
                    Model *g_m);

/* A model in training: its gradient and Adam's means have its type. */
typedef struct {
    Model model, gradient, mean, square;
    Pass pass, g;
    int steps; /* that have been made */
} Training;

/* Makes room, filled with 0, for the training of a model with the sizes of
 * t's, by batches of so many texts of n tokens; gives it back. Refuses what
 * model_init and pass_init refuse. With its room, t must not be moved. */
void training_init(Training *t, int texts, int n);
void training_free(Training *t);

/* What the model answers to a batch; returns the mean loss of all its
 * targets. Refuses what model_forward and cross_entropy refuse. */
float training_loss(Training *t, Mask see, const Batch *b);

/* The gradient of that loss, added to what is there. Refuses what
 * model_backward refuses. */
void training_gradient(Training *t, const Batch *b);

/* One step: the gradient of training_loss, clipped to the length 1, and
 * Adam. Returns the loss before it. Refuses what these refuse. */
float training_step(Training *t, Adam how, Mask see, const Batch *b);

/* Draws a text that repeats itself: 4 to 8 different words of 16, again and
 * again. Each is asked with the one before it; before the first is a word
 * of its own, number 16. The target of a word is the next one; in the first
 * round, where nobody can know it, IGNORED. */
enum { REPEATED_WORDS = 17, REPEATED_LENGTH = 16 };
void repeated_text(Random *r, int ids[REPEATED_LENGTH],
                   int asked[REPEATED_LENGTH][2],
                   int target[REPEATED_LENGTH]);

/* What the number of a sentence chooses. */
typedef struct {
    int noun;          /* the first of the two, one of 5 */
    int is_many;       /* whether it is more than one */
    int other_is_many; /* whether the second noun is */
    int preposition;   /* one of 3 */
    int adjective;     /* one of 2 */
    int at_first;      /* whether that stands before the first noun */
    int between;       /* how many of the 5, counted round, stand between
                        * the first and the second in their list: 0 to 3 */
} Agreement;

/* The choices of a sentence, one after the other, each by what the ones
 * before leave of the number. Refuses a number that is not from 0 to
 * AGREEMENTS - 1. */
Agreement agreement_of(int number);

/* Each number is a sentence of a small grammar, such as "the dogs near the
 * old cat _", and the verb that fits its subject is the target of the
 * blank, the last token; the others' are IGNORED. Those from
 * AGREEMENTS_TAUGHT on are for trying what was learned. Refuses what
 * agreement_of refuses. */
enum {
    AGREEMENTS = 960,
    AGREEMENTS_TAUGHT = 720,
    AGREEMENT_WORDS = 19,
    AGREEMENT_LENGTH = 7
};
void agreement_text(int number, int ids[AGREEMENT_LENGTH],
                    int target[AGREEMENT_LENGTH]);

/* The losses before step 1, 20, 40, ..., 100 of a training by PyTorch, in
 * float64: the one that chapter 20 shows first. */
extern const float pytorch_losses[6];

/* As adam_step, for plain descent: each parameter moves against its
 * velocity, which keeps a part of itself, its momentum, and begins at 0.
 * The decay goes into the gradient.
 * PyTorch: the step of torch.optim.SGD. */
void sgd_step(double rate, double momentum, double decay, size_t n,
              const float gradient[n], float velocity[n],
              float parameter[n]);

/*
## Chapter 21, a model that has read this book {#header-gpt}
*/

/* Layer norm: what it stretches each entry by, and what it adds. The
 * numbers belong to the module that the layer is a part of. */
typedef struct {
    int d;
    float *weight, *bias; /* [d] */
} Norm;

/* For each row of x: its mean taken away, divided by the root of the mean
 * square of what is left plus 1e-5; then times the weight, plus the bias.
 * PyTorch: F.layer_norm(x, (d,), weight, bias). Ba et al. 2016. */
void norm_forward(const Norm *l, int n, const float x[n][l->d],
                  float out[n][l->d]);

/* Adds to the gradients of the weight, the bias and x. Refuses a g_l of
 * another size. PyTorch: the backward of F.layer_norm. */
void norm_backward(const Norm *l, int n, const float x[n][l->d],
                   const float g_out[n][l->d], Norm *g_l,
                   float g_x[n][l->d]);

/* Each entry times a share from 0 to 1 that grows with it, in the form that
 * GPT-2 has: out = x * share, with share = 1 / (1 + e^-u) and
 * u = sqrt(8 / pi) * (x + 0.044715 * x^3). A share of 2^-126 or less is 0.
 * PyTorch: F.gelu(x, approximate="tanh"). Hendrycks and Gimpel 2016. */
void gelu(int n, const float x[n], float share[n], float out[n]);

/* From the shares that gelu has left; adds to g_x. For an x that is further
 * than 1e19 from 0, NaN may be added, as in PyTorch: x^2 is no float.
 * PyTorch: the backward of F.gelu(x, approximate="tanh"). */
void gelu_backward(int n, const float x[n], const float share[n],
                   const float g_out[n], float g_x[n]);

/* Draws one of n: number i as often as shares[i] says, of what all shares
 * add up to. Refuses a share that is negative or not finite, and shares of
 * which all are 0.
 * PyTorch: torch.multinomial(shares, 1), number for number. */
int pick_one(Random *r, int n, const float shares[n]);

/* Puts minus infinity in place of all logits that are below the k-th
 * largest. Refuses a k that is not from 1 to n.
 * PyTorch: logits.masked_fill(logits < logits.topk(k)[0][-1], -torch.inf).
 */
void keep_largest(int n, int k, float logits[n]);

/* Puts 0 in place of all shares but the largest, of which it keeps as few
 * as add up to at least p, and those that are equal to the smallest of
 * them. Refuses a p that is not above 0 and at most 1.
 * Elsewhere: top-p, or nucleus sampling. Holtzman et al. 2020. */
void keep_mass(int n, float p, float shares[n]);

/* What comes next: the logits divided by the temperature, of which with a k
 * other than 0 the k largest are kept, their softmax, and what is drawn
 * from these shares. Both tables are written. Refuses a temperature that is
 * not above 0, and what keep_largest and pick_one refuse. */
int next_token(Random *r, float temperature, int k, int n, float logits[n],
               float shares[n]);

/* The order in which an epoch goes through n texts.
 * PyTorch: DataLoader(texts, shuffle=True), number for number. */
void epoch_order(Random *r, int n, int order[n]);

/*
The model:
*/

/* What is stacked: attention and a small network of two linear layers, each
 * behind a layer norm. Vaswani et al. 2017, section 3, with the norms in
 * front: Radford et al. 2019, section 2.3. */
typedef struct {
    Norm norm_1;
    Attention attention;
    Norm norm_2;
    Linear up, down; /* width to 4 * width, and back */
} GptBlock;

/* GPT-2: its sizes, and its parameters, which lie one behind the other in
 * one block of memory, in this order. A gradient, or an optimizer's
 * moments, is another Gpt of the same sizes. */
typedef struct {
    int vocabulary, context, width, n_heads, layers;
    int is_apart;    /* asks gpt_init for an output weight of its own */
    float *tokens;   /* [vocabulary][width] */
    float *places;   /* [context][width] */
    GptBlock *block; /* [layers] */
    Norm last;
    Linear output; /* width to vocabulary; its weight is tokens, or apart */
    float *memory;
    size_t count;
} Gpt;

/* Makes room, filled with 0, for the parameters of the sizes that g has
 * been given; gives it back. Refuses sizes below 1, a width that n_heads
 * does not divide, and what does not fit. */
void gpt_init(Gpt *g);
void gpt_free(Gpt *g);

/* How many parameters a model of the sizes of g has; asks for no memory.
 * Refuses what gpt_init refuses. */
size_t gpt_count(const Gpt *g);

/* A model of the same sizes, filled with 0: for gradients and moments. */
Gpt gpt_like(const Gpt *g);

/* What a block computes: the sum as it comes in, what attention makes of
 * it, the sum with that, what the network makes of it, and the sum that
 * goes out, which is what comes into the next block. Rows are those of all
 * texts, text by text. */
typedef struct {
    float *in, *normed_1; /* [rows][width] */
    Trace attention;
    float *between, *normed_2;    /* [rows][width] */
    float *wide, *share, *active; /* [rows][4 * width]: what `up` makes,
                                   * GELU's shares, and what GELU makes */
    float *after;                 /* [rows][width] */
} BlockPass;

/* What a model computes for some texts of n tokens each; its gradients have
 * the same type. */
typedef struct {
    int texts, n; /* so many texts of n tokens */
    int layers, width, vocabulary;
    BlockPass *block; /* [layers] */
    float *normed;    /* [rows][width], the last sum */
    float *logits;    /* [rows][vocabulary] */
    float *memory;    /* the block with all tables but attention's */
    size_t count;
} GptPass;

/* Room for so many texts of n tokens; gives it back. Refuses sizes below 1,
 * an n above the context, texts with more tokens than an int can count 4 *
 * width times, and what does not fit. */
GptPass gpt_pass(const Gpt *g, int texts, int n);
void gpt_pass_free(GptPass *p);

/* Refuses a pass that is not for this model, and with a cache several
 * texts. */
void gpt_must_fit(const Gpt *g, const Cache *cache, const GptPass *p);

/* Puts 0 into all tables of gradients. */
void gpt_pass_clear(GptPass *p);

/* A cache for each layer, with room for the whole context; gives them
 * back. */
Cache *caches_for(const Gpt *g);
void caches_free(const Gpt *g, Cache *cache);

/* The numbers that a model begins with: norms of weight 1, biases of 0, all
 * else normal with a deviation of 0.02, but for the layers `out` and
 * `down`, which add to the sum: theirs is divided by the root of 2 *
 * layers: Radford et al. 2019, section 2.3, which does not tell the 0.02;
 * that is initializer_range of Hugging Face's transformers. PyTorch:
 * normal_(0, 0.02) for each weight of tables and linear layers, in the
 * order of named_parameters(). */
void gpt_fill(Random *r, Gpt *g);

/* From the ids of all texts to the logits of what comes next, row by row.
 * With a cache for each layer, one text, whose n tokens follow those that
 * the caches hold; with NULL, texts from their first token on, in which no
 * token sees its future. Fills p, but with caches of attention's traces
 * only the tables of all heads side by side, joined and out. Refuses ids
 * that are no row, more tokens than the context, and with caches several
 * texts.
 * PyTorch: GPT2LMHeadModel(...)(ids).logits, of Hugging Face's
 * transformers. */
void gpt_forward(const Gpt *g, Cache *cache, const int *ids, GptPass *p);

/* Goes on with a text of which so many ids are there, up to n of them.
 * Refuses fewer than 1 that are there, or more than n, and what gpt_forward
 * and next_token refuse.
 * PyTorch: model.generate(ids, do_sample=True, temperature=..., top_k=...),
 * of Hugging Face's transformers. */
void gpt_write(const Gpt *g, Random *r, float temperature, int k, int begun,
               int n, int ids[n]);

/* What the last n tokens of a text get from each other and from those
 * before them, which the cache holds, and to which they are added. Fills of
 * t the tables of all heads side by side, joined and out. Refuses a cache
 * whose heads or widths are not the attention's, and what texts_must_fit,
 * cache_append and cache_attend refuse. */
void attend_cached(const Attention *a, Cache *c, int n,
                   const float x[n][a->d_x], Trace *t);

/* Refuses gradients of other sizes than the model and its pass have. */
void gpt_gradient_must_fit(const Gpt *g, const GptPass *p, const Gpt *g_g,
                           const GptPass *g_p);

/* From g_p->logits, the gradient of a loss by the logits, adds to the
 * gradients of all parameters. All else in g_p must be 0 before it begins.
 * Refuses what gpt_must_fit and gpt_gradient_must_fit refuse. PyTorch:
 * loss.backward(). */
void gpt_backward(const Gpt *g, const int *ids, const GptPass *p,
                  GptPass *g_p, Gpt *g_g);

/* Some texts of a batch: what was computed, its gradients, the shares of
 * the tokens that may come next, and the gradient of the parameters. */
typedef struct {
    GptPass pass, back;
    float *shares; /* [rows][vocabulary] */
    Gpt gradient;
} GptPart;

/* A training: the model, and the means that Adam keeps; room for a batch,
 * in parts of equally many texts; and where it stands. Fill in the model's
 * sizes, texts and how before gpt_training_init. */
enum { GPT_PARTS = 4 };
typedef struct {
    Gpt model, mean, square;
    int texts; /* of a batch, each as long as the model's context */
    Adam how;
    int parts; /* as many as divide the texts, at most GPT_PARTS */
    GptPart part[GPT_PARTS];
    int bytes;
    const char *text; /* [bytes], which stays its owner's */
    int step;         /* how many have been done */
    Random random;    /* draws the epochs' orders */
    int count, next;  /* pieces of text in an epoch, and the next one */
    int *order;       /* [count] */
    int noted;
    double *notes; /* [noted], of a run; saved with the training */
} GptTraining;

/* Makes room for a training on a text of so many bytes, and gpt_fills the
 * model with numbers from r, which then draws the epochs. The text is to
 * stay in memory until gpt_training_free gives the room back.
 * Refuses what gpt_init refuses, texts below 1, and a text that is too
 * short for a batch. */
void gpt_training_init(GptTraining *t, Random r, int bytes,
                       const char text[bytes]);
void gpt_training_free(GptTraining *t);

/* Puts so many numbers behind the notes. */
void gpt_training_note(GptTraining *t, int n, const double number[n]);

/* The next batch of an epoch's order: pieces of the text, as long as the
 * context, and for each byte the one that comes after it; ids and targets
 * are [texts][context]. Where too few are left for a batch, a new epoch
 * begins. Refuses a byte that is not below the vocabulary.
 * PyTorch: DataLoader(pieces, texts, shuffle=True, drop_last=True). */
void gpt_training_batch(GptTraining *t, int *ids, int *targets);

/* The loss of a part's texts, and in p the gradient that they alone give.
 * ids and targets have a row of g->context for each text. PyTorch: loss =
 * F.cross_entropy(logits, targets) and loss.backward(). */
float gpt_learn(const Gpt *g, const int *ids, const int *targets,
                GptPart *p);

/* The loss of a whole batch, and in part 0 the gradient of all: the means
 * of all parts', added up in one order, so that they have the same bits
 * with any number of threads. */
float gpt_training_gradient(GptTraining *t, const int *ids,
                            const int *targets);

/* One step of AdamW, with the gradient's length held at 1; returns the loss
 * before it. PyTorch: loss.backward(), clip_grad_norm_(parameters, 1) and
 * optimizer.step(). */
float gpt_training_step(GptTraining *t, const int *ids, const int *targets);

/* The mean loss of a model over a text, in pieces as long as its context,
 * what is left at the end left out; p is for so many pieces at a time. */
float gpt_loss(const Gpt *g, const char *text, int bytes, GptPass *p,
               float *shares);

/*
## Appendix B, normal numbers {#header-normals}
*/

/* A number from 0 to below 1 with 53 binary digits.
 * PyTorch: torch.rand(1, dtype=torch.float64), to the last bit. */
double random_double(Random *r);

/* A table of normal numbers with this mean and standard deviation. Refuses
 * a deviation below 0, and what is not finite.
 * PyTorch: x.normal_(mean, deviation), to the last bit, on x86 with AVX2.
 * Box and Muller 1958. */
void normal_fill(Random *r, int n, int m, float mean, float deviation,
                 float x[n][m]);

/* The table that an embedding begins with: mean 0, deviation 1.
 * PyTorch: nn.Embedding(rows, d).weight. */
void embedding_fill(Random *r, int rows, int d, float table[rows][d]);

/*
## Appendix C, one sheet {#header-sheet}
*/

/* The context vector of one word under one variant of attention. */
typedef struct {
    const char *name;
    int size; /* how many entries of x are used */
    float x[4];
} Journey;

/* That of "journey" in "Your journey starts with one step", under the
 * attentions of the book. PyTorch: the calls that the chapters show. */
enum { JOURNEYS = 13 };
void journeys(Journey table[JOURNEYS]);

/*
## Appendix D, MKL's lots {#header-mkl}
*/

/* As dropout_mask, but drawn from Intel MKL's generator MCG31, which begins
 * with one draw of r. PyTorch up to 2.6, on Intel's processors.
 * MKL: vslNewStream with VSL_BRNG_MCG31, and viRngBernoulli, except for a p
 * that falls on a lot halfway between two floats, where MKL's own answer
 * depends on the processor. */
void dropout_mask_mcg31(Random *r, double p, int n, int m,
                        float mask[n][m]);

/*
## The book's own words: `prose.c` {#header-prose}
*/

/* The book's prose, paragraphs as lines, in ASCII, without every tenth
 * paragraph; and those, which are held out. What `make prose` has found. */
extern const char prose[], held_out[];
extern const int prose_length, held_out_length;

/*
## A long run: `gpt_run.c`, `trained.c` {#header-trained}
*/

/* How many steps, and the sizes of its batches and of its model. */
typedef struct {
    int steps, texts, context, width, n_heads, layers;
} GptRun;

/* The one that chapter 21 tells of. */
extern const GptRun gpt_long_run;

/* A training of that size on the book's prose, from seed 123; and its next
 * batch and step, at a rate that rises to 0.004 in the first tenth of all
 * steps and falls to a tenth of that. Returns the loss. Refuse what
 * gpt_training_init and rate_at refuse. */
GptTraining gpt_run_begin(const GptRun *run);
float gpt_run_step(const GptRun *run, GptTraining *t);

/* The loss of the model as it is, on as many bytes of a text as are held
 * out: of `held_out`, or of `prose`, which it learns from. */
float gpt_run_loss(const GptTraining *t, const char *text);

/* Takes all steps, or what is left of them where the file at path has some.
 * It says on standard error how far it is, and saves itself there ten times
 * on the way, when Ctrl-C ends it, and at the end. When all are done, it
 * writes src/trained.h, or another log. Refuses, before the first step,
 * files that it cannot read or write, what gpt_training_load refuses, a
 * training that gpt_run has not saved, and one that has done more than
 * run->steps. Refuses losses that are not finite, when they come. */
void gpt_run(const GptRun *run, const char *path, const char *log);

/* What a model writes behind "The ", n bytes in all, with a temperature of
 * 0.8 and seed 123. Ends of paragraphs become bars, and what cannot be
 * printed question marks. */
void gpt_sample(const Gpt *g, int n, char text[n + 1]);

/* The long run after one of its steps: the loss on as much of the text that
 * it learns from as is held out, that on the text held out, and what the
 * model writes. */
typedef struct {
    int step;
    float loss, held_out;
    const char *sample;
} TrainedRow;

/* What it has kept in src/trained.h: its sizes; the machine, with threads,
 * and the day; how many seconds it took in all, and how many tokens it
 * learned from in a second of its steps; and its rows. */
typedef struct {
    GptRun run;
    const char *on, *at;
    int seconds, pace;
    int count;
    const TrainedRow *row;
} Trained;

extern const Trained trained;

/* The name of this machine's processor, where Linux tells it. */
void machine_name(int size, char name[size]);

/*
## Refusing: `refuse.c` {#header-refuse}
*/

/* Ends the program with exit status 2 and one line on standard error:
 * file.c: function: what is wrong, with the values, and what would be
 * right. Takes a printf format and its values, writes newlines and their
 * like as \x0a, and cuts what is longer than 999 bytes; flushes
 * standard output first. */
#define REFUSE(...) refuse(__FILE__, __func__, __VA_ARGS__)

/* Stands for the body of an exercise in the student edition; refuses. */
#define TODO(exercise)                                                     \
    REFUSE("exercise %s is still empty: write its body", exercise)

/* What REFUSE calls. */
_Noreturn void refuse(const char *file, const char *function,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
## A program's arguments: `argument.c` {#header-argument}
*/

/* For a program that takes no arguments: refuses them. argc and argv are
 * those of main. */
void no_arguments(int argc, char *argv[]);

/* The whole number, or the number, that an argument's text says; `what` is
 * its name in a refusal. Refuse any other text, blanks in front included,
 * and whole numbers that are not from the least to the most. */
uint64_t whole_number(const char *what, const char *text, uint64_t least,
                      uint64_t most);
float real_number(const char *what, const char *text);

/*
## Memory: `memory.c` {#header-memory}
*/

/* Memory for n times m numbers, to be freed by the caller. Refuses sizes
 * below 1, and what does not fit. */
float *new_table(int n, int m);

/* Memory for so many pieces of a size, which is a multiple of a power of 2
 * that is also how it is aligned, to be freed by the caller. Refuses what
 * does not fit. */
void *new_aligned(size_t count, size_t size);

/* So many bytes of zeros, to be freed by the caller, for what is read from
 * one end to the other: they begin at a multiple of 64, and where there are
 * many and the system is Linux, they are asked for in pages of 2 MiB, of
 * which it finds the next one sooner. All are in use at once. Refuses what
 * does not fit. */
void *new_pages(size_t bytes);

/* A block of zeros with room for all parts (of chapter 7), one behind the
 * other, to be freed by the caller; count is how many numbers it holds.
 * Refuses sizes below 0, and what does not fit. */
float *new_block(int parts, const Part part[parts], size_t *count);

/* How many numbers it would hold. Refuses the same. */
size_t block_count(int parts, const Part part[parts]);

/*
## What was measured: `measured.c` {#header-measured}

`make bench` measures this book's functions beside others'. One run is kept
in `src/measured.h`, so that pages can show it.
*/

/* How long something took, in milliseconds, and what that is in billions of
 * floating-point operations or of bytes a second, as a fraction of what the
 * machine did "at most" in the same turns; the largest difference from
 * float64; and millions of bytes in use beside inputs and outputs. NaN
 * where it does not apply. */
typedef struct {
    const char *what; /* "1x12x1024x64 causal": texts, heads, tokens, d */
    const char
        *library; /* "attention-in-c", "pytorch", "onnxruntime", ... */
    int threads;
    float ms, gflops, gbs, mb, fraction, error;
} Measured;

/* What was measured with so many threads, or for 0 with the most. The
 * machine's own limits are "peak" by "any", its widest instruction set, or
 * by "AVX-512", "AVX2" or "plain"; and "read" by "memory". Refuses what was
 * not measured. */
const Measured *measured(const char *what, const char *library,
                         int threads);

/* The machine on which it was, the day, and the libraries' versions. */
extern const char measured_on[], measured_at[], measured_with[];

/*
## Printing: `print.c` {#header-print}

Numbers have four decimals, or as many as the environment's `DIGITS` says,
from 0 to 17; another value of `DIGITS` is refused. They are aligned to the
widest and stand in PyTorch's brackets.
*/

/* How many decimals to print: usually so many, else what DIGITS says. */
int decimals(int usual);

/* Prints "label (n)" and below it the list in brackets. */
void print_vector(const char *label, int n, const float x[n]);

/* As print_vector, with so many decimals instead of four. */
void print_rounded(const char *label, int digits, int n, const float x[n]);

/* Prints "label (n, m)" and below it the table in brackets. */
void print_matrix(const char *label, int n, int m, const float x[n][m]);

/* Prints "label (n)" and below it the whole numbers in brackets. */
void print_integers(const char *label, int n, const int x[n]);

/* Prints "name: value". */
void print_value(const char *name, float x);

/*
## Drawing: `figure_*.c` {#header-figure}

Each function writes `name.svg` into the folder that the environment's
`FIGURES` names. Where it names none, nothing is drawn, and nothing refused.
Every drawing has its `title` and a description in words for those who
cannot see it, and follows the reader's light or dark theme. There are eight
colours, which repeat. In its words, what follows a single letter and `_` is
an index: `W_Q`. Panels stand as many a row as the screen has room for. A
folder or file that cannot be written is refused, and so are a path of 600
bytes or more and words of 1,000 or more; nothing half-written is left
behind.
*/

/* A table as coloured cells with their values: the stronger the colour, the
 * larger; orange is negative. Minus infinity and nan are hidden: cells
 * without colour that say so. The words name the rows and the columns.
 * Refuses infinity. */
void heatmap(const char *name, const char *title, int n,
             const char *const row[n], int m, const char *const column[m],
             const float x[n][m]);

/* Heatmaps of one shape as panels, each with its label above and to a scale
 * of its own. Refuses infinity. */
void maps(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, const char *const row[n],
          int m, const char *const column[m], const float x[panels][n][m]);

/* Sentences of m words, a row for each: every word in a cell of its own,
 * with its value below; and below these the same sentences with other
 * values, each with its label above, and one scale for all. Refuses an
 * entry that is negative or not finite. */
void word_maps(const char *name, const char *title, int panels,
               const char *const panel[panels], int n, int m,
               const char *const word[n][m], const float x[panels][n][m]);

/* Masks of one shape as panels: squares that are filled for 1 and empty for
 * 0. Refuses any other entry. */
void grid(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, int m,
          const float x[panels][n][m]);

/* Panels of n bars, each panel to a scale of its own. Refuses an entry that
 * is not finite. */
void bars(const char *name, const char *title, int panels,
          const char *const panel[panels], int n, const char *const word[n],
          const float x[panels][n]);

/* Distributions of n numbers, one below the other, on one axis for all with
 * 0 in its middle, so that spreads can be compared. Each has 61 bins, which
 * reach as far as 0 and its own numbers, and bars as high as its own
 * largest bin. No bin with a number in it is less than a pixel wide or
 * high. Refuses an entry that is not finite. */
void histograms(const char *name, const char *title, int panels,
                const char *const panel[panels], int n,
                const float x[panels][n]);

/* Two curves through the values at n places, on an axis from 0 to the
 * largest. A value stands at its point, but where it is the one before; nan
 * has no point, and is said on the axis. Refuses an entry that is negative
 * or infinite. */
void curves(const char *name, const char *title, const char *const curve[2],
            int n, const char *const at[n], const float y[2][n]);

/* A bar for each of d entries, put together from the parts that n words add
 * to it, with the sum beside it. Refuses a part that is negative or not
 * finite. */
void stacks(const char *name, const char *title, int n,
            const char *const word[n], int d, const float part[n][d]);

/* Arrows from the origin of a plane, the shadow of each on the first, and
 * its dot product with the first beside its tip. Refuses an entry that is
 * not finite, and an arrow of length 0. */
void arrows(const char *name, const char *title, int n,
            const char *const word[n], const float x[n][2]);

/*
Drawings for one thing alone:
*/

/* What attention makes of word i of n, whose embedding is x: its query, its
 * key and its value; then for each key the score with the query and the
 * share, and what the shares mix of the values, the context. Whole numbers
 * stand without their zeros. Refuses an entry that is not finite, and a
 * word that is not there. */
void follow(const char *name, const char *title, int n,
            const char *const word[n], int i, int d, int d_k, int d_v,
            const float x[d], const float query[d_k],
            const float key[n][d_k], const float value[n][d_v],
            const float scores[n], const float weights[n],
            const float context[d_v]);

/* The stages of attention from words to output; those that `lit` names,
 * with one blank between two, are shaded. Refuses no name, a name that is
 * no stage, and one that comes twice. */
void pipeline(const char *name, const char *lit);

/* The 32 bits of x, of which the lower 24 are shaded, and under them the
 * fraction that those are of 2^24. */
void bits(const char *name, const char *title, uint32_t x);

/* Words on the left, and on the right the rows that their ids pick from a
 * table of so many rows, in the order of the ids; x has the row of each
 * word. Refuses an id that is no row, one that comes twice, and an entry
 * that is not finite. */
void lookup(const char *name, const char *title, int n,
            const char *const word[n], const int ids[n], int rows, int d,
            const float x[n][d]);

/*
And some that are drawn from structs:
*/

/* A line through n points, or a dot where there is one. */
typedef struct {
    const char *label;
    int n;
    const float *x, *y;
} Line;

/* Lines on two axes on which equal factors are equally far apart. Marks are
 * powers of two where all numbers of an axis are; else powers of ten, or 1,
 * 2 and 5 times these where there is room. A label stands where its line
 * ends, or as near as it covers nothing. Refuses no line, more than eight,
 * a line without points, and a number that is not finite or not above 0. */
void log_log(const char *name, const char *title, const char *x,
             const char *y, int count, const Line line[count]);

/* A matrix as a rectangle: its label, its rows and columns, in how many
 * parts of equal width its columns are coloured, and the sign after it,
 * or NULL where a line ends. */
typedef struct {
    const char *label;
    int n, m, parts;
    const char *after;
} Block;

/* Matrices in proportion to their shapes, in lines like an equation. All
 * share one scale: sides are as the numbers of rows and columns, and the
 * cells are seen; or, where one of these is above 8, as their square roots,
 * so that 20 × 512 can stand beside 512 × 512. Where some have parts, those
 * without are pale. Refuses parts that do not divide the columns. */
void blocks(const char *name, const char *title, int count,
            const Block block[count]);

/* A table for a worksheet: its label, and n rows of m entries. */
typedef struct {
    const char *label;
    int n, m;
    const float *x; /* entry [i][j] at i * m + j */
} Table;

/* Tables to be filled in by hand: the first `filled` of them have their
 * entries, the others empty cells. */
void worksheet(const char *name, const char *title, int count,
               const Table table[count], int filled);

/*
## Numbers in files: `safetensors.c` {#header-safetensors}
*/

/* A named array of numbers, such as a matrix of weights. */
typedef struct {
    const char *path; /* of its file, as given to tensors_read */
    const char *name;
    char type; /* 'f' F32, float; 'd' F64, double; 'i' I64, int64_t; or '?',
                * any other, which has no numbers here */
    const char *dtype; /* the type as its file says it, such as "BF16" */
    int rank;          /* number of dimensions, 0 to 4 */
    int shape[4];      /* 1 beyond the rank */
    size_t count;      /* number of entries; of '?', of bytes */
    void *data;        /* count entries in C order */
} Tensor;

/* All tensors of a file, read whole into memory. */
typedef struct {
    const char *path;
    size_t count;
    Tensor *tensor; /* in the order of their names */
    char *text;     /* the header, where the names stand */
    void *data;     /* the entries of all */
} Tensors;

/* Reads a safetensors file of tensors of up to four dimensions; what its
 * metadata says is passed over. Refuses any other file, naming it and the
 * fault, and never allocates more for numbers and names than the file
 * holds. Python: safetensors.torch.load_file. */
Tensors tensors_read(const char *path);

/* Is there a tensor of that name? Python: name in tensors. */
int tensors_have(const Tensors *file, const char *name);

/* The tensor of that name. Refuses a name that is not there.
 * Python: tensors[name]. */
const Tensor *tensors_find(const Tensors *file, const char *name);

/* Frees all tensors of the file. */
void tensors_free(Tensors *file);

/* The entries of a tensor of that type. Refuse a tensor of another type. */
const float *tensor_floats(const Tensor *t);
const double *tensor_doubles(const Tensor *t);
const int64_t *tensor_integers(const Tensor *t);

/* Writes a safetensors file of so many tensors, of which it looks at name,
 * type, rank, shape and data. Wherever the program ends, or the machine,
 * there is the old file or the whole new one: it grows as path.part, which
 * a program that is killed leaves behind, and the next one takes again; two
 * must not write one file at a time. Refuses types but 'f', 'd' and 'i',
 * names that come twice, that are not UTF-8 or that JSON would write with a
 * backslash, a path that is a link, a folder or a device, and what the
 * system refuses, such as a full disk: then the old file stays.
 * Python: safetensors.torch.save_file. */
void tensors_write(const char *path, int count, const Tensor tensor[count]);

/*
## Settings beside a model: `json.c` {#header-json}
*/

/* The whole number, from 0 to INT_MAX, that a file in JSON has by that name
 * in its outermost braces, such as "n_head" in a model's config.json.
 * Refuses a file that is not JSON, and one that has no such name, or has it
 * twice or with another value. Python: json.load(file)[name]. */
int json_whole_number(const char *path, const char *name);

/*
## Being stopped: `interrupt.c` {#header-interrupt}
*/

/* From now on, Ctrl-C does not end the program at once: is_interrupted
 * answers 1, so that a long run can save what it has and end by itself. A
 * second Ctrl-C ends it. Python: signal.signal, and KeyboardInterrupt. */
void stop_when_interrupted(void);
int is_interrupted(void);

/*
## A model in a file: `gpt_file.c` {#header-gpt-file}
*/

/* Reads a model by the names of GPT-2's parameters, such as "wte.weight"
 * and "h.0.attn.c_attn.weight", in which a layer's table is [in][out] and
 * the roles' three stand side by side; with "transformer." before them, or
 * without. Sizes and layers are those of the tables. A "lm_head.weight" is
 * an output apart. The number of heads is the file's "n_head", if gpt_save
 * has written it, or that of config.json in its folder. Refuses what
 * tensors_read and json_whole_number refuse, tables that are missing or of
 * other shapes, heads that do not divide the width, and a tensor that is no
 * part of the model. It passes over the masks "h.0.attn.bias" and
 * "h.0.attn.masked_bias", what gpt_training_save adds, and names without a
 * dot. PyTorch: GPT2LMHeadModel.from_pretrained, of Hugging Face's
 * transformers. */
Gpt gpt_load(const char *path);

/* Writes a model so that gpt_load reads it. Refuses what tensors_write
 * refuses. */
void gpt_save(const Gpt *g, const char *path);

/* Writes a training, the model among it, so that gpt_load reads that; and
 * reads it into one that gpt_training_init has made for the same sizes and
 * text: it goes on as if it had not been interrupted, to the last bit.
 * Refuse what gpt_save and gpt_load refuse, and a training of other sizes,
 * on another text, or with other settings of Adam; the rate may differ, as
 * each step sets it. */
void gpt_training_save(const GptTraining *t, const char *path);
void gpt_training_load(GptTraining *t, const char *path);

#endif
