#include "workbench.h"

/* How a number was made. An explanation multiplies again what the book's
 * functions have multiplied, in the same order and with the same roundings,
 * so that its last line must end with the entry itself. No line begins with
 * a word of the text. */

/* ---- Numbers and words in a line */

/* As many decimals as print.c shows, and no sign before what rounds to 0. A
 * line may hold as many numbers as there are buffers. */
static const char *say(double x)
{
    static char buffer[4 * MOST_WORDS][64];
    static int next;
    const char *text = getenv("DIGITS");
    const int digits =
        text && *text ? (int)whole_number("DIGITS", text, 0, 17) : 4;
    char *out = buffer[next++ % (4 * MOST_WORDS)];
    snprintf(out, sizeof *buffer, "%.*f", digits, x);
    if (isnan(x))
        strcpy(out, "nan");
    return out + (*out == '-' && !(fabs(strtod(out, NULL)) > 0));
}

/* "+ 0.5000" or "- 0.5000", for what follows in a sum. */
static const char *add(double x)
{
    static char buffer[4 * MOST_WORDS][70];
    static int next;
    const char *number = say(x);
    char *out = buffer[next++ % (4 * MOST_WORDS)];
    const int is_less = *number == '-';
    snprintf(out, sizeof *buffer, "%s %s", is_less ? "-" : "+",
             number + is_less);
    return out;
}

/* The word that asks in row i, and that which is asked in column j. */
static const char *asks(const Bench *b, int i)
{
    return b->name[0][b->stage->draw == BY_NONE ? b->asking : i];
}

static const char *asked(const Bench *b, int j)
{
    return bench_others(b)[j];
}

static float entry(const Bench *b, TableId id, int h, int i, int j)
{
    return bench_row(b, id, h, i)[j];
}

/* ", head 2", where there are several. */
static const char *of_head(const Bench *b, int h)
{
    static char text[20];
    snprintf(text, sizeof text, b->a.n_heads > 1 ? ", head %d" : "", h + 1);
    return text;
}

/* "entry 2", or "entry 2 (deed)" where it has a name. */
static const char *entry_name(const Bench *b, Per per, int k)
{
    static char text[4][60];
    static int next;
    char *out = text[next++ % 4], names[100];
    const char *list = b->stage->names[per];
    snprintf(out, sizeof *text, "entry %d", k + 1);
    if (!list)
        return out;
    snprintf(names, sizeof names, "%s", list);
    const char *name = strtok(names, " ");
    for (int i = 0; i < k; i++)
        name = strtok(NULL, " ");
    snprintf(out, sizeof *text, "entry %d (%s)", k + 1, name);
    return out;
}

/* Where an entry came from, kept until the text is complete; -1 is all of a
 * row or column. */
static struct {
    TableId id;
    int h, i, j;
} source[8];
static int sources;

static void from(TableId id, int h, int i, int j)
{
    source[sources].id = id;
    source[sources].h = bench_kind[id].heads == PER_HEAD ? h : -1;
    source[sources].i = i;
    source[sources++].j = j;
}

static void print_sources(void)
{
    for (int k = 0; k < sources; k++) {
        char part[3][20];
        const int at[3] = {source[k].h, source[k].i, source[k].j};
        for (int p = 0; p < 3; p++)
            snprintf(part[p], sizeof part[p], "%d", at[p]);
        printf("@source %s %s %s %s\n", bench_kind[source[k].id].id,
               at[0] < 0 ? "-" : part[0], at[1] < 0 ? "*" : part[1],
               at[2] < 0 ? "*" : part[2]);
    }
}

/* ---- Sums */

/* Says so, where the numbers as shown would give another result. */
static void remark(double shown, double result)
{
    if (fabs(shown - strtod(say(result), NULL)) > 1e-7)
        puts("(All digits count, also those that are not shown.)");
}

/* The products of two lists whose entries lie so far apart, one a line; then
 * their sum, to which a last term is added unless it is NULL. After each
 * product stands whose it is, unless whose is NULL. */
