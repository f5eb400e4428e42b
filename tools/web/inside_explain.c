#include "inside.h"

/* How a number was made: one function for each way to make one. The last
 * line ends with the number. A sum of many products says the largest of
 * them, and what all others come to. */

/* Where the numbers of an explanation came from. */
static Place *source;
static int *sources;

static void from(int step, int h, int i, int j)
{
    source[(*sources)++] = (Place){step, h, i, j, .count = 0};
}

/* Some entries of a row, moved on by an offset. */
static void from_some(int step, int i, int offset, int count,
                      const int some[count])
{
    Place p = {step, 0, i, SOME, .count = count};
    for (int k = 0; k < count; k++)
        p.some[k] = offset + some[k];
    source[(*sources)++] = p;
}

static float entry(const Inside *in, Place p)
{
    return inside_row(&in->step[p.step], p.h, p.i)[p.j];
}

static const Step *origin(const Inside *in, const Step *s, int k)
{
    return &in->step[s->from[k]];
}

/* ---- Sums of products */

/* Numbers that lie so far apart. */
typedef struct {
    const float *first;
    int step;
} List;

static float product(List x, List y, int k)
{
    return x.first[k * x.step] * y.first[k * y.step];
}

/* The largest products, the largest first; returns how many. */
static int find_largest(int n, List x, List y, int largest[TOLD])
{
    int count = 0;
    for (int k = 0; k < n; k++) {
        int at = count < TOLD ? count++ : TOLD;
        while (at > 0 && fabsf(product(x, y, k)) >
                             fabsf(product(x, y, largest[at - 1]))) {
            if (at < TOLD)
                largest[at] = largest[at - 1];
            at--;
        }
        if (at < TOLD)
            largest[at] = k;
    }
    return count;
}

/* Products of two lists of n numbers, and a bias unless that is NULL, which
 * make up a result. Each has the name of its index, or its number. Returns
 * how many products it has told of, and which. */
static int tell_products(int n, List x, List y, const float *bias,
                         const char (*name)[NAME], float result,
                         int largest[TOLD])
{
    float term[TOLD + 2];
    const int told = find_largest(n, x, y, largest);
    int terms = 0;
    double rest = 0;
    for (int k = 0; k < told; k++) {
        const int at = largest[k];
        char words[40];
        if (name)
            snprintf(words, sizeof words, "'%s'", name[at]);
        else
            snprintf(words, sizeof words, "entry %d", at + 1);
        say_product(x.first[at * x.step], y.first[at * y.step], "", words);
        term[terms++] = product(x, y, at);
        rest -= (double)product(x, y, at);
    }
    if (bias) {
        printf("%s, the bias\n", say((double)*bias));
        term[terms++] = *bias;
    }
    for (int k = 0; k < n; k++)
        rest += (double)product(x, y, k);
    if (n > told) {
        printf("%s, all other %d products together\n", say(rest), n - told);
        term[terms++] = (float)rest;
    }
    say_sum(terms, term, (double)result);
    return told;
}

/* ---- One function for each way */

static void explain_parameter(const Inside *in, const Step *s, Place p)
{
    int is_off = 0;
    for (int l = 0; l < in->g.layers; l++) {
        const Attention *a = &in->g.block[l].attention;
        is_off |= s->x == a->out.weight && in->is_off[l][p.j / a->d_v];
    }
    printf("This is entry %d of a row of the %s. ", p.j + 1, s->label);
    printf(is_off ? "A head that is switched off has zeros here, in the "
                    "place of what training has found: %s\n"
                  : "It is a parameter, which training has set for all "
                    "texts alike: %s\n",
           say((double)entry(in, p)));
}

static void explain_row(const Inside *in, const Step *s, Place p)
{
    if (s->ids == in->places)
        printf("'%s' is token %d of the text, counted from 0. Each "
               "position has a row in the table of positions.\n",
               in->name[p.i], p.i);
    else
        printf("Each token has a row in the table of embeddings, and this "
               "is that of '%s'%s.\n",
               in->vocabulary[s->ids[p.i]],
               s->ids != in->before ? ""
               : p.i                ? ", the letter before"
                                    : ", which stands before the first");
    printf("Entry %d of it: %s\n", p.j + 1, say((double)entry(in, p)));
    from(s->from[0], 0, s->ids[p.i], p.j);
}

static void explain_beside(const Inside *in, const Step *s, Place p)
{
    const int wide = origin(in, s, 0)->m, k = p.j >= wide;
    printf("Two lists stand side by side, %s and %s. This is entry %d of "
           "the %s: %s\n",
           origin(in, s, 0)->label, origin(in, s, 1)->label,
           p.j - k * wide + 1, k ? "second" : "first",
           say((double)entry(in, p)));
    from(s->from[k], 0, p.i, p.j - k * wide);
}

