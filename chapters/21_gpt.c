/*
# A model that has read this book {#gpt}

TO WRITE: what we have, what is missing, and the one new idea.
*/

#include "attention.h"

/*
## Layer norm
*/

/* A row's mean, and 1 divided by its spread. */
static void measure_row(int d, const float x[d], float *mean, float *scale)
{
    double sum = 0, squares = 0;
    for (int k = 0; k < d; k++)
        sum += (double)x[k];
    *mean = (float)(sum / d);
    for (int k = 0; k < d; k++)
        squares += (double)((x[k] - *mean) * (x[k] - *mean));
    *scale = (float)(1 / sqrt(squares / d + 1e-5));
}

void norm_forward(const Norm *l, int n, const float x[n][l->d],
                  float out[n][l->d])
{
    float mean, scale;
    for (int i = 0; i < n; i++) {
        measure_row(l->d, x[i], &mean, &scale);
        for (int k = 0; k < l->d; k++)
            out[i][k] =
                (x[i][k] - mean) * scale * l->weight[k] + l->bias[k];
    }
}

void norm_backward(const Norm *l, int n, const float x[n][l->d],
                   const float g_out[n][l->d], Norm *g_l,
                   float g_x[n][l->d])
{
    const int d = l->d;
    float mean, scale;
    if (g_l->d != d)
        REFUSE("a gradient of %d entries, where the layer has %d: as many "
               "are needed",
               g_l->d, d);
    for (int i = 0; i < n; i++) {
        double g_mean = 0, g_spread = 0;
        measure_row(d, x[i], &mean, &scale);
        for (int k = 0; k < d; k++) {
            const float normed = (x[i][k] - mean) * scale;
            const float g_normed = g_out[i][k] * l->weight[k];
            g_l->weight[k] += g_out[i][k] * normed;
            g_l->bias[k] += g_out[i][k];
            g_mean += (double)g_normed / d;
            g_spread += (double)(g_normed * normed) / d;
        }
        for (int k = 0; k < d; k++) {
            const float normed = (x[i][k] - mean) * scale;
            const float g_normed = g_out[i][k] * l->weight[k];
            g_x[i][k] += scale * (g_normed - (float)g_mean -
                                  normed * (float)g_spread);
        }
    }
}

/*
## GELU
*/

/* u of the header, in units that suit powers of 2; and how steeply u grows
 * with x. */
void gelu(int n, const float x[n], float share[n], float out[n])
{
    for (int i = 0; i < n; i++) {
        const float u =
            1.5957691f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
        share[i] = 1 / (1 + expf(-u));
        out[i] = x[i] * share[i];
    }
}

void gelu_backward(int n, const float x[n], const float share[n],
                   const float g_out[n], float g_x[n])
{
    for (int i = 0; i < n; i++) {
        const float g_u = 1.5957691f * (1 + 0.134145f * x[i] * x[i]);
        const float g_share = share[i] * (1 - share[i]) * g_u;
        g_x[i] += g_out[i] * (share[i] + x[i] * g_share);
    }
}

/*
## The model
*/

static void add(int n, const float x[n], const float y[n], float sum[n])
{
    for (int i = 0; i < n; i++)
        sum[i] = x[i] + y[i];
}

/* The last n tokens of a text, with what the cache holds of those before. */
static void attend_cached(const Attention *a, Cache *c, int n,
                          const float x[n][a->d_x], Trace *t)
{
    const int d = a->d_k, heads = a->n_heads;
    linear_forward_fast(&a->query, n, x, (void *)t->query);
    linear_forward_fast(&a->key, n, x, (void *)t->key);
    linear_forward_fast(&a->value, n, x, (void *)t->value);
    cache_append(c, n, rows_by_token(heads, n, d, t->key),
                 rows_by_token(heads, n, d, t->value));
    cache_attend_of(best_kernel())(c, heads, n,
                                   rows_by_token(heads, n, d, t->query), 0,
                                   rows_by_token(heads, n, d, t->joined));
    linear_forward_fast(&a->out, n, (void *)t->joined, (void *)t->out);
}

