/* Chapter 21 against PyTorch: golden/21_training. */
#define CHAPTER "21_training"
#include "streams.h"
#include "traces.h"
#include "attention/21_training.h"

/* ---- Whole numbers */

static void below_test(void)
{
    const int64_t *seed = integers("seeds"), *due = integers("drawn");
    const int high = (int)integers("high")[0], count = dim("drawn", 1);
    for (int i = 0; i < dim("drawn", 0); i++) {
        Random r = seeded(seed[i]);
        next_case();
        give("r: random_seeded(%" PRId64 "), range = %d", seed[i], high);
        for (int k = 0; k < count; k++)
            tap_report(random_below(&r, high) == due[i * count + k],
                       "a number", "number %d is not PyTorch's", k);
    }
}

static void shuffle_test(void)
{
    const int64_t *seed = integers("seeds");
    const int count = (int)integers("count")[0];
    for (int i = 0; i < dim("drawn", 0); i++) {
        const Tensor due = entry_of(part("drawn"), i);
        int *order = room_for("order", (size_t)count);
        Random r = seeded(seed[i]);
        next_case();
        give("r: random_seeded(%" PRId64 "), n = %d", seed[i], count);
        shuffle(&r, count, order);
        tap_close("order", &due, order, 0, 0);
    }
}

/* One draw for each place but the last. */
static void draws_test(void)
{
    int order[3];
    Random r = seeded(123), same_r = seeded(123);
    give("r: random_seeded(123), n = 3, and then a draw");
    shuffle(&r, 3, order);
    random_u32(&same_r);
    random_u32(&same_r);
    same_bits("the third draw", random_u32(&r), random_u32(&same_r));
}

static void texts_test(void)
{
    const int64_t *ids = integers("ids"), *key_ids = integers("asked");
    const int64_t *target = integers("target");
    Random r = seeded(123);
    for (int k = 0; k < dim("ids", 0); k++) {
        int got[REPEATED_LENGTH], pair[REPEATED_LENGTH][2],
            right[REPEATED_LENGTH];
        repeated_text(&r, got, pair, right);
        for (int i = 0; i < REPEATED_LENGTH; i++) {
            same_bits("id", got[i], *ids++);
            same_bits("asked", pair[i][0], *key_ids++);
            same_bits("asked before", pair[i][1], *key_ids++);
            same_bits("target", right[i], *target++);
        }
    }
}

static void sentences_test(void)
{
    const int64_t *ids = integers("ids"), *verb = integers("verbs");
    const int last = AGREEMENT_LENGTH - 1;
    for (int number = 0; number < AGREEMENTS; number++) {
        int got[AGREEMENT_LENGTH], target[AGREEMENT_LENGTH];
        agreement_text(number, got, target);
        for (int i = 0; i < AGREEMENT_LENGTH; i++) {
            same_bits("id", got[i], *ids++);
            if (i < last)
                same_bits("target", target[i], IGNORED);
        }
        same_bits("verb", target[last], *verb++);
    }
}

/* Its first noun is many or not by the second choice, its second by the
 * third. */
static void differ_test(void)
{
    for (int number = 0; number < AGREEMENTS; number++)
        same_bits("differ", agreement_nouns_differ(number),
                  number / 5 % 2 != number / 10 % 2);
}

/* ---- The model */

/* Sizes as parts_of of golden/generate.py has them. */
static Model model_of_set(void)
{
    const int64_t *size = integers("sizes");
    return (Model){.vocabulary = (int)size[0],
                   .context_length = (int)size[1],
                   .attention = {.d_x = (int)size[2],
                                 .d_y = (int)size[3],
                                 .n_heads = (int)size[4],
                                 .d_k = (int)size[5],
                                 .d_v = (int)size[6],
                                 .has_bias = (int)size[7],
                                 .has_out_bias = (int)size[8]}};
}

static void fill_model(const Model *m, const char *what)
{
    if (m->count != part(what)->count)
        REFUSE("%s has not %zu parameters", sets_now, m->count);
    memcpy(m->memory, floats(part(what)), m->count * sizeof(float));
}

/* Writes the set's batch into a pass. */
static void fill_pass(Pass *p)
{
    const char *const what[3] = {"ids", "asked", "target"};
    int *const list[3] = {p->ids, p->key_ids, p->targets};
    for (int k = 0; k < 3; k++)
        memcpy(list[k], ints_of(what[k]),
               part(what[k])->count * sizeof(int));
}

/* All parameters, or their gradient, against the set's. */
static void close_model(const char *what, const Model *m, double rtol,
                        double atol)
{
    tap_true("the count", m->count == part(what)->count);
    agrees(what, m->memory, rtol, atol);
}

