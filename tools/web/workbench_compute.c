#include "workbench.h"

/* ---- All tables, in the order in which they are made */

const Kind bench_kind[TABLES] = {
    [EMBEDDINGS] = {"embeddings", "embeddings", PER_ONE, PER_WORD, PER_X},
    [OTHERS] = {"others", "embeddings of the text that is asked", PER_ONE,
                PER_OTHER, PER_Y},
    [ALIKE] = {"alike", "embeddings with each other", PER_ONE, PER_WORD,
               PER_OTHER},
    [W_QUERY] = {"w_query", "W_query", PER_HEAD, PER_X, PER_K},
    [W_KEY] = {"w_key", "W_key", PER_HEAD, PER_Y, PER_K},
    [W_VALUE] = {"w_value", "W_value", PER_HEAD, PER_Y, PER_V},
    [QUERY] = {"query", "queries", PER_HEAD, PER_WORD, PER_K},
    [KEY] = {"key", "keys", PER_HEAD, PER_OTHER, PER_K},
    [VALUE] = {"value", "values", PER_HEAD, PER_OTHER, PER_V},
    [SCORES] = {"scores", "scores", PER_HEAD, PER_WORD, PER_OTHER},
    [SCALED] = {"scaled", "scaled scores", PER_HEAD, PER_WORD, PER_OTHER},
    [MASK] = {"mask", "mask", PER_ONE, PER_WORD, PER_OTHER},
    [MASKED] = {"masked", "masked scores", PER_HEAD, PER_WORD, PER_OTHER},
    [EXPONENTIALS] = {"exponentials", "exponentials of the scores",
                      PER_HEAD, PER_WORD, PER_OTHER},
    [WEIGHTS] = {"weights", "attention weights", PER_HEAD, PER_WORD,
                 PER_OTHER},
    [HIDDEN] = {"hidden", "weights times the mask", PER_HEAD, PER_WORD,
                PER_OTHER},
    [RENORMALIZED] = {"renormalized", "renormalized", PER_HEAD, PER_WORD,
                      PER_OTHER},
    [KEPT] = {"kept", "kept", PER_HEAD, PER_WORD, PER_OTHER},
    [DROPPED] = {"dropped", "after dropout", PER_HEAD, PER_WORD, PER_OTHER},
    [PARTS] = {"parts", "what each word contributes", PER_HEAD, PER_OTHER,
               PER_V},
    [CONTEXT] = {"context", "context vectors", PER_HEAD, PER_WORD, PER_V},
    [JOINED] = {"joined", "heads side by side", PER_ONE, PER_WORD,
                PER_ALL_V},
    [W_OUT] = {"w_out", "W_out", PER_ONE, PER_OUT, PER_ALL_V},
    [B_OUT] = {"b_out", "bias of the output", PER_ONE, PER_ONE, PER_OUT},
    [OUT] = {"out", "output", PER_ONE, PER_WORD, PER_OUT},
};

/* ---- What stands where */

int bench_whole(const Bench *b, Key key)
{
    return (int)b->number[key];
}

static int size_of(const Bench *b, Per per)
{
    const int size[PERS] = {[PER_ONE] = 1,
                            [PER_ASKER] = 1,
                            [PER_HEAD] = b->a.n_heads,
                            [PER_WORD] = b->n,
                            [PER_OTHER] = b->m,
                            [PER_X] = b->a.d_x,
                            [PER_Y] = b->a.d_y,
                            [PER_K] = b->a.d_k,
                            [PER_V] = b->a.d_v,
                            [PER_ALL_V] = b->a.n_heads * b->a.d_v,
                            [PER_OUT] = bench_whole(b, KEY_D_OUT)};
    return size[per];
}

/* Where a single word asks, its tables have one row; the matrices of linear
 * layers stand the other way round. */
Shape bench_shape(const Bench *b, TableId id)
{
    const Kind *kind = &bench_kind[id];
    const Draw draw = b->stage->draw;
    const int is_matrix = id == W_QUERY || id == W_KEY || id == W_VALUE;
    const int is_turned = is_matrix && draw == BY_LINEAR;
    Shape s = {.heads = kind->heads,
               .rows = is_turned ? kind->columns : kind->rows,
               .columns = is_turned ? kind->rows : kind->columns};
    if (draw == BY_NONE && s.rows == PER_WORD && id != EMBEDDINGS)
        s.rows = PER_ASKER;
    s.h = size_of(b, s.heads);
    s.n = size_of(b, s.rows);
    s.m = size_of(b, s.columns);
    return s;
}

