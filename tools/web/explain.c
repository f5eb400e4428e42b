#include "stages.h"

/* How an entry was made: one function for each way to make one. They put
 * together again what the book's functions have put together, and the last
 * line ends with the entry. No line begins with a word of the text. */

/* ---- Where the numbers of an explanation came from */

static Place *source;
static int *sources;

static void from(int step, int h, int i, int j)
{
    source[(*sources)++] = (Place){step, h, i, j, .count = 0};
}

/* A row of n entries, of which some are told. */
static void from_told(int step, int h, int i, int n, int count,
                      const int told[count])
{
    Place p = {step, h, i, n > count ? SOME : ALL, .count = count};
    memcpy(p.some, told, (size_t)count * sizeof *told);
    source[(*sources)++] = p;
}

static const Step *origin(const Bench *b, const Step *s, int k)
{
    return &b->step[s->from[k]];
}

static double entry(const Bench *b, Place p)
{
    return (double)step_row(&b->step[p.step], p.h, p.i)[p.j];
}

/* The same entry of the step that s is made of. */
static float before(const Bench *b, const Step *s, int k, Place p)
{
    return step_row(origin(b, s, k), p.h, p.i)[p.j];
}

/* ---- Words in a line */

static char *room(void)
{
    static char text[8][100];
    static int next;
    return text[next++ % 8];
}

static int is_learned(const Bench *b)
{
    return b->stage->draw == BY_TRAINING;
}

/* A word in quotes; of a long text, with its number, counted from 0. */
static const char *word(const Bench *b, ListId list, int i)
{
    char *out = room();
    if (is_learned(b) && list == WORDS)
        snprintf(out, 100, "'%s' (token %d)", b->list[list].name[i], i);
    else
        snprintf(out, 100, "'%s'", b->list[list].name[i]);
    return out;
}

const char *entry_name(const Bench *b, ListId list, int k)
{
    const List *l = &b->list[list];
    char *out = room();
    snprintf(out, 100, l->n ? "entry %d (%s)" : "entry %d", k + 1,
             l->n ? l->name[k] : "");
    return out;
}

/* A table's name, without its block. */
static const char *name_of(const Step *s)
{
    const char *block = strstr(s->label, ": ");
    return block ? block + 2 : s->label;
}

/* The heads of a model that has learned are counted from 0. */
static const char *in_head(const Bench *b, const Step *s, int h)
{
    char *out = room();
    snprintf(out, 100, " in head %d", is_learned(b) ? h : h + 1);
    return s->heads > 1 ? out : "";
}

static void tell(double x)
{
    printf("%s\n", say(x));
}

/* ---- Sums of products */

/* Numbers that lie so far apart. */
typedef struct {
    const float *first;
    int step;
} Line;

static float product(Line x, Line y, int k)
{
    return x.first[k * x.step] * y.first[k * y.step];
}

/* The products that are told: all, or of many the largest. */
static int find_told(int n, Line x, Line y, int told[TOLD])
{
    const int count = n > TOLD ? TOLD / 2 : n;
    for (int k = 0; k < n; k++) {
        int at = k < count ? k : count;
        for (; n > TOLD && at > 0 &&
               fabsf(product(x, y, k)) > fabsf(product(x, y, told[at - 1]));
             at--)
            if (at < count)
                told[at] = told[at - 1];
        if (at < count)
            told[at] = k;
    }
    return count;
}

/* Products of two lists of n numbers, each with its name, and a bias unless
 * that is NULL, which make up a result. Returns how many it has told of. */
static int tell_products(const Bench *b, ListId names, int n, Line x,
                         Line y, const float *bias, double result,
                         int told[TOLD])
{
    float term[TOLD + 2];
    int terms = 0;
    double rest = 0;
    const int count = find_told(n, x, y, told);
    for (int k = 0; k < n; k++)
        rest += (double)product(x, y, k);
    for (int k = 0; k < count; k++) {
        const int at = told[k];
        const char *name = names == WORDS || names == OTHERS
                               ? word(b, names, at)
                               : entry_name(b, names, at);
        say_product(x.first[at * x.step], y.first[at * y.step],
                    n + (bias != NULL) > 1 ? name : NULL);
        term[terms++] = product(x, y, at);
        rest -= (double)product(x, y, at);
    }
    if (bias) {
        printf("%s, the bias\n", say((double)*bias));
        term[terms++] = *bias;
    }
    if (n > count) {
        printf("%s, all other %d products together\n", say(rest),
               n - count);
        term[terms++] = (float)rest;
    }
    if (terms > 1)
        say_sum(terms, term, result);
    return count;
}

