#include "workbench_say.h"

/* How a number was made: one function a table, and the list of tables. They
 * multiply again what the book's functions have multiplied, so the last line
 * must end with the entry. No line begins with a word of the text. */

/* ---- Embeddings and matrices */

static void explain_embedding(const Bench *b, Cell c)
{
    const int k = c.id == OTHERS;
    const Text *text = &b->stage->text[k];
    const char *word = b->name[k][c.i];
    const double seed = b->number[KEY_SEED];
    const int id = b->id[k][c.i];
    if (b->is_known[k][c.i])
        printf("The embedding of '%s' stands in chapter %d, written by "
               "hand.\n",
               word, text->chapter);
    else if (text->is_strange)
        printf("These are strangers: after the matrices, seed %.0f draws a "
               "row of numbers from 0 to below 1 for each.\n"
               "Row %d is that of '%s'.\n",
               seed, id + 1, word);
    else
        printf("In the vocabulary, all words in alphabetical order, '%s' "
               "has the number %d (the first has 0).\n"
               "Seed %.0f fills a table with normal numbers, a row for "
               "each word. Row %d is the embedding of '%s'.\n",
               word, id, seed, id, word);
    printf("This is its %s: %s\n",
           bench_entry_name(b, k ? PER_Y : PER_X, c.j),
           say((double)bench_entry(b, c.id, 0, c.i, c.j)));
}

static void explain_alike(const Bench *b, Cell c)
{
    printf("How alike are '%s' and '%s'? Their embeddings are multiplied "
           "entry by entry, and added up.\n",
           bench_asks(b, c.i), bench_asked(b, c.j));
    bench_products(b->a.d_x, bench_row_of(b, EMBEDDINGS, c.h, c.i),
                   bench_row_of(b, EMBEDDINGS, c.h, c.j), "both ",
                   bench_meanings(b, PER_X), NULL);
    bench_from(EMBEDDINGS, 0, c.i, -1);
    bench_from(EMBEDDINGS, 0, c.j, -1);
}

/* How many numbers were drawn before entry [i][j] of a head's matrix: head
 * by head, or, with linear layers, all heads' queries before the keys. */
static int drawn_before(const Bench *b, Cell c)
{
    const int d = b->a.d_x, own = (int)c.id - W_QUERY;
    const int size[3] = {d * b->a.d_k, d * b->a.d_k, d * b->a.d_v};
    int before = c.i * bench_shape(b, c.id).m + c.j;
    for (int k = 0; k < 3; k++) {
        const int is_before = k < own;
        if (b->stage->draw == BY_LINEAR)
            before += size[k] * (is_before  ? b->a.n_heads
                                 : k == own ? c.h
                                            : 0);
        else
            before += size[k] * (c.h + is_before);
    }
    return before;
}

static void explain_matrix(const Bench *b, Cell c)
{
    static const char *const role[3] = {"query", "key", "value"};
    const int is_linear = b->stage->draw == BY_LINEAR,
              k = (int)c.id - W_QUERY;
    const Per in = k > 0 && b->texts == 2 ? PER_Y : PER_X;
    const Per out = c.id == W_VALUE ? PER_V : PER_K;
    printf("A matrix makes a %s of an embedding. This is how much %s of "
           "the embedding adds to %s of the %s%s.\n",
           role[k], bench_entry_name(b, in, is_linear ? c.j : c.i),
           bench_entry_name(b, out, is_linear ? c.i : c.j), role[k],
           bench_in_head(b, c.h));
    if (b->stage->draw == BY_HAND)
        printf(
            "In a model, training finds it. Here, chapter %d has written "
            "it by hand.\n%s\n",
            b->stage->text[0].chapter,
            say((double)bench_entry(b, c.id, c.h, c.i, c.j)));
    else
        bench_drawn(b, drawn_before(b, c),
                    is_linear ? 1 / sqrt(b->a.d_x) : 0);
}

/* ---- Roles */

/* A row of embeddings times a column of a matrix x W, or a row of a linear
 * layer's weight. */