const float *bench_row(const Bench *b, TableId id, int h, int i)
{
    const Shape s = bench_shape(b, id);
    if (!b->x[id])
        return NULL;
    return b->x[id] + ((s.heads == PER_HEAD ? h : 0) * s.n + i) * s.m;
}

const char *bench_list(const Bench *b, Per per)
{
    static const char *const entries[PERS] = {
        [PER_X] = "x", [PER_Y] = "y", [PER_K] = "k", [PER_V] = "v"};
    if (per == PER_ASKER)
        return "asking";
    if (per == PER_WORD || (per == PER_OTHER && b->texts == 1))
        return "words";
    if (per == PER_OTHER)
        return "others";
    /* A second text of one kind with the first has entries like it. */
    if (per == PER_Y && b->texts == 1)
        per = PER_X;
    return b->stage->names[per] ? entries[per] : "numbers";
}

const char *const *bench_others(const Bench *b)
{
    return b->name[b->texts - 1];
}

int bench_has(const Bench *b, TableId id)
{
    const int is_one = b->stage->draw == BY_NONE;
    const int is_masked = b->number[KEY_MASK] != SEE_ALL;
    const int hides_weights = b->number[KEY_HIDE] == HIDE_WEIGHTS;
    const int is_out = bench_whole(b, KEY_D_OUT) > 0;
    const int has[TABLES] = {
        [EMBEDDINGS] = 1,
        [OTHERS] = b->texts == 2,
        [ALIKE] = b->stage->draw == BY_HAND && b->texts == 1,
        [W_QUERY] = !is_one,
        [W_KEY] = !is_one,
        [W_VALUE] = !is_one,
        [QUERY] = !is_one,
        [KEY] = !is_one,
        [VALUE] = !is_one,
        [SCORES] = 1,
        [SCALED] = !is_one && b->number[KEY_SCALE] != 1,
        [MASK] = is_masked,
        [MASKED] = is_masked && !hides_weights,
        [EXPONENTIALS] = is_one,
        [WEIGHTS] = 1,
        [HIDDEN] = is_masked && hides_weights,
        [RENORMALIZED] = is_masked && hides_weights,
        [KEPT] = b->number[KEY_P] > 0,
        [DROPPED] = b->number[KEY_P] > 0,
        [PARTS] = is_one,
        [CONTEXT] = 1,
        [JOINED] = b->a.n_heads > 1 || is_out,
        [W_OUT] = is_out,
        [B_OUT] = is_out,
        [OUT] = is_out,
    };
    return has[id];
}

TableId bench_before_softmax(const Bench *b)
{
    return bench_has(b, MASKED)   ? MASKED
           : bench_has(b, SCALED) ? SCALED
                                  : SCORES;
}

TableId bench_mixing(const Bench *b)
{
    return bench_has(b, DROPPED)        ? DROPPED
           : bench_has(b, RENORMALIZED) ? RENORMALIZED
                                        : WEIGHTS;
}

/* ---- From settings to sizes, matrices and room */

static void find_asking(Bench *b)
{
    const char *const word = b->word ? b->word : b->stage->word;
    if (!word)
        return;
    for (b->asking = 0; b->asking < b->n; b->asking++)
        if (strcmp(b->name[0][b->asking], word) == 0)
            return;
    if (b->word)
        REFUSE("word is '%s', which is not in the text: one of its words "
               "is needed",
               word);
    b->asking = 0;
}

/* Matrices that are written x W, into layers, which hold them transposed. */
static void write_by_hand(Bench *b)
{
    Attention *a = &b->a;
    const float *const *w = b->stage->by_hand;
    attention_init(a, a);
    transpose(a->d_x, a->d_k, (const void *)w[0], (void *)a->query.weight);
    transpose(a->d_y, a->d_k, (const void *)w[1], (void *)a->key.weight);
    transpose(a->d_y, a->d_v, (const void *)w[2], (void *)a->value.weight);
}