static void products(int n, const float *x, int step_x, const float *y,
                     int step_y, const char *const whose[n],
                     const float *last)
{
    float sum = 0, term[MOST_HEADS * MOST_SIZE];
    double shown = last ? strtod(say((double)*last), NULL) : 0;
    for (int k = 0; k < n; k++) {
        const float a = x[k * step_x], c = y[k * step_y];
        term[k] = a * c;
        sum += term[k];
        shown += strtod(say((double)term[k]), NULL);
        if (n == 1 && !last)
            break;
        printf("%s × %s = %s", say((double)a), say((double)c),
               say((double)term[k]));
        printf(whose ? ", of '%s'\n" : "\n", whose ? whose[k] : "");
    }
    if (n == 1 && !last) {
        printf("%s × %s = %s\n", say((double)*x), say((double)*y),
               say((double)sum));
        return;
    }
    if (last)
        sum += *last;
    remark(shown, (double)sum);
    printf("%s", say((double)term[0]));
    for (int k = 1; k < n; k++)
        printf(" %s", add((double)term[k]));
    if (last)
        printf(" %s", add((double)*last));
    printf(" = %s\n", say((double)sum));
}

static void product(double x, double y, double result)
{
    remark(strtod(say(x), NULL) * strtod(say(y), NULL), result);
    printf("%s × %s = %s\n", say(x), say(y), say(result));
}

/* ---- Drawn numbers */

static const char *seed_of(const Bench *b, Key key)
{
    static char text[20];
    snprintf(text, sizeof text, "%.0f", b->number[key]);
    return text;
}

/* Number `before` + 1 of a seed's uniform numbers, and what is made of it: a
 * number from -limit to limit, or itself if the limit is 0. */
static void drawn(const Bench *b, int before, double limit)
{
    Random r;
    float x[1][1];
    random_seed(&r, (uint64_t)b->number[KEY_SEED]);
    for (int k = 0; k < before; k++)
        random_u32(&r);
    Random again = r;
    const float u = random_float(&again);
    printf("It was drawn: seed %s begins a stream of numbers from 0 to "
           "below 1, and this is number %d of it.\n",
           seed_of(b, KEY_SEED), before + 1);
    if (limit == 0) {
        printf("%s\n", say((double)u));
        return;
    }
    const float far = (float)limit;
    uniform_fill(&r, 1, 1, -far, far, x);
    printf("A linear layer of %s inputs wants numbers from %s to %s, so it "
           "is stretched and moved.\n",
           say(1 / (limit * limit)), say(-limit), say(limit));
    remark(strtod(say((double)u), NULL) * strtod(say(2 * limit), NULL) -
               strtod(say(limit), NULL),
           (double)x[0][0]);
    printf("%s × %s - %s = %s\n", say((double)u), say(2 * limit),
           say(limit), say((double)x[0][0]));
}

/* ---- One function a table */

static void embedding(const Bench *b, int k, int i, int j)
{
    const Text *text = &b->stage->text[k];
    const TableId id = k ? OTHERS : EMBEDDINGS;
    const char *word = b->name[k][i];
    const char *what = entry_name(b, k ? PER_Y : PER_X, j);
    if (b->is_known[k][i]) {
        printf("The numbers of '%s' stand in chapter %d, written by hand.\n"
               "This is %s of them.\n",
               word, text->chapter, what);
    } else if (text->is_strange) {
        printf("Strangers have no meaning: seed %s draws a row of uniform "
               "numbers for each,\nafter those of the matrices.\n"
               "Row %d is that of '%s', and this is %s.\n",
               seed_of(b, KEY_SEED), b->id[k][i] + 1, word, what);
    } else {
        printf(
            "In the order of the alphabet, each word once, '%s' has the "
            "number %d, counted from 0.\n"
            "Seed %s fills a table of normal numbers with a row for each "
            "number.\n"
            "Row %d is looked up, and this is %s.\n",
            word, b->id[k][i], seed_of(b, KEY_SEED), b->id[k][i], what);
    }
    printf("%s\n", say((double)entry(b, id, 0, i, j)));
}

static void explain_embeddings(const Bench *b, int h, int i, int j)
{
    (void)h;
    embedding(b, 0, i, j);
}

static void explain_others(const Bench *b, int h, int i, int j)
{
    (void)h;
    embedding(b, 1, i, j);
}