static void explain_role(const Bench *b, Cell c)
{
    static const char *const does[3] = {"looks for", "can be found by",
                                        "gives to those who find it"};
    const int is_linear = b->stage->draw == BY_LINEAR;
    const int k = (int)c.id - QUERY, is_other = k > 0 && b->texts == 2;
    const TableId x = is_other ? OTHERS : EMBEDDINGS, w = W_QUERY + k;
    const List row = bench_row_of(b, w, c.h, c.j);
    const List column = bench_column_of(b, w, c.h, c.j);
    printf("What '%s' %s, %s of it%s.\n"
           "The embedding and %s %d of %s%s are multiplied entry by entry, "
           "and added up.\n",
           k == 0 ? bench_asks(b, c.i) : bench_asked(b, c.i), does[k],
           bench_entry_name(b, c.id == VALUE ? PER_V : PER_K, c.j),
           bench_in_head(b, c.h), is_linear ? "row" : "column", c.j + 1,
           bench_kind[w].label, bench_in_head(b, c.h));
    bench_products(bench_shape(b, x).m, bench_row_of(b, x, 0, c.i),
                   is_linear ? row : column, "from ",
                   bench_meanings(b, is_other ? PER_Y : PER_X), NULL);
    bench_from(x, 0, c.i, -1);
    bench_from(w, c.h, is_linear ? c.j : -1, is_linear ? -1 : c.j);
}

/* ---- Scores */

static void explain_scores(const Bench *b, Cell c)
{
    const int is_one = b->stage->draw == BY_NONE;
    const TableId left = is_one ? EMBEDDINGS : QUERY;
    const TableId right = is_one ? EMBEDDINGS : KEY;
    const int row = is_one ? b->asking : c.i;
    printf("Here '%s' asks, and '%s' is asked%s.\n", bench_asks(b, c.i),
           bench_asked(b, c.j), bench_in_head(b, c.h));
    if (is_one && !isnan(b->score[c.j])) {
        printf("You have set this score yourself.\n%s\n",
               say((double)b->score[c.j]));
        return;
    }
    printf("The %s of '%s' and the %s of '%s' are multiplied entry by "
           "entry, and added up.\n",
           is_one ? "embedding" : "query", bench_asks(b, c.i),
           is_one ? "embedding" : "key", bench_asked(b, c.j));
    bench_products(bench_shape(b, left).m, bench_row_of(b, left, c.h, row),
                   bench_row_of(b, right, c.h, c.j), "for ",
                   bench_meanings(b, is_one ? PER_X : PER_K), NULL);
    bench_from(left, c.h, row, -1);
    bench_from(right, c.h, c.j, -1);
}

static void explain_scaled(const Bench *b, Cell c)
{
    const float score = bench_entry(b, SCORES, c.h, c.i, c.j);
    const float divisor = (float)b->divisor;
    const int d_k = b->a.d_k;
    puts("The more entries a query has, the larger its scores grow, and a "
         "division makes up for it.");
    if (b->number[KEY_SCALE] == SCALE_ROOT)
        printf(
            "The score of '%s' with '%s' is divided by the root of d_k = "
            "%d, which is %s.\n",
            bench_asks(b, c.i), bench_asked(b, c.j), d_k,
            say((double)divisor));
    else
        printf("The score of '%s' with '%s' is divided by the %s that you "
               "have chosen; the root of d_k = %d would be %s.\n",
               bench_asks(b, c.i), bench_asked(b, c.j),
               say((double)divisor), d_k, say(sqrt(d_k)));
    say_quotient((double)score, (double)divisor, score / divisor);
    bench_from(SCORES, c.h, c.i, c.j);
}

/* Says where both words stand, and whether the one may see the other. */
static int is_seen(const Bench *b, int i, int j)
{
    const int is_window = b->number[KEY_MASK] == SEE_WINDOW;
    const int window = bench_whole(b, KEY_WINDOW);
    const int is_far = is_window && i - j >= window;
    printf("Here '%s', word %d, asks, and '%s', word %d, is asked.\n",
           bench_asks(b, i), i + 1, bench_asked(b, j), j + 1);
    if (j > i)
        puts("The word asked comes later, so it is hidden.");
    else if (is_far)
        printf("The word asked stands too far back for a window of %d, so "
               "it is hidden.\n",
               window);
    else if (i == j)
        puts("It is the same word, which does not come later, so it is "
             "seen.");
    else
        puts("The word asked comes before, so it is seen.");
    return j <= i && !is_far;
}

static void explain_mask(const Bench *b, Cell c)
{
    const int seen = is_seen(b, c.i, c.j);
    printf("The mask says so with %s\n", say(seen));
}

static void explain_masked(const Bench *b, Cell c)
{
    const TableId before = bench_has(b, SCALED) ? SCALED : SCORES;
    if (is_seen(b, c.i, c.j))
        printf("The score stays as it was: %s\n",
               say((double)bench_entry(b, before, c.h, c.i, c.j)));
    else
        puts("Minus infinity takes the place of its score. The exponential "
             "of that is 0, so it will get no share.\n-inf");
    bench_from(before, c.h, c.i, c.j);
    bench_from(MASK, 0, c.i, c.j);
}

/* ---- Shares */