static const char *largest(int n)
{
    return n > TOLD ? " The largest products:" : "";
}

/* ---- Parameters */

static void explain_drawn(const Bench *b, const Step *s, Place p)
{
    const int before = s->drawn + p.h * s->apart + p.i * s->m + p.j;
    Random r = random_seeded((uint64_t)b->number[KEY_SEED]);
    for (int k = 0; k < before; k++)
        random_u32(&r);
    const double u = (double)random_float(&r), limit = s->limit;
    printf("It was drawn: seed %.0f begins a stream of numbers from 0 to "
           "below 1. This is number %d of it.\n",
           b->number[KEY_SEED], before + 1);
    if (limit == 0) {
        tell(u);
        return;
    }
    printf("A linear layer with %.0f inputs begins with numbers from %s to "
           "%s, so it is stretched and moved.\n",
           1 / (limit * limit), say(-limit), say(limit));
    printf("%s × %s - %s = %s\n", say(u), say(2 * limit), say(limit),
           say(entry(b, p)));
}

static void explain_parameter(const Bench *b, const Step *s, Place p)
{
    const Step *into = &b->step[s->into], *x = origin(b, into, 0);
    const int in = s->is_turned ? p.i : p.j, out = s->is_turned ? p.j : p.i;
    const Draw draw = b->stage->draw;
    if (s->into && s->n > 1)
        printf("This is how much %s of '%s' adds to %s of '%s'%s.\n",
               entry_name(b, x->columns, in), name_of(x),
               entry_name(b, into->columns, out), name_of(into),
               in_head(b, s, p.h));
    else if (s->into)
        printf("This is what the layer has for %s of '%s' of every "
               "word%s.\n",
               entry_name(b, into->columns, p.j), name_of(into),
               in_head(b, s, p.h));
    else
        printf("This is entry %d of row %d of the %s.\n", p.j + 1, p.i + 1,
               s->label);
    if (draw != BY_TRAINING && draw != BY_HAND) {
        explain_drawn(b, s, p);
        return;
    }
    if (s->is_off && s->is_off[in * b->g.n_heads / s->m])
        puts("A head that is switched off has zeros here, in the place of "
             "what training has found.");
    else if (draw == BY_TRAINING)
        puts("It is a parameter, which training has set for all texts "
             "alike.");
    else
        printf("In a model, training finds it. Here, chapter %d has "
               "written it by hand.\n",
               b->stage->text[0].chapter);
    tell(entry(b, p));
}

/* ---- Rows and sums */

static void explain_row(const Bench *b, const Step *s, Place p)
{
    if (s->ids == b->places)
        printf("%s has a row in the table of positions.\n",
               word(b, s->rows, p.i));
    else
        printf("Each token has a row in the table of embeddings, and this "
               "is that of '%s'%s.\n",
               b->list[TOKENS].name[s->ids[p.i]],
               s->ids != b->before ? ""
               : p.i               ? ", the letter before"
                                   : ", which stands before the first");
    printf("Entry %d of it: %s\n", p.j + 1, say(entry(b, p)));
    from(s->from[0], 0, s->ids[p.i], p.j);
}

static void explain_beside(const Bench *b, const Step *s, Place p)
{
    const int wide = origin(b, s, 0)->m, k = p.j >= wide;
    printf("Two lists stand side by side, %s and %s. This is entry %d of "
           "the %s: %s\n",
           name_of(origin(b, s, 0)), name_of(origin(b, s, 1)),
           p.j - k * wide + 1, k ? "second" : "first", say(entry(b, p)));
    from(s->from[k], 0, p.i, p.j - k * wide);
}

static void explain_sum(const Bench *b, const Step *s, Place p)
{
    printf("Entry %d of %s is added up from two tables: %s, and %s.\n",
           p.j + 1, word(b, s->rows, p.i), name_of(origin(b, s, 0)),
           name_of(origin(b, s, 1)));
    say_sum(2, (float[]){before(b, s, 0, p), before(b, s, 1, p)},
            entry(b, p));
    from(s->from[0], 0, p.i, p.j);
    from(s->from[1], 0, p.i, p.j);
}