static void explain_alike(const Bench *b, int h, int i, int j)
{
    const int d = b->a.d_x;
    (void)h;
    printf("How alike are '%s' and '%s'? Their embeddings are multiplied "
           "entry by entry, and added up.\n",
           asks(b, i), asked(b, j));
    products(d, bench_row(b, EMBEDDINGS, 0, i), 1,
             bench_row(b, EMBEDDINGS, 0, j), 1, NULL, NULL);
    from(EMBEDDINGS, 0, i, -1);
    from(EMBEDDINGS, 0, j, -1);
}

/* How many numbers were drawn before entry [i][j] of a head's matrix: with
 * linear layers, those of all heads' queries come before the keys. */
static int drawn_before(const Bench *b, TableId id, int h, int i, int j)
{
    const int size[3] = {b->a.d_x * b->a.d_k, b->a.d_y * b->a.d_k,
                         b->a.d_y * b->a.d_v};
    const int is_linear = b->stage->draw == BY_LINEAR;
    int before = i * bench_shape(b, id).m + j;
    for (int k = 0; k < 3; k++) {
        const int is_own = k == (int)id - W_QUERY;
        const int is_later = k > (int)id - W_QUERY;
        const int heads = is_linear ? (is_own     ? h
                                       : is_later ? 0
                                                  : b->a.n_heads)
                                    : h + !(is_own || is_later);
        before += heads * size[k];
    }
    return before;
}

static void matrix(const Bench *b, TableId id, int h, int i, int j)
{
    static const char *const role[3] = {"query", "key", "value"};
    const int is_linear = b->stage->draw == BY_LINEAR, k = id - W_QUERY;
    const Per from_entry = id == W_QUERY   ? PER_X
                           : b->texts == 2 ? PER_Y
                                           : PER_X;
    printf("A matrix makes a %s of an embedding. Here it says how much %s "
           "of the embedding counts in %s of the %s%s.\n",
           role[k], entry_name(b, from_entry, is_linear ? j : i),
           entry_name(b, id == W_VALUE ? PER_V : PER_K, is_linear ? i : j),
           role[k], of_head(b, h));
    if (b->stage->draw == BY_HAND)
        printf("In a model, training would find it. Chapter %d has written "
               "it by hand.\n%s\n",
               b->stage->text[0].chapter,
               say((double)entry(b, id, h, i, j)));
    else
        drawn(b, drawn_before(b, id, h, i, j),
              is_linear ? 1 / sqrt(b->a.d_x) : 0);
}

static void explain_w_query(const Bench *b, int h, int i, int j)
{
    matrix(b, W_QUERY, h, i, j);
}

static void explain_w_key(const Bench *b, int h, int i, int j)
{
    matrix(b, W_KEY, h, i, j);
}

static void explain_w_value(const Bench *b, int h, int i, int j)
{
    matrix(b, W_VALUE, h, i, j);
}

/* A row of embeddings times a column of a matrix x W, or a row of a linear
 * layer's weight. */
static void role(const Bench *b, TableId x, TableId w, const char *what,
                 const char *word, int h, int i, int j)
{
    const Shape shape = bench_shape(b, w);
    const int is_linear = b->stage->draw == BY_LINEAR;
    const int d = is_linear ? shape.m : shape.n;
    printf("%s '%s' %s%s: its embedding times %s %d of %s, entry by entry, "
           "and added up.\n",
           "What", word, what, of_head(b, h), is_linear ? "row" : "column",
           j + 1, bench_kind[w].label);
    if (is_linear)
        products(d, bench_row(b, x, 0, i), 1, bench_row(b, w, h, j), 1,
                 NULL, NULL);
    else
        products(d, bench_row(b, x, 0, i), 1, bench_row(b, w, h, 0) + j,
                 shape.m, NULL, NULL);
    from(x, 0, i, -1);
    from(w, h, is_linear ? j : -1, is_linear ? -1 : j);
}

static void explain_query(const Bench *b, int h, int i, int j)
{
    role(b, EMBEDDINGS, W_QUERY, "asks for", asks(b, i), h, i, j);
}

static void explain_key(const Bench *b, int h, int i, int j)
{
    role(b, b->texts == 2 ? OTHERS : EMBEDDINGS, W_KEY, "is found by",
         asked(b, i), h, i, j);
}