static void explain_sum(const Inside *in, const Step *s, Place p)
{
    const Place a = {.step = s->from[0], .i = p.i, .j = p.j};
    const Place b = {.step = s->from[1], .i = p.i, .j = p.j};
    printf("Entry %d of '%s' is added up from two tables: %s, and %s.\n",
           p.j + 1, in->name[p.i], origin(in, s, 0)->label,
           origin(in, s, 1)->label);
    say_sum(2, (float[]){entry(in, a), entry(in, b)}, (double)entry(in, p));
    from(a.step, 0, p.i, p.j);
    from(b.step, 0, p.i, p.j);
}

static void explain_norm(const Inside *in, const Step *s, Place p)
{
    const Norm *l = s->layer;
    const float *x = inside_row(origin(in, s, 0), 0, p.i);
    double mean = 0, square = 0;
    for (int k = 0; k < l->d; k++)
        mean += (double)x[k] / l->d;
    for (int k = 0; k < l->d; k++)
        square += ((double)x[k] - mean) * ((double)x[k] - mean) / l->d;
    const double root = sqrt(square + 1e-5);
    const double apart = (double)x[p.j] - mean, part = apart / root;
    printf("Layer norm of the %d numbers of '%s'. Their mean is %s, which "
           "is subtracted.\n%s %s = %s\n",
           l->d, in->name[p.i], say(mean), say((double)x[p.j]),
           say_added(-mean), say(apart));
    puts("It is divided by the root of the mean square of what is left of "
         "all, plus 0.00001.");
    say_quotient(apart, root, (float)part);
    puts("The norm stretches each entry, and adds a bias.");
    say_remark(say_shown((double)x[p.j]) - say_shown(mean), apart);
    printf("%s × %s %s = %s\n", say(part), say((double)l->weight[p.j]),
           say_added((double)l->bias[p.j]), say((double)entry(in, p)));
    say_remark(say_shown(part) * say_shown((double)l->weight[p.j]) +
                   say_shown((double)l->bias[p.j]),
               (double)entry(in, p));
    from(s->from[0], 0, p.i, ALL);
    from(s->from[1], 0, 0, p.j);
    from(s->from[2], 0, 0, p.j);
}

static void explain_linear(const Inside *in, const Step *s, Place p)
{
    const Linear *l = s->layer;
    const List x = {inside_row(origin(in, s, 0), 0, p.i), 1};
    const List w = {l->weight + (ptrdiff_t)p.j * l->d_in, 1};
    printf("A linear layer: the %d numbers of '%s' and row %d of the "
           "weight are multiplied entry by entry, and added up. The "
           "largest products:\n",
           l->d_in, in->name[p.i], p.j + 1);
    int some[TOLD];
    const int told =
        tell_products(l->d_in, x, w, l->bias ? &l->bias[p.j] : NULL, NULL,
                      entry(in, p), some);
    from_some(s->from[0], p.i, 0, told, some);
    from_some(s->from[1], p.j, 0, told, some);
    if (l->bias)
        from(s->from[2], 0, 0, p.j);
}

static void explain_scores(const Inside *in, const Step *s, Place p)
{
    const Step *query = origin(in, s, 0), *key = origin(in, s, 1);
    const int d = query->m / s->heads, at = p.h * d;
    const List q = {inside_row(query, 0, p.i) + at, 1};
    const List k = {inside_row(key, 0, p.j) + at, 1};
    float sum = 0;
    printf("Here '%s', token %d, asks, and '%s', token %d, is asked, in "
           "head %d.\n",
           in->name[p.i], p.i, in->name[p.j], p.j, p.h);
    if (isinf(entry(in, p))) {
        puts("The token asked comes later than the mask lets one see.\n"
             "-inf");
        return;
    }
    printf("Head %d has entries %d to %d of the query and the key. They "
           "are multiplied entry by entry, and added up.\n",
           p.h, at + 1, at + d);
    for (int e = 0; e < d; e++)
        sum += q.first[e] * k.first[e];
    int some[TOLD];
    const int told = tell_products(d, q, k, NULL, NULL, sum, some);
    printf("The sum is divided by the root of %d.\n", d);
    say_quotient((double)sum, sqrt(d), entry(in, p));
    from_some(s->from[0], p.i, at, told, some);
    from_some(s->from[1], p.j, at, told, some);
}

/* The share that softmax gives to entry j of a row. */
static void tell_share(int n, const float x[n], int j, float share)
{
    float most = x[0];
    double sum = 0;
    for (int k = 1; k < n; k++)
        most = fmaxf(most, x[k]);
    for (int k = 0; k < n; k++)
        sum += exp((double)(x[k] - most));
    const double power = exp((double)(x[j] - most));
    printf("The largest of the row, %s, is subtracted from all, and each "
           "becomes an exponential.\ne^(%s %s) = %s\n",
           say((double)most), say((double)x[j]), say_added(-(double)most),
           say(power));
    say_remark(exp(say_shown((double)x[j]) - say_shown((double)most)),
               power);
    printf("All exponentials of the row come to %s together, and its part "
           "of that is its share.\n",
           say(sum));
    say_quotient(power, sum, share);
}