/* ---- Layers */

static void explain_norm(const Bench *b, const Step *s, Place p)
{
    const float *x = step_row(origin(b, s, 0), 0, p.i);
    const double weight = (double)origin(b, s, 1)->x[p.j];
    const double bias = (double)origin(b, s, 2)->x[p.j];
    double mean = 0, square = 0;
    for (int k = 0; k < s->m; k++)
        mean += (double)x[k] / s->m;
    for (int k = 0; k < s->m; k++)
        square += ((double)x[k] - mean) * ((double)x[k] - mean) / s->m;
    const double root = sqrt(square + 1e-5);
    const double apart = (double)x[p.j] - mean, part = apart / root;
    printf("Layer norm of the %d numbers of %s. Their mean is %s, which is "
           "subtracted.\n%s %s = %s\n",
           s->m, word(b, s->rows, p.i), say(mean), say((double)x[p.j]),
           say_added(-mean), say(apart));
    puts("It is divided by the root of the mean square of what is left of "
         "all, plus 0.00001.");
    say_quotient(apart, root, (float)part);
    puts("The norm stretches each entry, and adds a bias.");
    printf("%s × %s %s = %s\n", say(part), say(weight), say_added(bias),
           say(entry(b, p)));
    from(s->from[0], 0, p.i, ALL);
    from(s->from[1], 0, 0, p.j);
    from(s->from[2], 0, 0, p.j);
}

/* What a layer's row or column stands for, by its name. */
static void tell_layer(const Bench *b, const Step *s, Place p)
{
    static const char *const role[3] = {"query", "key", "value"};
    static const char *const does_role[3] = {"looks for", "can be found by",
                                             "gives to those who find it"};
    const char *dot = strchr(s->id, '.'), *name = dot ? dot + 1 : s->id;
    const char *does = NULL;
    for (int k = 0; k < 3; k++)
        if (strcmp(name, role[k]) == 0)
            does = does_role[k];
    if (does)
        printf("What %s %s, %s of it%s.\n", word(b, s->rows, p.i), does,
               entry_name(b, s->columns, p.j), in_head(b, s, p.h));
    else
        printf("A linear layer, for %s of '%s'.\n",
               entry_name(b, s->columns, p.j), name_of(s));
}

static void explain_linear(const Bench *b, const Step *s, Place p)
{
    const Step *x = origin(b, s, 0), *w = origin(b, s, 1);
    const Line row = {step_row(x, 0, p.i), 1};
    const Line of = w->is_turned ? (Line){step_row(w, p.h, 0) + p.j, w->m}
                                 : (Line){step_row(w, p.h, p.j), 1};
    const float *bias =
        s->from[2] ? step_row(origin(b, s, 2), p.h, 0) + p.j : NULL;
    int told[TOLD];
    tell_layer(b, s, p);
    printf("The %d numbers of %s and %s %d of %s are multiplied entry by "
           "entry, and added up%s.%s\n",
           x->m, word(b, s->rows, p.i), w->is_turned ? "column" : "row",
           p.j + 1, name_of(w), bias ? ", with the bias" : "",
           largest(x->m));
    const int count = tell_products(b, x->columns, x->m, row, of, bias,
                                    entry(b, p), told);
    from_told(s->from[0], 0, p.i, x->m, count, told);
    if (w->is_turned)
        from(s->from[1], p.h, ALL, p.j);
    else
        from_told(s->from[1], p.h, p.j, x->m, count, told);
    if (bias)
        from(s->from[2], p.h, 0, p.j);
}

static void explain_gelu(const Bench *b, const Step *s, Place p)
{
    const double x = (double)before(b, s, 0, p);
    const double u = sqrt(8 / acos(-1)) * (x + 0.044715 * x * x * x);
    const double share = 1 / (1 + exp(-u));
    printf("GELU keeps a share of the number that grows with it: 1 / (1 + "
           "e^-u), and u = 1.5958 × (x + 0.0447 × x^3) = %s\n"
           "1 / (1 + e^%s) = %s\n",
           say(u), say(-u), say(share));
    printf("%s × %s = %s\n", say(x), say(share), say(entry(b, p)));
    from(s->from[0], 0, p.i, p.j);
}