static void explain_value(const Bench *b, int h, int i, int j)
{
    role(b, b->texts == 2 ? OTHERS : EMBEDDINGS, W_VALUE, "gives",
         asked(b, i), h, i, j);
}

static void explain_scores(const Bench *b, int h, int i, int j)
{
    const int is_one = b->stage->draw == BY_NONE;
    const TableId left = is_one ? EMBEDDINGS : QUERY;
    const TableId right = is_one ? EMBEDDINGS : KEY;
    const int row = is_one ? b->asking : i;
    printf("Here '%s' asks, and '%s' is asked%s.\n", asks(b, i),
           asked(b, j), of_head(b, h));
    if (is_one && !isnan(b->score[j])) {
        printf("You have set this score yourself.\n%s\n",
               say((double)b->score[j]));
        return;
    }
    printf("The %s of '%s' meets the %s of '%s': entry times entry, and "
           "added up.\n",
           is_one ? "embedding" : "query", asks(b, i),
           is_one ? "embedding" : "key", asked(b, j));
    products(bench_shape(b, left).m, bench_row(b, left, h, row), 1,
             bench_row(b, right, h, j), 1, NULL, NULL);
    from(left, h, row, -1);
    from(right, h, j, -1);
}

static void explain_scaled(const Bench *b, int h, int i, int j)
{
    const float score = entry(b, SCORES, h, i, j);
    const float divisor = (float)b->divisor;
    if (b->number[KEY_SCALE] == SCALE_ROOT)
        printf("A query has d_k = %d entries, and the more there are, the "
               "larger scores grow.\n"
               "So each is divided by the root of %d, which is %s.\n",
               b->a.d_k, b->a.d_k, say((double)divisor));
    else
        printf("You divide the scores by %s; the book divides by the root "
               "of d_k = %d, %s.\n",
               say((double)divisor), b->a.d_k, say(sqrt(b->a.d_k)));
    const float result = score / divisor;
    remark(strtod(say((double)score), NULL) /
               strtod(say((double)divisor), NULL),
           (double)result);
    printf("%s / %s = %s\n", say((double)score), say((double)divisor),
           say((double)result));
    from(SCORES, h, i, j);
}

/* Where both words stand, and whether the one may be seen. */
static int is_seen(const Bench *b, int i, int j)
{
    const int is_window = b->number[KEY_MASK] == SEE_WINDOW;
    const int window = bench_whole(b, KEY_WINDOW);
    printf("Here '%s' stands at place %d and asks, and '%s' at place %d.\n",
           asks(b, i), i + 1, asked(b, j), j + 1);
    if (j > i)
        puts("That is later in the text, so it is hidden.");
    else if (is_window && i - j >= window)
        printf("That is %d place%s back, and the window has only %d, with "
               "the word itself: hidden.\n",
               i - j, i - j > 1 ? "s" : "", window);
    else
        puts(i == j ? "That is the word itself, so it is seen."
                    : "That is earlier in the text, so it is seen.");
    return j <= i && !(is_window && i - j >= window);
}

static void explain_mask(const Bench *b, int h, int i, int j)
{
    (void)h;
    const int seen = is_seen(b, i, j);
    printf("The mask says so by %s\n", say(seen));
}

static void explain_masked(const Bench *b, int h, int i, int j)
{
    const TableId before = bench_has(b, SCALED) ? SCALED : SCORES;
    if (is_seen(b, i, j)) {
        printf("The score stays as it was: %s\n",
               say((double)entry(b, before, h, i, j)));
    } else {
        puts("Minus infinity takes the place of the score, since e to that "
             "power is 0: no share at all.");
        puts("-inf");
    }
    from(before, h, i, j);
    from(MASK, 0, i, j);
}

static void explain_exponentials(const Bench *b, int h, int i, int j)
{
    const float score = entry(b, SCORES, h, i, j);
    puts("The exponential of the score: never negative, and larger where "
         "the score is larger.");
    printf("e^%s = %s\n", say((double)score), say((double)expf(score)));
    from(SCORES, h, i, j);
}

static void print_sum(int n, const float x[n], double sum)
{
    double shown = 0;
    for (int k = 0; k < n; k++)
        shown += strtod(say((double)x[k]), NULL);
    remark(shown, sum);
    printf("%s", say((double)x[0]));
    for (int k = 1; k < n; k++)
        printf(" %s", add((double)x[k]));
    printf(" = %s\n", say(sum));
}