static void explain_exponentials(const Bench *b, Cell c)
{
    const float score = bench_entry(b, SCORES, c.h, c.i, c.j);
    puts("The exponential of the score is above 0, whatever the score, and "
         "larger where the score is larger.");
    printf("e^%s = %s\n", say((double)score), say((double)expf(score)));
    bench_from(SCORES, c.h, c.i, c.j);
}

/* The exponentials of a row of scores, a line each, and their sum. */
static double exponentials(const Bench *b, const float *score, float *power)
{
    float largest = score[0];
    double sum = 0;
    for (int k = 1; k < b->m; k++)
        largest = score[k] > largest ? score[k] : largest;
    printf("The largest score of the row, %s, is subtracted from all: that "
           "changes no share, and no exponential grows too large.\n",
           say((double)largest));
    for (int k = 0; k < b->m; k++) {
        power[k] = expf(score[k] - largest);
        sum += power[k];
        printf("e^(%s %s) = %s, for '%s'\n", say((double)score[k]),
               say_added((double)-largest), say((double)power[k]),
               bench_asked(b, k));
    }
    return sum;
}

static void explain_weights(const Bench *b, Cell c)
{
    const TableId before = bench_before_softmax(b);
    const float *score = bench_row(b, before, c.h, c.i);
    float power[MOST_WORDS];
    int hidden = 0;
    for (int k = 0; k < b->m; k++)
        hidden += score[k] == -INFINITY;
    bench_from(before, c.h, c.i, -1);
    printf("Softmax divides one whole among the words that '%s' asks%s, "
           "with more for larger scores.\n",
           bench_asks(b, c.i), bench_in_head(b, c.h));
    if (hidden == b->m) {
        puts("Here every score of the row is minus infinity, and there is "
             "nobody to share with.\n0 / 0 = nan");
        return;
    }
    const double sum = exponentials(b, score, power);
    puts("All of them together:");
    say_sum(b->m, power, sum);
    printf("The share of '%s' is its part of that:\n", bench_asked(b, c.j));
    say_quotient((double)power[c.j], sum, (float)(power[c.j] / sum));
}

static void explain_hidden(const Bench *b, Cell c)
{
    const int seen = is_seen(b, c.i, c.j);
    puts("Its share is multiplied by the mask, 1 or 0.");
    say_product(bench_entry(b, WEIGHTS, c.h, c.i, c.j), (float)seen, "",
                NULL);
    bench_from(WEIGHTS, c.h, c.i, c.j);
    bench_from(MASK, 0, c.i, c.j);
}

static void explain_renormalized(const Bench *b, Cell c)
{
    const float *left = bench_row(b, HIDDEN, c.h, c.i);
    double sum = 0;
    for (int k = 0; k < b->m; k++)
        sum += left[k];
    printf("What the mask has left of the shares of '%s' is no whole any "
           "more:\n",
           bench_asks(b, c.i));
    say_sum(b->m, left, sum);
    printf("Divided by that, the shares are a whole again. That of '%s':\n",
           bench_asked(b, c.j));
    say_quotient((double)left[c.j], sum, (float)(left[c.j] / sum));
    bench_from(HIDDEN, c.h, c.i, -1);
}

/* ---- Dropout */

static void explain_kept(const Bench *b, Cell c)
{
    const double p = b->number[KEY_P];
    const int before = (c.h * b->n + c.i) * b->m + c.j;
    if (p == 1) {
        printf("A rate of 1 drops every share, and nothing is drawn.\n"
               "%s\n",
               say(0));
        return;
    }
    Random r = random_seeded((uint64_t)b->number[KEY_DROPOUT_SEED]);
    for (int k = 0; k < before; k++)
        random_double(&r);
    const double number = random_double(&r);
    printf("Each share has a random number from 0 to below 1. It is "
           "number %d that seed %.0f draws: %s\n"
           "It is %s 1 %s = %s, so the share that '%s' has for '%s' is %s: "
           "%s\n",
           before + 1, b->number[KEY_DROPOUT_SEED], say(number),
           number < 1 - p ? "below" : "not below", say_added(-p),
           say(1 - p), bench_asks(b, c.i), bench_asked(b, c.j),
           number < 1 - p ? "kept" : "dropped", say(number < 1 - p));
}