/* ---- Scores */

static void explain_scores(const Bench *b, const Step *s, Place p)
{
    const Step *x = origin(b, s, 0), *y = origin(b, s, 1);
    const char *asks = word(b, s->rows, p.i);
    const char *asked = word(b, s->columns, p.j);
    int told[TOLD];
    if (s->made == ALIKE)
        printf("How alike are %s and %s? ", asks, asked);
    else
        printf("Here %s asks, and %s is asked%s.\n", asks, asked,
               in_head(b, s, p.h));
    if (b->stage->draw == BY_NONE && !isnan(b->score[p.j])) {
        puts("You have set this score yourself.");
        tell((double)b->score[p.j]);
        return;
    }
    if (s->made == ALIKE)
        puts("Their embeddings are multiplied entry by entry, and added "
             "up.");
    else
        printf("The %s of %s and the %s of %s are multiplied entry by "
               "entry, and added up.%s\n",
               name_of(x), asks, name_of(y), asked, largest(x->m));
    const int count = tell_products(
        b, x->columns, x->m, (Line){step_row(x, p.h, s->first + p.i), 1},
        (Line){step_row(y, p.h, p.j), 1}, NULL, entry(b, p), told);
    from_told(s->from[0], p.h, s->first + p.i, x->m, count, told);
    from_told(s->from[1], p.h, p.j, x->m, count, told);
}

static void explain_scaled(const Bench *b, const Step *s, Place p)
{
    const Step *scores = origin(b, s, 0);
    const int d_k = origin(b, scores, 0)->m;
    puts("The more entries a query has, the larger its scores grow, and a "
         "division makes up for it.");
    printf("The score of %s with %s is divided by %s; the root of d_k = %d "
           "is %s.\n",
           word(b, s->rows, p.i), word(b, s->columns, p.j), say(b->divisor),
           d_k, say(sqrt(d_k)));
    say_quotient((double)before(b, s, 0, p), b->divisor,
                 (float)entry(b, p));
    from(s->from[0], p.h, p.i, p.j);
}

/* Says where both words stand, and whether the one may see the other. */
static int tell_seen(const Bench *b, const Step *s, Place p)
{
    const int seen = mask_sees(b, p.i, p.j);
    const char *why = p.j > p.i    ? "comes later"
                      : p.j == p.i ? "is the same word"
                      : seen       ? "comes before"
                                   : "stands too far back for the window";
    printf("Here %s asks from place %d, and %s at place %d is asked. It "
           "%s, so it is %s.\n",
           word(b, s->rows, p.i), p.i + 1, word(b, s->columns, p.j),
           p.j + 1, why, seen ? "seen" : "hidden");
    return seen;
}

static void explain_mask(const Bench *b, const Step *s, Place p)
{
    tell_seen(b, s, p);
    printf("The mask says so with %s\n", say(entry(b, p)));
}

static void explain_masked(const Bench *b, const Step *s, Place p)
{
    if (tell_seen(b, s, p))
        printf("The score stays as it was: %s\n", say(entry(b, p)));
    else
        puts("Minus infinity takes the place of its score. The exponential "
             "of that is 0, so it will get no share.\n-inf");
    from(s->from[0], p.h, p.i, p.j);
    from(s->from[1], 0, p.i, p.j);
}

/* ---- Shares of a whole */

static void explain_exponentials(const Bench *b, const Step *s, Place p)
{
    puts("The exponential of the score is above 0, whatever the score, and "
         "larger where the score is larger.");
    const double score = (double)before(b, s, 0, p);
    printf("e^%s = %s\n", say(score), say(entry(b, p)));
    from(s->from[0], p.h, p.i, p.j);
}

/* The share that softmax gives to entry j of a row; of a long one, the
 * others' exponentials are told together. */