static void explain_weights(const Bench *b, int h, int i, int j)
{
    const TableId before = bench_before_softmax(b);
    const float *score = bench_row(b, before, h, i);
    float largest = score[0], power[MOST_WORDS];
    double sum = 0;
    for (int k = 1; k < b->m; k++)
        largest = score[k] > largest ? score[k] : largest;
    from(before, h, i, -1);
    if (b->m == 1)
        puts("There is one word alone, and it gets the whole.");
    if (largest == -INFINITY) {
        puts("Every score of this row is minus infinity: nothing may be "
             "seen, and there is nothing to share out.");
        puts("0 / 0 = nan");
        return;
    }
    printf("The word '%s' has one whole to share out, more to the larger "
           "scores%s.\n"
           "The largest score of the row, %s, is subtracted from all: that "
           "changes no share, and keeps the exponentials small.\n",
           asks(b, i), of_head(b, h), say((double)largest));
    for (int k = 0; k < b->m; k++) {
        power[k] = expf(score[k] - largest);
        sum += power[k];
        printf("e^(%s %s) = %s, of '%s'\n", say((double)score[k]),
               add((double)-largest), say((double)power[k]), asked(b, k));
    }
    puts("Their sum:");
    print_sum(b->m, power, sum);
    printf("The share of '%s' is its part of the sum:\n", asked(b, j));
    const float share = (float)(power[j] / sum);
    remark(strtod(say((double)power[j]), NULL) / strtod(say(sum), NULL),
           (double)share);
    printf("%s / %s = %s\n", say((double)power[j]), say(sum),
           say((double)share));
}

static void explain_hidden(const Bench *b, int h, int i, int j)
{
    const float weight = entry(b, WEIGHTS, h, i, j);
    const int seen = is_seen(b, i, j);
    puts("The share is multiplied by the mask.");
    product((double)weight, seen, (double)(weight * (float)seen));
    from(WEIGHTS, h, i, j);
    from(MASK, 0, i, j);
}

static void explain_renormalized(const Bench *b, int h, int i, int j)
{
    const float *left = bench_row(b, HIDDEN, h, i);
    double sum = 0;
    for (int k = 0; k < b->m; k++)
        sum += left[k];
    puts("What the mask has left of the row is no whole any more:");
    print_sum(b->m, left, sum);
    puts("Divided by that, it is one again.");
    const float share = (float)(left[j] / sum);
    remark(strtod(say((double)left[j]), NULL) / strtod(say(sum), NULL),
           (double)share);
    printf("%s / %s = %s\n", say((double)left[j]), say(sum),
           say((double)share));
    from(HIDDEN, h, i, -1);
}

static void explain_kept(const Bench *b, int h, int i, int j)
{
    Random r;
    const double p = b->number[KEY_P];
    const int before = (h * b->n + i) * b->m + j;
    if (p == 1) {
        puts("A rate of 1 drops everything, and no lots are drawn.");
        printf("%s\n", say(0));
        return;
    }
    random_seed(&r, (uint64_t)b->number[KEY_LOTS]);
    for (int k = 0; k < before; k++)
        random_double(&r);
    const double lot = random_double(&r);
    printf("Each share has a lot. This is lot %d of seed %s: %s\n",
           before + 1, seed_of(b, KEY_LOTS), say(lot));
    printf("That is %s 1 %s = %s, so the share is %s: %s\n",
           lot < 1 - p ? "below" : "not below", add(-p), say(1 - p),
           lot < 1 - p ? "kept" : "dropped", say(lot < 1 - p));
}

static void explain_dropped(const Bench *b, int h, int i, int j)
{
    const TableId left =
        bench_has(b, RENORMALIZED) ? RENORMALIZED : WEIGHTS;
    const float share = entry(b, left, h, i, j);
    const float factor = 1 / (float)(1 - b->number[KEY_P]);
    from(left, h, i, j);
    from(KEPT, h, i, j);
    if (entry(b, KEPT, h, i, j) == 0) {
        puts("The lot has dropped this share.");
        product((double)share, 0, (double)(share * 0));
        return;
    }
    printf("The lot has kept this share. To make up for those that are "
           "dropped, it grows by 1 / (1 %s) = %s.\n",
           add(-b->number[KEY_P]), say((double)factor));
    product((double)share, (double)factor, (double)(share * factor));
}