static void explain_dropped(const Bench *b, Cell c)
{
    const TableId left =
        bench_has(b, RENORMALIZED) ? RENORMALIZED : WEIGHTS;
    const int is_kept = bench_entry(b, KEPT, c.h, c.i, c.j) != 0;
    const float factor = 1 / (float)(1 - b->number[KEY_P]);
    if (is_kept)
        printf(
            "The mask keeps what '%s' gives to '%s'. To make up for what "
            "is dropped, it is multiplied by 1 / (1 %s) = %s.\n",
            bench_asks(b, c.i), bench_asked(b, c.j),
            say_added(-b->number[KEY_P]), say((double)factor));
    else
        printf("The mask drops what '%s' gives to '%s'.\n",
               bench_asks(b, c.i), bench_asked(b, c.j));
    say_product(bench_entry(b, left, c.h, c.i, c.j), is_kept ? factor : 0,
                "", NULL);
    bench_from(left, c.h, c.i, c.j);
    bench_from(KEPT, c.h, c.i, c.j);
}

/* ---- Mixtures */

static void explain_parts(const Bench *b, Cell c)
{
    printf(
        "What '%s' adds to %s of the mixture: its share times that entry "
        "of its embedding.\n",
        bench_asked(b, c.i), bench_entry_name(b, PER_V, c.j));
    say_product(bench_entry(b, WEIGHTS, c.h, 0, c.i),
                bench_entry(b, EMBEDDINGS, 0, c.i, c.j), "", NULL);
    bench_from(WEIGHTS, c.h, 0, c.i);
    bench_from(EMBEDDINGS, 0, c.i, c.j);
}

static void explain_context(const Bench *b, Cell c)
{
    const TableId mixing = bench_mixing(b);
    const TableId value = b->stage->draw == BY_NONE ? EMBEDDINGS : VALUE;
    printf("What '%s' takes home%s, %s of it: of each word its share times "
           "that entry of its %s, all added up.\n",
           bench_asks(b, c.i), bench_in_head(b, c.h),
           bench_entry_name(b, PER_V, c.j),
           value == VALUE ? "value" : "embedding");
    bench_products(b->m, bench_row_of(b, mixing, c.h, c.i),
                   bench_column_of(b, value, c.h, c.j), "of ",
                   bench_others(b), NULL);
    bench_from(mixing, c.h, c.i, -1);
    bench_from(value, c.h, -1, c.j);
}

static void explain_joined(const Bench *b, Cell c)
{
    const int head = c.j / b->a.d_v, k = c.j % b->a.d_v;
    printf("The heads' results stand side by side. Column %d is %s of head "
           "%d, for '%s': %s\n",
           c.j + 1, bench_entry_name(b, PER_V, k), head + 1,
           bench_asks(b, c.i),
           say((double)bench_entry(b, CONTEXT, head, c.i, k)));
    bench_from(CONTEXT, head, c.i, k);
}

/* ---- The output layer, whose numbers come after those of all matrices */

static void output_number(const Bench *b, int place)
{
    const Attention *a = &b->a;
    const int before = a->n_heads * a->d_x * (2 * a->d_k + a->d_v);
    bench_drawn(b, before + place, 1 / sqrt(b->out.d_in));
}

static void explain_w_out(const Bench *b, Cell c)
{
    printf("The output layer mixes what the heads have found. This is how "
           "much column %d of their results adds to entry %d of the "
           "output.\n",
           c.j + 1, c.i + 1);
    output_number(b, c.i * b->out.d_in + c.j);
}

static void explain_b_out(const Bench *b, Cell c)
{
    printf("The bias of the output layer is added to every word's output. "
           "This is entry %d of it.\n",
           c.j + 1);
    output_number(b, b->out.d_out * b->out.d_in + c.j);
}

static void explain_out(const Bench *b, Cell c)
{
    printf("What all heads have found for '%s' and row %d of %s are "
           "multiplied entry by entry, and added up, with the bias.\n",
           bench_asks(b, c.i), c.j + 1, bench_kind[W_OUT].label);
    bench_products(b->out.d_in, bench_row_of(b, JOINED, 0, c.i),
                   bench_row_of(b, W_OUT, 0, c.j), "", NULL,
                   &b->out.bias[c.j]);
    bench_from(JOINED, 0, c.i, -1);
    bench_from(W_OUT, 0, c.j, -1);
    bench_from(B_OUT, 0, 0, c.j);
}

/* ---- Who explains each table, in the order of TableId */

void bench_explain(const Bench *b, Cell c)
{
    static void (*const explain[TABLES])(const Bench *b, Cell c) = {
        explain_embedding, explain_embedding,    explain_alike,
        explain_matrix,    explain_matrix,       explain_matrix,
        explain_role,      explain_role,         explain_role,
        explain_scores,    explain_scaled,       explain_mask,
        explain_masked,    explain_exponentials, explain_weights,
        explain_hidden,    explain_renormalized, explain_kept,
        explain_dropped,   explain_parts,        explain_context,
        explain_joined,    explain_w_out,        explain_b_out,
        explain_out};
    bench_tell(b, c, explain[c.id]);
}