static void tell_share(const Bench *b, ListId names, int n, const float *x,
                       int j, double share)
{
    float most = x[0], power[MOST_TOKENS];
    double sum = 0;
    for (int k = 1; k < n; k++)
        most = fmaxf(most, x[k]);
    if (most == -INFINITY) {
        puts("Here every score of the row is minus infinity, and there is "
             "nobody to share with.\n0 / 0 = nan");
        return;
    }
    printf("The largest of the row, %s, is subtracted from all: that "
           "changes no share, and no exponential grows too large.\n",
           say((double)most));
    for (int k = 0; k < n; k++) {
        const double whole = exp((double)(x[k] - most));
        power[k] = (float)whole;
        sum += whole;
        if (n > TOLD && k != j)
            continue;
        printf("e^(%s %s) = %s, for %s\n", say((double)x[k]),
               say_added((double)-most), say(whole), word(b, names, k));
    }
    if (n > TOLD)
        printf("All %d exponentials come to %s together.\n", n, say(sum));
    else {
        puts("All of them together:");
        say_sum(n, power, sum);
    }
    printf("The share of %s is its part of that:\n", word(b, names, j));
    say_quotient((double)power[j], sum, (float)share);
}

static void explain_weights(const Bench *b, const Step *s, Place p)
{
    printf("Softmax divides one whole among the words that %s asks%s, with "
           "more for larger scores.\n",
           word(b, s->rows, p.i), in_head(b, s, p.h));
    tell_share(b, s->columns, s->m, step_row(origin(b, s, 0), p.h, p.i),
               p.j, entry(b, p));
    from(s->from[0], p.h, p.i, ALL);
}

static void explain_hidden(const Bench *b, const Step *s, Place p)
{
    const int seen = tell_seen(b, s, p);
    puts("Its share is multiplied by the mask, 1 or 0.");
    say_product(before(b, s, 0, p), (float)seen, NULL);
    from(s->from[0], p.h, p.i, p.j);
    from(s->from[1], 0, p.i, p.j);
}

static void explain_renormalized(const Bench *b, const Step *s, Place p)
{
    const float *left = step_row(origin(b, s, 0), p.h, p.i);
    double sum = 0;
    for (int k = 0; k < s->m; k++)
        sum += (double)left[k];
    printf("What the mask has left of the shares of %s is no whole any "
           "more:\n",
           word(b, s->rows, p.i));
    say_sum(s->m, left, sum);
    printf("Divided by that, the shares are a whole again. That of %s:\n",
           word(b, s->columns, p.j));
    say_quotient((double)left[p.j], sum, (float)entry(b, p));
    from(s->from[0], p.h, p.i, ALL);
}

static void explain_kept(const Bench *b, const Step *s, Place p)
{
    const double rate = b->number[KEY_P];
    const int drawn = (p.h * s->n + p.i) * s->m + p.j;
    Random r = random_seeded((uint64_t)b->number[KEY_DROPOUT_SEED]);
    for (int k = 0; k < drawn; k++)
        random_double(&r);
    const double number = random_double(&r);
    const int is_kept = number < 1 - rate;
    printf("Each share has a random number from 0 to below 1. It is number "
           "%d that seed %.0f draws: %s\n"
           "It is %s 1 %s = %s, so the share that %s has for %s is %s: "
           "%s\n",
           drawn + 1, b->number[KEY_DROPOUT_SEED], say(number),
           is_kept ? "below" : "not below", say_added(-rate), say(1 - rate),
           word(b, s->rows, p.i), word(b, s->columns, p.j),
           is_kept ? "kept" : "dropped", say(is_kept));
}

static void explain_dropped(const Bench *b, const Step *s, Place p)
{
    const double rate = b->number[KEY_P];
    const int is_kept = before(b, s, 1, p) != 0;
    const float factor = is_kept ? 1 / (float)(1 - rate) : 0;
    printf("The mask %s what %s gives to %s.", is_kept ? "keeps" : "drops",
           word(b, s->rows, p.i), word(b, s->columns, p.j));
    if (is_kept)
        printf(" To make up for what is dropped, it is multiplied by 1 / "
               "(1 %s) = %s.",
               say_added(-rate), say((double)factor));
    putchar('\n');
    say_product(before(b, s, 0, p), factor, NULL);
    from(s->from[0], p.h, p.i, p.j);
    from(s->from[1], p.h, p.i, p.j);
}

/* ---- Mixtures */

static void explain_parts(const Bench *b, const Step *s, Place p)
{
    printf("What %s adds to %s of the mixture: its share times that entry "
           "of its embedding.\n",
           word(b, s->rows, p.i), entry_name(b, s->columns, p.j));
    say_product(origin(b, s, 0)->x[p.i],
                step_row(origin(b, s, 1), 0, p.i)[p.j], NULL);
    from(s->from[0], 0, 0, p.i);
    from(s->from[1], 0, p.i, p.j);
}