static void explain_parts(const Bench *b, int h, int i, int j)
{
    const float share = entry(b, WEIGHTS, h, 0, i);
    const float x = entry(b, EMBEDDINGS, 0, i, j);
    printf("What '%s' adds to '%s': its share times %s of its embedding.\n",
           asked(b, i), asks(b, 0), entry_name(b, PER_V, j));
    product((double)share, (double)x, (double)(share * x));
    from(WEIGHTS, h, 0, i);
    from(EMBEDDINGS, 0, i, j);
}

static void explain_context(const Bench *b, int h, int i, int j)
{
    const TableId mixing = bench_mixing(b);
    const TableId value = b->stage->draw == BY_NONE ? EMBEDDINGS : VALUE;
    const char *const *names = bench_others(b);
    printf("Here '%s' takes something of every word%s: the word's share "
           "times %s of its %s, all added up.\n",
           asks(b, i), of_head(b, h), entry_name(b, PER_V, j),
           value == VALUE ? "value" : "embedding");
    products(b->m, bench_row(b, mixing, h, i), 1,
             bench_row(b, value, h, 0) + j, bench_shape(b, value).m, names,
             NULL);
    from(mixing, h, i, -1);
    from(value, h, -1, j);
}

static void explain_joined(const Bench *b, int h, int i, int j)
{
    const int head = j / b->a.d_v, k = j % b->a.d_v;
    (void)h;
    printf("The heads' results stand side by side: column %d is that of "
           "head %d, %s.\n%s\n",
           j + 1, head + 1, entry_name(b, PER_V, k),
           say((double)entry(b, CONTEXT, head, i, k)));
    from(CONTEXT, head, i, k);
}

/* The output layer's numbers come after those of all matrices. */
static void output_number(const Bench *b, int at)
{
    const Attention *a = &b->a;
    const int before =
        a->n_heads * (a->d_x * a->d_k + a->d_y * (a->d_k + a->d_v));
    drawn(b, before + at, 1 / sqrt(b->out.d_in));
}

static void explain_w_out(const Bench *b, int h, int i, int j)
{
    (void)h;
    printf("The output layer mixes the heads: how much entry %d of what "
           "stands side by side counts in entry %d of the output.\n",
           j + 1, i + 1);
    output_number(b, i * b->out.d_in + j);
}

static void explain_b_out(const Bench *b, int h, int i, int j)
{
    (void)h;
    (void)i;
    printf("The bias of the output layer: it is added to entry %d of every "
           "word's output.\n",
           j + 1);
    output_number(b, b->out.d_out * b->out.d_in + j);
}

static void explain_out(const Bench *b, int h, int i, int j)
{
    (void)h;
    printf("What all heads have found for '%s', times row %d of %s, added "
           "up, and the bias at the end.\n",
           asks(b, i), j + 1, bench_kind[W_OUT].label);
    products(b->out.d_in, bench_row(b, JOINED, 0, i), 1,
             bench_row(b, W_OUT, 0, j), 1, NULL, &b->out.bias[j]);
    from(JOINED, 0, i, -1);
    from(W_OUT, 0, j, -1);
    from(B_OUT, 0, 0, j);
}

/* ---- All tables, in the order in which they are made */