static void forward_test(void)
{
    Model m = model_of_set();
    Pass p;
    model_init(&m, &m);
    fill_model(&m, "parameters");
    pass_init(&p, &m, dim("ids", 0), dim("ids", 1));
    fill_pass(&p);
    model_forward(&m, mask_causal((int)integers("sizes")[9]), &p);
    agrees("logits", p.logits, 1e-5, 2e-6);
    pass_free(&p);
    model_free(&m);
}

/* The gradient of the loss; a second time it is added, and what a pass
 * held before does not matter. */
static void backward_test(void)
{
    Training t = {.model = model_of_set()};
    const Mask mask = mask_causal((int)integers("sizes")[9]);
    training_init(&t, &t.model, dim("ids", 0), dim("ids", 1));
    fill_pass(&t.pass);
    fill_model(&t.model, "parameters");
    training_loss(&t, mask);
    training_gradient(&t);
    close_model("gradient", &t.gradient, 2e-5, 1e-6);
    training_loss(&t, mask);
    training_gradient(&t);
    for (size_t i = 0; i < t.gradient.count; i++)
        t.gradient.memory[i] /= 2;
    close_model("gradient", &t.gradient, 2e-5, 1e-6);
    training_free(&t);
}

static void training_loss_test(void)
{
    Training t = {.model = model_of_set()};
    training_init(&t, &t.model, dim("ids", 0), dim("ids", 1));
    fill_pass(&t.pass);
    fill_model(&t.model, "parameters");
    const float loss =
        training_loss(&t, mask_causal((int)integers("sizes")[9]));
    agrees("loss", &loss, 1e-6, 0);
    agrees("logits", t.pass.logits, 1e-5, 2e-6);
    training_free(&t);
}

/* As for model_backward, called by itself with the logits' gradient. */
static void model_backward_test(void)
{
    Training t = {.model = model_of_set()};
    const int rows = dim("ids", 0) * dim("ids", 1);
    training_init(&t, &t.model, dim("ids", 0), dim("ids", 1));
    fill_pass(&t.pass);
    fill_model(&t.model, "parameters");
    training_loss(&t, mask_causal((int)integers("sizes")[9]));
    cross_entropy_backward(rows, t.model.vocabulary, (void *)t.pass.shares,
                           ints_of("target"), (void *)t.grad_pass.logits);
    model_backward(&t.model, &t.pass, &t.grad_pass, &t.gradient);
    close_model("gradient", &t.gradient, 2e-5, 1e-6);
    training_free(&t);
}

/* ---- A hundred steps beside PyTorch's. They are in float64; its own in
 * float32 stray from these as far as ours, see golden/generate.py. */
static void hundred_test(void)
{
    const int64_t *size = integers("sizes");
    const int is_repeated = !strcmp(sets_now, "repeated");
    const int n = (int)size[1], texts = (int)size[9];
    const int steps = (int)size[10], warm_up = (int)size[11];
    const double largest = doubles("rate")[0];
    const double *losses = doubles("losses");
    Training t = {.model = model_of_set()};
    Random r = seeded(123);
    training_init(&t, &t.model, texts, n);
    uniform_fill(&r, 1, (int)t.model.count, -0.25f, 0.25f,
                 (void *)t.model.memory);
    close_model("start", &t.model, 0, 0);
    for (int step = 1; step <= steps; step++) {
        for (int k = 0; k < texts; k++) {
            int *ids = t.pass.ids + k * n, *target = t.pass.targets + k * n;
            if (is_repeated)
                repeated_text(&r, ids, (void *)(t.pass.key_ids + 2 * k * n),
                              target);
            else
                agreement_text(random_below(&r, AGREEMENTS_TAUGHT), ids,
                               target);
        }
        if (!is_repeated)
            memcpy(t.pass.key_ids, t.pass.ids,
                   (size_t)(texts * n) * sizeof(int));
        const Adam how = {rate_at(step - 1, warm_up, steps, largest, 0),
                          0.9,
                          0.999,
                          1e-8,
                          0.01,
                          0};
        const float loss = training_step(&t, how, mask_causal(0));
        tap_near(tap_words("the loss of step %d", step), (double)loss,
                 losses[step - 1], step <= 10 ? 1e-5 : 1e-4, 0);
        if (step == 1)
            close_model("after_1", &t.model, 1e-5, 1e-6);
        if (step == 10)
            close_model("after_10", &t.model, 1e-5, 2e-6);
    }
    close_model("after_100", &t.model, 1e-4, 1e-5);
    same_bits("steps", t.step, steps);
    training_free(&t);
}

/* The losses that the chapter draws are PyTorch's. */
static void drawn_test(void)
{
    sets_now = "repeated";
    const double *losses = doubles("losses");
    for (int k = 0; k < 6; k++)
        tap_near("a loss", (double)pytorch_losses[k],
                 losses[k ? 20 * k - 1 : 0], 1e-6, 1e-8);
}