/* The attention of the chapter that the stage belongs to. */
static void draw_attention(Bench *b, Random *r)
{
    const int heads = bench_whole(b, KEY_HEADS);
    const int d_k = bench_whole(b, KEY_D_K), d_v = bench_whole(b, KEY_D_V);
    const int d_out = bench_whole(b, KEY_D_OUT), d = b->stage->text[0].d;
    const int d_y = b->texts == 2 ? b->stage->text[1].d : d;
    b->a = (Attention){
        .d_x = d, .d_y = d_y, .n_heads = heads, .d_k = d_k, .d_v = d_v};
    if (b->stage->draw == BY_HAND)
        write_by_hand(b);
    else if (b->stage->draw == BY_RAND)
        heads_init(&b->a, r, heads, d, d_k, d_v);
    else if (b->stage->draw == BY_LINEAR && !b->stage->number[KEY_D_OUT])
        self_attention_init(&b->a, r, d, d_k, d_v, 0);
    else if (b->stage->draw == BY_LINEAR)
        multi_head_init(&b->a, r, d, d_out, 0, 0, heads, 0);
    b->a.dropout_rate = b->number[KEY_P];
}

/* Room for every table; those that a trace or layers have stand there. */
static void make_room(Bench *b)
{
    for (int round = 0; round < 2; round++) {
        size_t count = 0;
        for (int id = 0; id < TABLES; id++) {
            const Shape s = bench_shape(b, (TableId)id);
            b->x[id] = next_table(b->memory, &count, s.h, s.n, s.m);
        }
        if (!b->memory)
            b->memory = new_block(count);
    }
    if (b->stage->draw == BY_NONE)
        return;
    trace_init_for(&b->t, &b->a, b->n, b->m);
    b->x[QUERY] = b->t.head_query;
    b->x[KEY] = b->t.head_key;
    b->x[VALUE] = b->t.head_value;
    b->x[WEIGHTS] = b->t.weights;
    b->x[KEPT] = b->t.keep_mask;
    b->x[DROPPED] = b->t.dropped;
    b->x[CONTEXT] = b->t.context;
    b->x[JOINED] = b->t.joined;
    if (b->stage->draw != BY_LINEAR)
        return;
    b->x[W_QUERY] = b->a.query.weight;
    b->x[W_KEY] = b->a.key.weight;
    b->x[W_VALUE] = b->a.value.weight;
}

/* The output layer: the attention's own, or one drawn after it. */
static void set_output(Bench *b, Random *r)
{
    const int d_in = b->a.n_heads * b->a.d_v;
    const int d_out = bench_whole(b, KEY_D_OUT);
    if (d_out == 0)
        return;
    if (b->a.d_out) {
        b->x[W_OUT] = b->a.out.weight;
        b->x[B_OUT] = b->a.out.bias;
    } else {
        linear_fill(r, d_in, d_out, (void *)b->x[W_OUT], b->x[B_OUT]);
    }
    b->out = (Linear){d_in, d_out, b->x[W_OUT], b->x[B_OUT]};
}

/* The matrices as the chapters write them, x W, head by head. */
static void show_matrices(Bench *b)
{
    const TableId id[3] = {W_QUERY, W_KEY, W_VALUE};
    for (int h = 0; h < b->a.n_heads; h++) {
        const Attention head = attention_head(&b->a, h);
        const Linear *const l[3] = {&head.query, &head.key, &head.value};
        for (int k = 0; k < 3; k++)
            transpose(l[k]->d_out, l[k]->d_in, (void *)l[k]->weight,
                      (void *)bench_row(b, id[k], h, 0));
    }
}

void bench_set(Bench *b)
{
    dropout_rate_check(b->number[KEY_P]);
    bench_words(b);
    find_asking(b);
    Random r = random_seeded((uint64_t)b->number[KEY_SEED]);
    draw_attention(b, &r);
    b->divisor = b->number[KEY_SCALE] == SCALE_ROOT
                     ? (double)sqrtf((float)b->a.d_k)
                     : b->number[KEY_SCALE];
    make_room(b);
    set_output(b, &r);
    if (b->stage->draw == BY_HAND || b->stage->draw == BY_RAND)
        show_matrices(b);
    bench_embed(b, 0, &r);
    if (b->texts == 2)
        bench_embed(b, 1, &r);
}

void bench_free(Bench *b)
{
    if (b->stage->draw != BY_NONE) {
        attention_free(&b->a);
        trace_free(&b->t);
    }
    free(b->memory);
}

/* ---- From settings to results. Each step is one of the book's functions,
 * in the order of `attend` of chapter 11; the steps stand apart here
 * because every table between them is shown. */