static void explain_weights(const Inside *in, const Step *s, Place p)
{
    printf("How much '%s', token %d, takes of '%s', token %d, in head "
           "%d: softmax divides one whole among the tokens of the row.\n",
           in->name[p.i], p.i, in->name[p.j], p.j, p.h);
    if (isinf(inside_row(origin(in, s, 0), p.h, p.i)[p.j]))
        puts("The mask hides that token: its score is minus infinity.");
    tell_share(s->m, inside_row(origin(in, s, 0), p.h, p.i), p.j,
               entry(in, p));
    from(s->from[0], p.h, p.i, ALL);
}

static void explain_context(const Inside *in, const Step *s, Place p)
{
    const Step *weights = origin(in, s, 0), *value = origin(in, s, 1);
    const int d = s->m / weights->heads, h = p.j / d;
    const List w = {inside_row(weights, h, p.i), 1};
    const List v = {value->x + p.j, value->m};
    if (weights->heads > 1)
        printf("The heads' results stand side by side, and this is from "
               "head %d.\n",
               h);
    printf(
        "Entry %d of the context vector of '%s': of each token its weight "
        "times that entry of its value.\n",
        p.j % d + 1, in->name[p.i]);
    int some[TOLD];
    tell_products(in->n, w, v, NULL, in->name, entry(in, p), some);
    from(s->from[0], h, p.i, ALL);
    from(s->from[1], 0, ALL, p.j);
}

static void explain_gelu(const Inside *in, const Step *s, Place p)
{
    const double x = (double)inside_row(origin(in, s, 0), 0, p.i)[p.j];
    const double u = sqrt(8 / acos(-1)) * (x + 0.044715 * x * x * x);
    const double share = 1 / (1 + exp(-u));
    printf("GELU keeps a share of the number that grows with it: 1 / (1 + "
           "e^-u), and u = 1.5958 × (x + 0.0447 × x^3) = %s\n"
           "1 / (1 + e^%s) = %s\n",
           say(u), say(-u), say(share));
    say_remark(1 / (1 + exp(-say_shown(u))), share);
    printf("%s × %s = %s\n", say(x), say(share), say((double)entry(in, p)));
    say_remark(say_shown(x) * say_shown(share), (double)entry(in, p));
    from(s->from[0], 0, p.i, p.j);
}

static void explain_shares(const Inside *in, const Step *s, Place p)
{
    const float *given = inside_row(origin(in, s, 0), 0, p.i);
    const int is_cold = !(in->temperature > 0);
    float *x = new_table(1, s->m);
    for (int k = 0; k < s->m; k++)
        x[k] = given[k] / (is_cold ? 1 : (float)in->temperature);
    printf(in->stage == VERBS ? "The share of '%s' as the answer to '%s'.\n"
                              : "The share of '%s' as the token after "
                                "'%s'.\n",
           in->vocabulary[p.j], in->name[p.i]);
    if (is_cold)
        printf("With a temperature of 0, the largest logit takes all. This "
               "share: %s\n",
               say((double)entry(in, p)));
    else if (in->temperature != 1) {
        puts("Each logit of the row is divided by the temperature.");
        say_quotient((double)given[p.j], in->temperature, x[p.j]);
    }
    if (!is_cold && in->top_k) {
        top_k(s->m, in->top_k, x);
        printf("Of the row, the %d largest are kept.\n", in->top_k);
    }
    if (!is_cold && x[p.j] == -INFINITY)
        puts("It is not kept: minus infinity takes its place.");
    if (!is_cold)
        tell_share(s->m, x, p.j, entry(in, p));
    from(s->from[0], 0, p.i, ALL);
    free(x);
}

static void explain_best(const Inside *in, const Step *s, Place p)
{
    printf(
        "By their logits, '%s' is number %d of the %d tokens. Its share: "
        "%s\n",
        in->vocabulary[s->ids[p.j]], p.j + 1, in->g.vocabulary,
        say((double)entry(in, p)));
    from(s->from[0], 0, in->n - 1, s->ids[p.j]);
}

void inside_explain(const Inside *in, Place p, int *count,
                    Place place[MOST_PLACES])
{
    static void (*const explain[])(const Inside *in, const Step *s,
                                   Place p) = {
        [PARAMETER] = explain_parameter, [ROW_OF] = explain_row,
        [BESIDE] = explain_beside,       [SUM] = explain_sum,
        [NORM] = explain_norm,           [LINEAR] = explain_linear,
        [SCORES] = explain_scores,       [WEIGHTS] = explain_weights,
        [CONTEXT] = explain_context,     [GELU] = explain_gelu,
        [SHARES] = explain_shares,       [BEST] = explain_best};
    const Step *s = &in->step[p.step];
    source = place;
    sources = count;
    explain[s->made](in, s, p);
    say_digits();
}