/* ---- Memory */

static const Model small = {
    .vocabulary = 3,
    .context_length = 2,
    .attention = {.d_x = 2, .d_y = 4, .n_heads = 2, .d_k = 3, .d_v = 1}};

static void memory_test(void)
{
    Model m = small;
    model_init(&m, &m);
    same_bits("count", (int64_t)m.count,
              3 * 2 + 2 * 4 + 2 * 6 + 4 * 6 + 4 * 2 + 2 * 3);
    tap_true("tokens come first", m.tokens == m.memory);
    tap_true("then places", m.places == m.tokens + 3 * 2);
    tap_true("then the attention",
             m.attention.query.weight == m.places + 2 * 4);
    same_bits("d_out", m.attention.d_out, 3);
    model_free(&m);
}

static void model_freed(void)
{
    Model m = small;
    model_init(&m, &m);
    tap_fill((int)m.count, m.memory, 1, 2);
    model_clear(&m);
    for (size_t i = 0; i < m.count; i++)
        tap_near("a parameter", m.memory[i], 0, 0, 0);
    model_free(&m);
    model_free(&m);
    tap_true("nothing is left", !m.memory && !m.tokens && !m.count);
}

static void pass_memory_test(void)
{
    Model m = small;
    Pass p;
    model_init(&m, &m);
    pass_init(&p, &m, 3, 2);
    same_bits("count", (int64_t)p.count, 3 * 2 * (2 + 4 + 3 + 3));
    Trace without_out;
    trace_init(&without_out,
               &(Trace){.n = 2, .m = 2, .n_heads = 2, .d_k = 3, .d_v = 1});
    for (int k = 0; k < 3; k++) {
        tap_true("the traces' outputs are the logits",
                 p.trace[k].out == p.logits + k * 2 * 3);
        same_bits("their own blocks have no room for them",
                  (int64_t)p.trace[k].count, (int64_t)without_out.count);
    }
    trace_free(&without_out);
    pass_free(&p);
    model_free(&m);
}

static void pass_freed(void)
{
    Model m = small;
    Pass p;
    model_init(&m, &m);
    pass_init(&p, &m, 3, 2);
    pass_free(&p);
    tap_true("nothing is left", !p.memory && !p.trace && !p.x);
    model_free(&m);
}

static void four_test(void)
{
    Training t = {.model = small};
    training_init(&t, &t.model, 2, 2);
    same_bits("steps", t.step, 0);
    const Model *const model[4] = {&t.model, &t.gradient, &t.mean,
                                   &t.square};
    for (int k = 0; k < 4; k++) {
        same_bits("count", (int64_t)model[k]->count,
                  (int64_t)t.model.count);
        for (int other = 0; other < k; other++)
            tap_true("each has its own memory",
                     model[k]->memory != model[other]->memory);
    }
    training_free(&t);
}

/* Again and again in little memory: all of it is given back. */
static void freed_test(void)
{
    tap_limit_memory(200);
    for (int k = 0; k < 40; k++) {
        Training t = {.model = small};
        t.model.vocabulary = 100000;
        training_init(&t, &t.model, 2, 2);
        training_free(&t);
        tap_true("nothing is left", !t.model.memory && !t.grad_pass.memory);
    }
}

static Model *model_with(int words, int length, int d_x, int d_y)
{
    static Model m;
    m = small;
    m.vocabulary = words;
    m.context_length = length;
    m.attention.d_x = d_x;
    m.attention.d_y = d_y;
    return &m;
}

static Pass *pass_of(int texts, int n)
{
    static Model m;
    static Pass p;
    m = small;
    model_init(&m, &m);
    pass_init(&p, &m, texts, n);
    return &p;
}

static Model *model_there(int words, int length, int d_x, int d_y)
{
    static Model m;
    model_free(&m);
    m = *model_with(words, length, d_x, d_y);
    model_init(&m, &m);
    return &m;
}