static void block_forward(const GptBlock *b, int texts, int n,
                          Cache *cache, BlockPass *p)
{
    const int rows = texts * n, d = b->norm_1.d;
    norm_forward(&b->norm_1, rows, (void *)p->in, (void *)p->normed_1);
    if (cache)
        attend_cached(&b->attention, cache, rows, (void *)p->normed_1,
                      &p->attention);
    else
        attention_forward_fast(&b->attention, see_past(0), texts, n,
                               (void *)p->normed_1, &p->attention);
    add(rows * d, p->in, p->attention.out, p->between);

    norm_forward(&b->norm_2, rows, (void *)p->between,
                 (void *)p->normed_2);
    linear_forward_fast(&b->up, rows, (void *)p->normed_2,
                        (void *)p->wide);
    gelu(rows * 4 * d, p->wide, p->share, p->active);
    linear_forward_fast(&b->down, rows, (void *)p->active,
                        (void *)p->after);
    add(rows * d, p->after, p->between, p->after);
}

void gpt_forward(const Gpt *g, Cache *cache, const int *ids, GptPass *p)
{
    const int rows = p->texts * p->n, d = g->width;
    const int first = cache ? (int)cache->count : 0;
    float(*x)[d] = (void *)p->block[0].in;
    embed(rows, d, g->vocabulary, ids, (void *)g->tokens, x);
    for (int i = 0; i < rows; i += p->n)
        add_positions(p->n, d, g->context, first, (void *)g->places, x + i);
    for (int l = 0; l < g->layers; l++)
        block_forward(&g->block[l], p->texts, p->n,
                      cache ? &cache[l] : NULL, &p->block[l]);
    norm_forward(&g->last, rows, (void *)p->block[g->layers - 1].after,
                 (void *)p->normed);
    linear_forward_fast(&g->output, rows, (void *)p->normed,
                        (void *)p->logits);
}

/*
## Backward
*/

/* A sum hands its gradient on to both that were added. */
static void block_backward(const GptBlock *b, int texts, int n,
                           const BlockPass *p, BlockPass *g_p,
                           GptBlock *g_b)
{
    const int rows = texts * n, d = b->norm_1.d;
    add(rows * d, g_p->between, g_p->after, g_p->between);
    linear_backward_fast(&b->down, rows, (void *)p->active,
                         (void *)g_p->after, &g_b->down,
                         (void *)g_p->active);
    gelu_backward(rows * 4 * d, p->wide, p->share, g_p->active, g_p->wide);
    linear_backward_fast(&b->up, rows, (void *)p->normed_2,
                         (void *)g_p->wide, &g_b->up,
                         (void *)g_p->normed_2);
    norm_backward(&b->norm_2, rows, (void *)p->between,
                  (void *)g_p->normed_2, &g_b->norm_2,
                  (void *)g_p->between);

    add(rows * d, g_p->in, g_p->between, g_p->in);
    add(rows * d, g_p->attention.out, g_p->between, g_p->attention.out);
    attention_backward_fast(&b->attention, see_past(0), texts, n,
                            (void *)p->normed_1, &p->attention,
                            &g_p->attention, &g_b->attention,
                            (void *)g_p->normed_1);
    norm_backward(&b->norm_1, rows, (void *)p->in, (void *)g_p->normed_1,
                  &g_b->norm_1, (void *)g_p->in);
}

void gpt_backward(const Gpt *g, const int *ids, const GptPass *p, GptPass *g_p,
                  Gpt *g_g)
{
    const int rows = p->texts * p->n, d = g->width, top = g->layers - 1;
    const float(*g_x)[d] = (void *)g_p->block[0].in;
    linear_backward_fast(&g->output, rows, (void *)p->normed,
                         (void *)g_p->logits, &g_g->output,
                         (void *)g_p->normed);
    norm_backward(&g->last, rows, (void *)p->block[top].after,
                  (void *)g_p->normed, &g_g->last,
                  (void *)g_p->block[top].after);
    for (int l = top; l >= 0; l--)
        block_backward(&g->block[l], p->texts, p->n, &p->block[l],
                       &g_p->block[l], &g_g->block[l]);
    embed_backward(rows, d, g->vocabulary, ids, g_x, (void *)g_g->tokens);
    for (int i = 0; i < rows; i++)
        add(d, g_g->places + i % p->n * d, g_x[i],
            g_g->places + i % p->n * d);
}

