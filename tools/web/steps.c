#include "stages.h"

#include <assert.h>

/* ---- Adding steps */

int whole_setting(const Bench *b, Key key)
{
    return (int)b->number[key];
}

const Step *step_named(const Bench *b, const char *id)
{
    for (int k = 0; k < b->steps; k++)
        if (strcmp(b->step[k].id, id) == 0)
            return &b->step[k];
    return NULL;
}

float *step_row(const Step *s, int h, int i)
{
    return s->x + ((ptrdiff_t)(s->heads ? h : 0) * s->n + i) * s->m;
}

int step_add(Bench *b, int block, const char *id, const char *label, Step s)
{
    assert(b->steps < MOST_STEPS);
    char before[16] = "", of_block[24] = "";
    if (block >= 0)
        snprintf(before, sizeof before, "%d.", block);
    if (block >= 0 && b->g.layers > 1)
        snprintf(of_block, sizeof of_block, "block %d: ", block);
    snprintf(s.id, sizeof s.id, "%.7s%.15s", before, id);
    snprintf(s.label, sizeof s.label, "%.15s%.43s", of_block, label);
    s.is_own = !s.x;
    if (s.is_own)
        s.x = new_block((size_t)(s.heads ? s.heads : 1) * (size_t)s.n *
                        (size_t)s.m);
    for (int k = 1; k < 3; k++)
        if (s.from[k] && b->step[s.from[k]].made == PARAMETER)
            b->step[s.from[k]].into = b->steps;
    b->step[b->steps] = s;
    return b->steps++;
}

int step_add_like(Bench *b, int block, const char *id, const char *label,
                  Made made, int a, int c)
{
    const Step *like = &b->step[a];
    return step_add(b, block, id, label,
                    (Step){.made = made,
                           .heads = like->heads,
                           .n = like->n,
                           .m = like->m,
                           .rows = like->rows,
                           .columns = like->columns,
                           .from = {a, c}});
}

/* A parameter named after its layer: w_query, with the label W_query. */
static int add_parameter(Bench *b, int block, const char *of,
                         const char *id, Step s)
{
    char name[24], label[40];
    const int is_weight = *of == 'w';
    snprintf(name, sizeof name, "%s_%.12s", of, id);
    snprintf(label, sizeof label, is_weight ? "W_%s" : "bias of %s", id);
    return step_add(b, block, name, label, s);
}

int step_add_norm(Bench *b, int block, const char *id, const char *label,
                  int x, const Norm *l)
{
    Step own = {.n = 1, .m = l->d, .x = l->weight};
    const int weight = add_parameter(b, block, "w", id, own);
    own.x = l->bias;
    const int bias = add_parameter(b, block, "b", id, own);
    const Step s = {.made = NORM,
                    .n = b->n,
                    .m = l->d,
                    .rows = WORDS,
                    .from = {x, weight, bias}};
    return step_add(b, block, id, label, s);
}

/* The matrices of the first chapters are written x W, head by head; layers
 * hold them the other way round. */
static void turn(const Linear *l, Step *s)
{
    const Step as_held = *s;
    const size_t size = (size_t)s->n * (size_t)s->m;
    s->is_turned = 1;
    s->n = as_held.m;
    s->m = as_held.n;
    s->rows = as_held.columns;
    s->columns = as_held.rows;
    s->x = new_block((size_t)s->heads * size);
    for (int h = 0; h < s->heads; h++)
        transpose(s->m, s->n, (void *)(l->weight + (size_t)h * size),
                  (void *)step_row(s, h, 0));
}

int step_add_linear(Bench *b, int block, const char *id, const char *label,
                    int x, const Linear *l, Step s)
{
    const Draw draw = b->stage->draw;
    const int d = l->d_out / (s.heads ? s.heads : 1);
    const int is_turned = s.heads && (draw == BY_HAND || draw == BY_RAND);
    Step w = {.heads = s.heads, .n = d, .m = l->d_in, .x = l->weight};
    w.rows = s.columns;
    w.columns = b->step[x].columns;
    w.drawn = b->drawn;
    w.apart = is_turned ? l->d_in * (2 * b->a.d_k + b->a.d_v) : d * w.m;
    w.limit = is_turned ? 0 : 1 / sqrt(l->d_in);
    b->drawn += d * w.m * (s.heads && !is_turned ? s.heads : 1);
    if (is_turned)
        turn(l, &w);
    s.made = LINEAR;
    s.n = b->step[x].n;
    s.m = d;
    s.rows = b->step[x].rows;
    s.from[0] = x;
    s.from[1] = add_parameter(b, block, "w", id, w);
    b->step[s.from[1]].is_own = is_turned;
    if (l->bias) {
        const Step bias = {.heads = s.heads,
                           .n = 1,
                           .m = d,
                           .columns = s.columns,
                           .x = l->bias,
                           .drawn = b->drawn,
                           .limit = w.limit};
        s.from[2] = add_parameter(b, block, "b", id, bias);
    }
    return step_add(b, block, id, label, s);
}