// clang-format off
const Kind bench_kind[TABLES] = {
    [EMBEDDINGS] = {"embeddings", "embeddings", PER_ONE, PER_WORD, PER_X, explain_embeddings},
    [OTHERS] = {"others", "embeddings of the text that is asked", PER_ONE, PER_OTHER, PER_Y, explain_others},
    [ALIKE] = {"alike", "embeddings with each other", PER_ONE, PER_WORD, PER_OTHER, explain_alike},
    [W_QUERY] = {"w_query", "W_query", PER_HEAD, PER_X, PER_K, explain_w_query},
    [W_KEY] = {"w_key", "W_key", PER_HEAD, PER_Y, PER_K, explain_w_key},
    [W_VALUE] = {"w_value", "W_value", PER_HEAD, PER_Y, PER_V, explain_w_value},
    [QUERY] = {"query", "queries", PER_HEAD, PER_WORD, PER_K, explain_query},
    [KEY] = {"key", "keys", PER_HEAD, PER_OTHER, PER_K, explain_key},
    [VALUE] = {"value", "values", PER_HEAD, PER_OTHER, PER_V, explain_value},
    [SCORES] = {"scores", "scores", PER_HEAD, PER_WORD, PER_OTHER, explain_scores},
    [SCALED] = {"scaled", "scores, divided", PER_HEAD, PER_WORD, PER_OTHER, explain_scaled},
    [MASK] = {"mask", "mask", PER_ONE, PER_WORD, PER_OTHER, explain_mask},
    [MASKED] = {"masked", "scores, masked", PER_HEAD, PER_WORD, PER_OTHER, explain_masked},
    [EXPONENTIALS] = {"exponentials", "exponentials of the scores", PER_HEAD, PER_WORD, PER_OTHER, explain_exponentials},
    [WEIGHTS] = {"weights", "attention weights", PER_HEAD, PER_WORD, PER_OTHER, explain_weights},
    [HIDDEN] = {"hidden", "weights times the mask", PER_HEAD, PER_WORD, PER_OTHER, explain_hidden},
    [RENORMALIZED] = {"renormalized", "renormalized", PER_HEAD, PER_WORD, PER_OTHER, explain_renormalized},
    [KEPT] = {"kept", "kept", PER_HEAD, PER_WORD, PER_OTHER, explain_kept},
    [DROPPED] = {"dropped", "after dropout", PER_HEAD, PER_WORD, PER_OTHER, explain_dropped},
    [PARTS] = {"parts", "what each word contributes", PER_HEAD, PER_OTHER, PER_V, explain_parts},
    [CONTEXT] = {"context", "context vectors", PER_HEAD, PER_WORD, PER_V, explain_context},
    [JOINED] = {"joined", "heads side by side", PER_ONE, PER_WORD, PER_ALL_V, explain_joined},
    [W_OUT] = {"w_out", "W_out", PER_ONE, PER_OUT, PER_ALL_V, explain_w_out},
    [B_OUT] = {"b_out", "bias of the output", PER_ONE, PER_ONE, PER_OUT, explain_b_out},
    [OUT] = {"out", "output", PER_ONE, PER_WORD, PER_OUT, explain_out},
};
// clang-format on

/* ---- The question */

static TableId table_named(const Bench *b, const char *name)
{
    char all[400] = "";
    for (int id = 0; id < TABLES; id++) {
        if (!bench_has(b, (TableId)id))
            continue;
        if (strcmp(bench_kind[id].id, name) == 0)
            return (TableId)id;
        strcat(strcat(all, *all ? ", " : ""), bench_kind[id].id);
    }
    REFUSE("ask is for table '%s': one of %s is needed", name, all);
}

void bench_explain(const Bench *b, const char *ask)
{
    char part[4][20] = {"", "", "", ""};
    const char *c = ask;
    for (int k = 0; k < 4; k++) {
        const size_t size = strcspn(c, ":");
        if (size >= sizeof part[k] || (k < 3) != (c[size] == ':'))
            REFUSE("ask is '%s': TABLE:HEAD:ROW:COLUMN is needed", ask);
        memcpy(part[k], c, size);
        c += size + 1;
    }
    const TableId id = table_named(b, part[0]);
    const Shape s = bench_shape(b, id);
    if (s.heads != PER_HEAD && strcmp(part[1], "-") != 0)
        REFUSE("ask is for head %s of table '%s', which heads share: - is "
               "needed",
               part[1], part[0]);
    const int h =
        s.heads != PER_HEAD
            ? 0
            : (int)whole_number("head", part[1], 0, (uint64_t)s.h - 1);
    const int i = (int)whole_number("row", part[2], 0, (uint64_t)s.n - 1);
    const int j =
        (int)whole_number("column", part[3], 0, (uint64_t)s.m - 1);
    printf("@explain %s %s %d %d\n", part[0], part[1], i, j);
    sources = 0;
    bench_kind[id].explain(b, h, i, j);
    print_sources();
}