/* What a layer begins with: normal numbers for its weight. */
static void fill_layer(Random *r, float deviation, Linear *l)
{
    normal_fill(r, l->d_out, l->d_in, 0, deviation, (void *)l->weight);
}

static void fill_norm(Norm *l)
{
    for (int k = 0; k < l->d; k++)
        l->weight[k] = 1;
}

void gpt_fill(Random *r, Gpt *g)
{
    const float deviation = 0.02f;
    const float adding = (float)(0.02 / sqrt(2 * g->layers));
    memset(g->memory, 0, g->count * sizeof *g->memory);
    normal_fill(r, g->vocabulary, g->width, 0, deviation,
                (void *)g->tokens);
    normal_fill(r, g->context, g->width, 0, deviation, (void *)g->places);
    for (int l = 0; l < g->layers; l++) {
        GptBlock *b = &g->block[l];
        fill_norm(&b->norm_1);
        fill_layer(r, deviation, &b->attention.query);
        fill_layer(r, deviation, &b->attention.key);
        fill_layer(r, deviation, &b->attention.value);
        fill_layer(r, adding, &b->attention.out);
        fill_norm(&b->norm_2);
        fill_layer(r, deviation, &b->up);
        fill_layer(r, adding, &b->down);
    }
    fill_norm(&g->last);
    if (g->is_apart)
        fill_layer(r, deviation, &g->output);
}

/*
## Sampling
*/

int draw_one(Random *r, int n, const float shares[n])
{
    int best = -1;
    float most = 0;
    for (int i = 0; i < n; i++) {
        const float wait = (float)-log1p(-random_double(r));
        if (!(shares[i] >= 0 && shares[i] <= FLT_MAX))
            REFUSE("share %d is %g: one from 0 on, and finite, is needed",
                   i, (double)shares[i]);
        if (shares[i] / wait > most) {
            most = shares[i] / wait;
            best = i;
        }
    }
    if (best < 0)
        REFUSE("%d shares, and none above 0: one is needed", n);
    return best;
}

void keep_largest(int n, int k, float logits[n])
{
    if (k < 1 || k > n)
        REFUSE("the %d largest of %d: from 1 to %d are needed", k, n, n);
    float limit = INFINITY;
    for (int found = 0; found < k && limit > -INFINITY;) {
        float next = -INFINITY; /* the largest of those below the limit */
        for (int i = 0; i < n; i++)
            if (logits[i] < limit && logits[i] > next)
                next = logits[i];
        for (int i = 0; i < n; i++)
            found += logits[i] == next;
        limit = next;
    }
    for (int i = 0; i < n; i++)
        if (logits[i] < limit)
            logits[i] = -INFINITY;
}

int next_token(Random *r, float temperature, int k, int n,
               float logits[n], float shares[n])
{
    if (!(temperature > 0))
        REFUSE("a temperature of %g: one above 0 is needed",
               (double)temperature);
    for (int i = 0; i < n; i++)
        logits[i] /= temperature;
    if (k)
        keep_largest(n, k, logits);
    softmax(n, logits, shares);
    return draw_one(r, n, shares);
}

void gpt_write(const Gpt *g, Random *r, float temperature, int k, int begun,
               int n, int ids[n])
{
    const int size = g->vocabulary;
    Cache *cache = caches_for(g);
    float *shares = new_table(1, size);
    for (int from = 0, till = begun; till < n; from = till++) {
        GptPass p = gpt_pass(g, 1, till - from);
        gpt_forward(g, cache, ids + from, &p);
        ids[till] =
            next_token(r, temperature, k, size,
                       p.logits + (till - from - 1) * size, shares);
        gpt_pass_free(&p);
    }
    caches_free(g, cache);
    free(shares);
}