/* From scores to what the values are mixed with. */
int step_add_weights(Bench *b, int block, int scores)
{
    const int hides_weights = b->number[KEY_HIDE] == HIDE_WEIGHTS;
    const int is_masked = b->number[KEY_MASK] != SEE_ALL;
    int last = scores;
    if (b->number[KEY_SCALE] != 1)
        last = step_add_like(b, block, "scaled", "scaled scores", SCALED,
                             last, 0);
    if (is_masked && !b->mask) {
        const Step s = {.made = MASK, .n = b->n, .m = b->m, .rows = WORDS};
        b->mask = step_add(b, -1, "mask", "mask", s);
        b->step[b->mask].columns = b->step[scores].columns;
    }
    if (is_masked && !hides_weights)
        last = step_add_like(b, block, "masked", "masked scores", MASKED,
                             last, b->mask);
    if (b->stage->draw == BY_NONE)
        step_add_like(b, block, "exponentials",
                      "exponentials of the scores", EXPONENTIALS, last, 0);
    last = step_add_like(b, block, "weights", "attention weights", WEIGHTS,
                         last, 0);
    b->weights[block < 0 ? 0 : block] = last;
    if (is_masked && hides_weights) {
        last = step_add_like(b, block, "hidden", "weights times the mask",
                             HIDDEN, last, b->mask);
        last = step_add_like(b, block, "renormalized", "renormalized",
                             RENORMALIZED, last, 0);
    }
    if (b->number[KEY_P] > 0) {
        const int kept =
            step_add_like(b, block, "kept", "kept", KEPT, last, 0);
        last = step_add_like(b, block, "dropped", "after dropout", DROPPED,
                             last, kept);
    }
    return last;
}

int step_add_heads(Bench *b, int block, int x, int y, const Attention *a,
                   int is_joined)
{
    const int heads = a->n_heads, drawn = b->drawn;
    const Step of_k = {.heads = heads, .columns = OF_K};
    const Step of_v = {.heads = heads, .columns = OF_V};
    const int query =
        step_add_linear(b, block, "query", "queries", x, &a->query, of_k);
    const int key =
        step_add_linear(b, block, "key", "keys", y, &a->key, of_k);
    const int value =
        step_add_linear(b, block, "value", "values", y, &a->value, of_v);
    b->drawn = drawn + heads * (a->d_x * a->d_k + a->d_y * a->d_k +
                                a->d_y * a->d_v);
    b->divisor = b->number[KEY_SCALE] == SCALE_ROOT
                     ? (double)sqrtf((float)a->d_k)
                     : b->number[KEY_SCALE];
    Step s = {.made = SCORES, .heads = heads, .n = b->n, .m = b->m};
    s.rows = WORDS;
    s.columns = b->step[y].rows;
    s.from[0] = query;
    s.from[1] = key;
    const int scores = step_add(b, block, "scores", "scores", s);
    s = (Step){.made = CONTEXT, .heads = heads, .n = b->n, .m = a->d_v};
    s.rows = WORDS;
    s.columns = OF_V;
    s.from[0] = step_add_weights(b, block, scores);
    s.from[1] = value;
    const int context = step_add(b, block, "context", "context vectors", s);
    if (!is_joined)
        return context;
    s = (Step){.made = JOINED, .n = b->n, .m = heads * a->d_v};
    s.rows = WORDS;
    s.from[0] = context;
    return step_add(b, block, "joined", "heads side by side", s);
}

/* ---- Taking them */

int mask_sees(const Bench *b, int i, int j)
{
    const int mask = whole_setting(b, KEY_MASK);
    if (mask == SEE_ALL)
        return 1;
    return j <= i + (mask == SEE_NEXT) &&
           (mask != SEE_WINDOW || i - j < whole_setting(b, KEY_WINDOW));
}