static void explain_context(const Bench *b, const Step *s, Place p)
{
    const Step *weights = origin(b, s, 0), *value = origin(b, s, 1);
    int told[TOLD];
    printf("What %s takes home%s, %s of it: of each word its share times "
           "that entry of its %s, all added up.%s\n",
           word(b, s->rows, p.i), in_head(b, s, p.h),
           entry_name(b, s->columns, p.j), name_of(value),
           largest(weights->m));
    tell_products(b, weights->columns, weights->m,
                  (Line){step_row(weights, p.h, p.i), 1},
                  (Line){step_row(value, p.h, 0) + p.j, value->m}, NULL,
                  entry(b, p), told);
    from(s->from[0], p.h, p.i, ALL);
    from(s->from[1], p.h, ALL, p.j);
}

static void explain_joined(const Bench *b, const Step *s, Place p)
{
    const Step *context = origin(b, s, 0);
    const int head = p.j / context->m, k = p.j % context->m;
    printf("The heads' results stand side by side. Column %d is %s%s, for "
           "%s: %s\n",
           p.j + 1, entry_name(b, context->columns, k),
           in_head(b, context, head), word(b, s->rows, p.i),
           say(entry(b, p)));
    from(s->from[0], head, p.i, k);
}

/* ---- What may come next */

static void explain_shares(const Bench *b, const Step *s, Place p)
{
    const float *given = step_row(origin(b, s, 0), 0, p.i);
    const double temperature = b->number[KEY_TEMPERATURE];
    const int k = whole_setting(b, KEY_TOP_K);
    float x[MOST_TOKENS];
    printf("The share of %s as what comes after %s.\n",
           word(b, TOKENS, p.j), word(b, s->rows, p.i));
    from(s->from[0], 0, p.i, ALL);
    if (temperature == 0) {
        printf("With a temperature of 0, the largest logit takes all. This "
               "share: %s\n",
               say(entry(b, p)));
        return;
    }
    for (int j = 0; j < s->m; j++)
        x[j] = given[j] / (float)temperature;
    if (temperature != 1) {
        puts("Each logit of the row is divided by the temperature.");
        say_quotient((double)given[p.j], temperature, x[p.j]);
    }
    if (k) {
        top_k(s->m, k, x);
        printf("Of the row, the %d largest are kept; minus infinity takes "
               "the place of the others.\n",
               k);
    }
    tell_share(b, TOKENS, s->m, x, p.j, entry(b, p));
}

static void explain_likely(const Bench *b, const Step *s, Place p)
{
    printf("By their logits, %s is number %d of the %d tokens. Its share: "
           "%s\n",
           word(b, TOKENS, s->ids[p.j]), p.j + 1, b->list[TOKENS].n,
           say(entry(b, p)));
    from(s->from[0], 0, s->first, s->ids[p.j]);
}

void step_explain(const Bench *b, Place p, int *count,
                  Place place[MOST_PLACES])
{
    static void (*const explain[MAKERS])(const Bench *b, const Step *s,
                                         Place p) = {
        [PARAMETER] = explain_parameter,
        [ROW_OF] = explain_row,
        [BESIDE] = explain_beside,
        [SUM] = explain_sum,
        [NORM] = explain_norm,
        [LINEAR] = explain_linear,
        [ALIKE] = explain_scores,
        [SCORES] = explain_scores,
        [SCALED] = explain_scaled,
        [MASK] = explain_mask,
        [MASKED] = explain_masked,
        [EXPONENTIALS] = explain_exponentials,
        [WEIGHTS] = explain_weights,
        [HIDDEN] = explain_hidden,
        [RENORMALIZED] = explain_renormalized,
        [KEPT] = explain_kept,
        [DROPPED] = explain_dropped,
        [PARTS] = explain_parts,
        [CONTEXT] = explain_context,
        [JOINED] = explain_joined,
        [GELU] = explain_gelu,
        [SHARES] = explain_shares,
        [LIKELY] = explain_likely};
    const Step *s = &b->step[p.step];
    source = place;
    sources = count;
    const int before = *count;
    (s->explain ? s->explain : explain[s->made])(b, s, p);
    if (*count > before || s->limit > 0)
        puts("(All digits are used, also those that are not shown.)");
}