void epoch_order(Random *r, int n, int order[n])
{
    Random own;
    random_u64(r); /* for its workers, of which we have none */
    random_seed(&own, random_u64(r) & INT64_MAX);
    shuffle(&own, n, order);
}

/*
## Training
*/

/* A piece of text, and what comes after each of its bytes. */
static void read_piece(const Gpt *g, const char *text, int *ids,
                       int *targets)
{
    for (int i = 0; i < g->context; i++) {
        ids[i] = (unsigned char)text[i];
        targets[i] = (unsigned char)text[i + 1];
    }
}

void training_batch(GptTraining *t, const char *text, int *ids,
                    int *targets)
{
    const int n = t->model.context;
    if (t->next + t->texts > t->count) {
        epoch_order(&t->random, t->count, t->order);
        t->next = 0;
    }
    for (int i = 0; i < t->texts; i++)
        read_piece(&t->model, text + t->order[t->next++] * n, ids + i * n,
                   targets + i * n);
}

float training_step(GptTraining *t, const int *ids, const int *targets)
{
    const int rows = t->pass.texts * t->pass.n, size = t->model.vocabulary;
    Gpt *g = &t->model, *g_g = &t->gradient;
    gpt_forward(g, NULL, ids, &t->pass);
    const float loss = cross_entropy(rows, size, (void *)t->pass.logits,
                                     targets, (void *)t->shares);
    gpt_pass_clear(&t->back);
    memset(g_g->memory, 0, g_g->count * sizeof *g_g->memory);
    cross_entropy_backward(rows, size, (void *)t->shares, targets,
                           (void *)t->back.logits);
    gpt_backward(g, ids, &t->pass, &t->back, g_g);
    clip_norm(1, g_g->count, g_g->memory);
    adam_step(t->how, ++t->step, g->count, g_g->memory, t->mean.memory,
              t->square.memory, g->memory);
    return loss;
}

float gpt_loss(const Gpt *g, const char *text, int bytes, GptPass *p,
               float *shares)
{
    const int n = p->n, rows = p->texts * n, size = g->vocabulary;
    int ids[rows], targets[rows], count = 0;
    double sum = 0;
    for (int i = 0; i + rows < bytes; i += rows, count++) {
        for (int k = 0; k < rows; k += n)
            read_piece(g, text + i + k, ids + k, targets + k);
        gpt_forward(g, NULL, ids, p);
        sum += (double)cross_entropy(rows, size, (void *)p->logits, targets,
                                     (void *)shares);
    }
    return (float)(sum / count);
}

static void show_gpt(void)
{
    GptTraining t = {.model = {.vocabulary = 128,
                               .context = 64,
                               .width = 32,
                               .n_heads = 2,
                               .layers = 3},
                     .texts = 8,
                     .how = {1e-2, 0.9, 0.95, 1e-8, 0.1, 0}};
    Random r;
    int ids[8 * 64], targets[8 * 64];
    random_seed(&r, 123);
    training_init(&t, r, prose_length);
    printf("parameters %zu\n", t.model.count);
    const int steps = getenv("STEPS") ? atoi(getenv("STEPS")) : 200;
    for (int step = 0; step < steps; step++) {
        t.how.rate = rate_at(step, steps / 10, steps, 1e-2, 1e-3);
        training_batch(&t, prose, ids, targets);
        const float loss = training_step(&t, ids, targets);
        if (step % 20 == 0 || step == steps - 1)
            printf("%d %.6f\n", step, (double)loss);
    }
    printf("held out %.6f\n", (double)gpt_loss(&t.model, held_out, held_out_length, &t.pass, t.shares));
    for (int temp = 5; temp <= 10; temp += 5) {
    int text[64] = {'T', 'h', 'e', ' '};
    gpt_write(&t.model, &r, temp / 10.f, 0, 4, 64, text);
    for (int i = 0; i < 64; i++)
        putchar(text[i]);
    putchar('\n');
    }
    training_free(&t);
}

/*
``` output
gpt
```

## In PyTorch {#gpt-pytorch}

``` python
print("gpt")
```

## Everything together
*/

int main(void)
{
    show_gpt();
    return 0;
}

/*
TO WRITE: what comes next.
*/