static void take_layer(const Bench *b, const Step *s, int h)
{
    const Step *w = &b->step[s->from[1]], *bias = &b->step[s->from[2]];
    const void *x = b->step[s->from[0]].x;
    void *out = step_row(s, h, 0);
    const int n = s->n, m = s->m, d = b->step[s->from[0]].m;
    float *own_bias = s->from[2] ? step_row(bias, h, 0) : NULL;
    if (s->made == NORM)
        norm_forward(&(Norm){m, w->x, own_bias}, n, x, out);
    else if (w->is_turned)
        matmul(n, m, d, x, (void *)step_row(w, h, 0), out);
    else
        linear_forward(&(Linear){d, m, step_row(w, h, 0), own_bias}, n, x,
                       out);
}

static void take_scores(const Bench *b, const Step *s, const void *x,
                        const void *y, float *out)
{
    dot_scores(s->n, s->m, b->step[s->from[0]].m, x, y, (void *)out);
    for (int j = 0; b->stage->draw == BY_NONE && j < s->m; j++)
        if (!isnan(b->score[j]))
            out[j] = b->score[j];
}

/* Fills the table of a head, x and y being those that it is made of. What
 * the book's functions change in place begins as a copy of x. */
static void take_head(Bench *b, const Step *s, int h)
{
    const Step *a = &b->step[s->from[0]], *c = &b->step[s->from[1]];
    const float *x = step_row(a, h, s->first), *y = step_row(c, h, 0);
    float *own = step_row(s, h, 0);
    const void *given = x, *other = y;
    void *out = own;
    const int n = s->n, m = s->m, size = n * m;
    if (s->made >= MASKED && s->made <= DROPPED)
        memcpy(own, x, (size_t)size * sizeof *own);
    switch (s->made) {
    case PARAMETER:
    case MAKERS:
        break;
    case ROW_OF:
        embed(n, m, a->n, s->ids, given, out);
        break;
    case BESIDE:
        for (int i = 0; i < n; i++) {
            const size_t wide = (size_t)a->m, rest = (size_t)(m - a->m);
            memcpy(own + i * m, x + i * a->m, wide * sizeof *x);
            memcpy(own + i * m + a->m, y + i * c->m, rest * sizeof *y);
        }
        break;
    case SUM:
        for (int k = 0; k < size; k++)
            own[k] = x[k] + y[k];
        break;
    case NORM:
    case LINEAR:
        take_layer(b, s, h);
        break;
    case ALIKE:
    case SCORES:
        take_scores(b, s, given, other, own);
        break;
    case SCALED:
        for (int k = 0; k < size; k++)
            own[k] = x[k] / (float)b->divisor;
        break;
    case MASK:
        for (int k = 0; k < size; k++)
            own[k] = (float)mask_sees(b, k / m, k % m);
        break;
    case MASKED:
        apply_mask(n, m, mask_table(n, m, other), out);
        break;
    case EXPONENTIALS:
        for (int k = 0; k < size; k++)
            own[k] = expf(x[k]);
        break;
    case WEIGHTS:
        softmax_rows(n, m, given, out);
        break;
    case HIDDEN:
        mask_weights(n, m, other, out);
        break;
    case RENORMALIZED:
        renormalize(n, m, out);
        break;
    case KEPT:
        dropout_mask(&b->dropping, b->number[KEY_P], n, m, out);
        break;
    case DROPPED:
        dropout_apply(b->number[KEY_P], n, m, other, given, out);
        break;
    case PARTS:
        for (int k = 0; k < size; k++)
            own[k] = x[k / m] * y[k];
        break;
    case CONTEXT:
        matmul(n, m, a->m, given, other, out);
        break;
    case JOINED:
        merge_heads(n, a->heads, a->m, given, out);
        break;
    case GELU: {
        float *share = new_table(n, m);
        gelu(size, given, share, out);
        free(share);
        break;
    }
    case SHARES:
    case LIKELY:
        s->take(b, s);
    }
}

void steps_take(Bench *b)
{
    b->dropping = random_seeded((uint64_t)b->number[KEY_DROPOUT_SEED]);
    for (int k = 0; k < b->steps; k++)
        for (int h = 0; h == 0 || h < b->step[k].heads; h++)
            take_head(b, &b->step[k], h);
}