/* A pass and a gradient are those of the small model. */
static void refused_models(void)
{
    static Pass bare;
    bare = (Pass){.d_x = 2, .d_y = 4, .vocabulary = 3};
    REFUSES(
        "model.c: pass_check: a pass of d_x, d_y, vocabulary = 2, 4, 3: "
        "4, 8, 3 are needed",
        pass_check(model_there(3, 2, 4, 8), pass_of(3, 2)));
    REFUSES_SUCH("a pass for other d_y",
                 pass_check(model_there(3, 2, 2, 6), pass_of(3, 2)));
    REFUSES_SUCH("a pass for fewer words",
                 pass_check(model_there(4, 2, 2, 4), pass_of(3, 2)));
    REFUSES("model.c: pass_check: a model or a pass without tables: "
            "model_init and pass_init make room for them",
            pass_check(model_with(3, 2, 2, 4), pass_of(3, 2)));
    REFUSES_SUCH("a pass without tables",
                 pass_check(model_there(3, 2, 2, 4), &bare));
    REFUSES_SUCH("a pass of a narrower model",
                 model_forward(model_there(3, 2, 4, 8), mask_causal(0),
                               pass_of(3, 2)));
    Model m = small;
    Pass p;
    model_init(&m, &m);
    pass_init(&p, &m, 3, 2);
    REFUSES("model.c: model_gradient_check: a gradient of vocabulary, "
            "context_length = "
            "2, 2: 3 and 2 are needed",
            model_gradient_check(&m, &p, model_there(2, 2, 2, 4), &p));
    REFUSES_SUCH("a gradient for shorter texts",
                 model_gradient_check(&m, &p, model_there(3, 1, 2, 4), &p));
    REFUSES_SUCH("a gradient of other d_y",
                 model_gradient_check(&m, &p, model_there(3, 2, 2, 6), &p));
    REFUSES_SUCH(
        "a pass of a narrower model",
        model_backward(model_there(3, 2, 4, 8), pass_of(3, 2), &p, &m));
    Pass wide, fewer, shorter;
    pass_init(&wide, model_there(3, 2, 4, 8), 3, 2);
    pass_init(&fewer, &m, 2, 2);
    pass_init(&shorter, &m, 3, 1);
    REFUSES("model.c: model_gradient_check: gradients of 2 texts of 2 "
            "tokens, of a pass of 3 of 2: the same are needed",
            model_backward(&m, &p, &fewer, &m));
    REFUSES_SUCH("gradients of shorter texts",
                 model_backward(&m, &p, &shorter, &m));
    pass_free(&fewer);
    pass_free(&shorter);
    REFUSES_SUCH("a pass of a wider model",
                 model_backward(&m, &wide, &p, &m));
    REFUSES_SUCH("gradients of a wider model",
                 model_backward(&m, &p, &wide, &m));
    REFUSES_SUCH(
        "a gradient of fewer words",
        model_backward(&m, &p, pass_of(3, 2), model_there(2, 2, 2, 4)));
    REFUSES_SUCH(
        "a gradient for shorter texts",
        model_backward(&m, &p, pass_of(3, 2), model_there(3, 1, 2, 4)));
    pass_free(&wide);
    pass_free(&p);
    model_free(&m);
}

static void refusals(void)
{
    static volatile int none = 0, less = -1;
    static int ids[AGREEMENT_LENGTH], target[AGREEMENT_LENGTH];
    REFUSES(NULL, random_below(some_draws(), none));
    REFUSES(NULL, random_below(some_draws(), less));
    REFUSES(NULL, agreement_text(less, ids, target));
    REFUSES(NULL, agreement_text(AGREEMENTS, ids, target));
    REFUSES(NULL, agreement_nouns_differ(less));
    REFUSES(NULL, model_init(&(Model){0}, model_with(none, 2, 2, 4)));
    REFUSES(NULL, model_init(&(Model){0}, model_with(3, none, 2, 4)));
    REFUSES(NULL, model_init(&(Model){0}, model_with(3, 2, none, 4)));
    REFUSES(NULL, model_init(&(Model){0}, model_with(3, 2, 2, 5)));
    REFUSES(NULL, model_init(&(Model){0}, model_with(3, 2, 2, none)));
    REFUSES(NULL, pass_of(none, 2));
    REFUSES(NULL, pass_of(2, none));
}

int main(void)
{
    EACH("random_below", below_test, "below_*-drawn");
    EACH("shuffle", shuffle_test, "order_*-drawn");
    TAP(draws_test, "shuffle: no draw for the last place");
    SETS("repeated_text", texts_test, "texts");
    SETS("agreement_text", sentences_test, "sentences");
    TAP(differ_test, "agreement_nouns_differ: one and many");
    EACH("model_forward", forward_test, "*-parameters");
    EACH("model_backward", model_backward_test, "*-parameters");
    EACH("training_gradient", backward_test, "*-parameters");
    SETS("training_step", hundred_test, "repeated", "agreement");
    TAP(drawn_test, "pytorch_losses: those of the golden file");
    TAP(memory_test, "model_init: tables one behind the other");
    TAP(model_freed, "model_clear: everything is 0");
    TAP(model_freed, "model_free: nothing is left");
    TAP(pass_memory_test, "pass_init: logits in one table");
    TAP(pass_freed, "pass_free: nothing is left");
    TAP(four_test, "training_init: four of a kind");
    TAP(freed_test, "training_free: all is given back");
    EACH("training_loss", training_loss_test, "*-parameters");
    refusals();
    refused_models();
    return tap_done();
}