/* One word asks all, by their embeddings alone: chapter 2. */
static void compute_shares(Bench *b)
{
    const int n = b->n, d = b->a.d_x;
    const float(*x)[d] = (void *)b->x[EMBEDDINGS];
    float(*part)[d] = (void *)b->x[PARTS];
    dot_scores(1, n, d, x + b->asking, x, (void *)b->x[SCORES]);
    for (int j = 0; j < n; j++) {
        if (!isnan(b->score[j]))
            b->x[SCORES][j] = b->score[j];
        b->x[EXPONENTIALS][j] = expf(b->x[SCORES][j]);
    }
    softmax(n, b->x[SCORES], b->x[WEIGHTS]);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < d; k++)
            part[j][k] = b->x[WEIGHTS][j] * x[j][k];
    weighted_sum(n, d, b->x[WEIGHTS], x, b->x[CONTEXT]);
}

/* One is what may be seen. */
static void fill_mask(Bench *b)
{
    const int n = b->n, m = b->m;
    float(*mask)[m] = (void *)b->x[MASK];
    if (b->number[KEY_MASK] == SEE_WINDOW)
        mask_window(n, m, 0, bench_whole(b, KEY_WINDOW), mask);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            mask[i][j] = mask[i][j] == 0;
    if (b->number[KEY_MASK] == SEE_CAUSAL)
        causal_mask(n, m, 0, mask);
}

static void scale(const Bench *b, int n, int m, float scores[n][m])
{
    if (b->number[KEY_SCALE] == SCALE_ROOT) {
        scale_scores(n, m, b->a.d_k, scores);
        return;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            scores[i][j] /= (float)b->divisor;
}

static void compute_head(Bench *b, Random *r, int h)
{
    const int n = b->n, m = b->m, d_k = b->a.d_k, d_v = b->a.d_v;
    const size_t size = (size_t)n * (size_t)m * sizeof(float);
    float *table[TABLES];
    for (int id = 0; id < TABLES; id++)
        table[id] = (float *)bench_row(b, (TableId)id, h, 0);
    const void *mask = b->x[MASK];
    dot_scores(n, m, d_k, (void *)table[QUERY], (void *)table[KEY],
               (void *)table[SCORES]);
    memcpy(table[SCALED], table[SCORES], size);
    scale(b, n, m, (void *)table[SCALED]);
    memcpy(table[MASKED], table[SCALED], size);
    if (b->number[KEY_HIDE] == HIDE_SCORES)
        mask_scores_table(n, m, mask, (void *)table[MASKED]);
    softmax_rows(n, m, (void *)table[MASKED], (void *)table[WEIGHTS]);
    memcpy(table[HIDDEN], table[WEIGHTS], size);
    mask_weights(n, m, mask, (void *)table[HIDDEN]);
    memcpy(table[RENORMALIZED], table[HIDDEN], size);
    renormalize(n, m, (void *)table[RENORMALIZED]);
    const TableId left =
        bench_has(b, RENORMALIZED) ? RENORMALIZED : WEIGHTS;
    dropout_mask(r, b->a.dropout_rate, n, m, (void *)table[KEPT]);
    dropout_apply(b->a.dropout_rate, n, m, (void *)table[KEPT],
                  (void *)table[left], (void *)table[DROPPED]);
    matmul(n, d_v, m, (void *)table[DROPPED], (void *)table[VALUE],
           (void *)table[CONTEXT]);
}

static void compute_heads(Bench *b)
{
    const Attention *a = &b->a;
    Trace *t = &b->t;
    const int n = b->n, m = b->m, heads = a->n_heads;
    const void *x = b->x[EMBEDDINGS];
    attention_project(a, n, m, x, b->texts == 2 ? (void *)b->x[OTHERS] : x,
                      t);
    split_heads(n, heads, a->d_k, (void *)t->query, (void *)t->head_query);
    split_heads(m, heads, a->d_k, (void *)t->key, (void *)t->head_key);
    split_heads(m, heads, a->d_v, (void *)t->value, (void *)t->head_value);
    fill_mask(b);
    Random r = random_seeded((uint64_t)b->number[KEY_DROPOUT_SEED]);
    for (int h = 0; h < heads; h++)
        compute_head(b, &r, h);
    merge_heads(n, heads, a->d_v, (void *)t->context, (void *)t->joined);
    if (b->out.d_out)
        linear_forward(&b->out, n, (void *)t->joined, (void *)b->x[OUT]);
    if (bench_has(b, ALIKE))
        dot_scores(n, n, a->d_x, x, x, (void *)b->x[ALIKE]);
}

void bench_compute(Bench *b)
{
    if (b->stage->draw == BY_NONE)
        compute_shares(b);
    else
        compute_heads(b);
}
