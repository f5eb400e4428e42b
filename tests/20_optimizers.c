/* Chapter 20 against PyTorch: golden/20_optimizers. */
#define CHAPTER "20_optimizers"
#include "traces.h"
#include "gradients.h"
#include "attention/20_optimizers.h"
#include "attention/adam_check.h"

/* ---- The loss */

static int *told_targets(int n)
{
    int *target = ints_of("target");
    give_ints("target", n, target);
    return target;
}

static void loss_test(void)
{
    const int n = dim("logits", 0), classes = dim("logits", 1);
    float *shares = result("shares");
    const float *logits = input("logits");
    const int *target = told_targets(n);
    const float loss =
        cross_entropy(n, classes, (void *)logits, target, (void *)shares);
    agrees("loss", &loss, 1e-6, 1e-7);
    agrees("shares", shares, 3e-6, 1e-7);
}

/* However far one logit is above the others. */
static void loud_test(void)
{
    for (int k = 0; k < 3; k++) {
        float logits[1][3] = {{0}}, shares[1][3];
        logits[0][k] = 1000;
        tap_near("loss", cross_entropy(1, 3, logits, &k, shares), 0, 0, 0);
    }
}

static void loss_backward_test(void)
{
    const int n = dim("shares", 0), classes = dim("shares", 1);
    float *g = begins("g_logits");
    const float *shares = input("shares");
    const int *target = told_targets(n);
    cross_entropy_backward(n, classes, (void *)shares, target, (void *)g);
    adds_up("g_logits", g, 1e-6, 1e-7);
}

/* ---- Steps */

/* Ends are what they are, however far they are apart. */
static void lerp_test(void)
{
    give("from, to = 2 and 6; 1e8 and 1; 1 and 1e8");
    tap_near("a quarter of the way", (double)lerp(2, 6, 0.25f), 3, 0, 0);
    tap_near("half of the way", (double)lerp(2, 6, 0.5f), 4, 0, 0);
    tap_near("none of the way", (double)lerp(1, 1e8f, 0), 1, 0, 0);
    tap_near("all of the way", (double)lerp(1e8f, 1, 1), 1, 0, 0);
}

static Adam adam_of_set(int is_coupled)
{
    const double *how = doubles("how");
    const Adam adam = {how[0], how[3], how[4], how[1], how[2], is_coupled};
    give("how: rate = %g, beta_1 = %g, beta_2 = %g, epsilon = %g, "
         "decay = %g, is_coupled = %d",
         adam.learning_rate, adam.beta_1, adam.beta_2, adam.epsilon,
         adam.decay, is_coupled);
    return adam;
}

static float *copy_of(const char *what, const char *from)
{
    const Tensor *tensor = part(from);
    float *x = room_for(what, tensor->count);
    memcpy(x, tensor_floats(tensor), tensor->count * sizeof *x);
    return x;
}

/* The set's steps, each from where the last one led. */
static void steps_test(void)
{
    const int steps = dim("gradients", 0);
    const size_t n = part("start")->count;
    const bool is_sgd = !strncmp(sets_now, "sgd", 3);
    const double *how = doubles("how");
    const Adam adam = is_sgd
                          ? (Adam){0}
                          : adam_of_set(strncmp(sets_now, "adamw", 5) != 0);
    float *mean = zeros(is_sgd ? "velocity" : "mean", n),
          *square = zeros("square", n);
    float *parameter = copy_of("parameter", "start");
    const float *gradients = floats(part("gradients"));
    if (is_sgd)
        give("rate = %g, momentum = %g, decay = %g", how[0], how[1],
             how[2]);
    else
        give("step = 1, and then up to %d", steps);
    give_list("gradient", (int)n, gradients);
    give_list("parameter", (int)n, floats(part("start")));
    for (int k = 0; k < steps; k++) {
        const float *gradient = gradients + (size_t)k * n;
        if (is_sgd)
            sgd_step(how[0], how[1], how[2], n, gradient, mean, parameter);
        else
            adam_step(adam, k + 1, n, gradient, mean, square, parameter);
        close_entry(tap_words("parameter, after step %d", k + 1), "after",
                    k, parameter, 2e-6, 2e-6);
    }
    if (is_sgd && how[1] > 0)
        agrees("momentum_buffer", mean, 1e-5, 1e-6);
    if (!is_sgd) {
        agrees("exp_avg", mean, 1e-5, 1e-7);
        agrees("exp_avg_sq", square, 1e-5, 1e-7);
    }
}

static void clip_test(void)
{
    float *gradient = copy_of("clipped", "gradient");
    give_list("gradient", (int)part("gradient")->count,
              floats(part("gradient")));
    const double most = number("most", "most");
    const double length =
        clip_norm(most, part("gradient")->count, gradient);
    tap_near("the length", length, doubles("length")[0], 1e-9, 1e-15);
    agrees("clipped", gradient, 1e-6, 1e-15);
}

/* What is short stays. What is not finite is noticed, and goes no further than it
 * must. */
static void clip_strange(void)
{
    float small[2] = {0.6f, -0.3f};
    float none[2] = {NAN, 1}, much[3] = {INFINITY, 1, -2};
    give("gradient = {NAN, 1}");
    clip_norm(1, 2, small);
    same("short enough, and not lengthened", 2, small,
         ((float[]){0.6f, -0.3f}));
    tap_near("the length", clip_norm(1, 2, none), NAN, 0, 0);
    same("gradient", 2, none, ((float[]){NAN, NAN}));
    next_case();
    give("gradient = {INFINITY, 1, -2}");
    tap_near("the length", clip_norm(1, 3, much), INFINITY, 0, 0);
    same("gradient", 3, much, ((float[]){NAN, 0, -0.0f}));
}

static void rate_test(void)
{
    const int64_t *setting = integers("settings");
    const int warm_up = (int)setting[0], steps = (int)setting[1];
    const double *ends = doubles("ends"), *rates = doubles("rates");
    for (int step = 0; step <= steps; step++) {
        next_case();
        give("step = %d, warm_up = %d, steps = %d, largest = %g, "
             "least = %g",
             step, warm_up, steps, ends[0], ends[1]);
        tap_near("the rate",
                 rate_at(step, warm_up, steps, ends[0], ends[1]),
                 rates[step], 1e-9, 1e-15);
    }
}

static void rate_beyond(void)
{
    give("step = 7, and then 1000; warm_up = 2, steps = 6, largest = 4, "
         "least = 1");
    tap_near("the rate of step 7", rate_at(7, 2, 6, 4, 1), 1, 0, 1e-12);
    tap_near("the rate of step 1000", rate_at(1000, 2, 6, 4, 1), 1, 0,
             1e-12);
}

/* A step with something wrong in it, and its refusal. */
static const struct {
    const char *words, *line;
    int step;
    Adam how;
} wrong[] = {
    {"step 0",
     "adam_check: step 0: 1 or more is needed",
     0,
     {1, 0.9, 0.999, 1e-8, 0.1, 0}},
    {"step -1", NULL, -1, {1, 0.9, 0.999, 1e-8, 0.1, 0}},
    {"a beta_1 of 1",
     "adam_check: beta_1, beta_2 = 1, 0.999: from 0 to below 1 are needed",
     1,
     {1, 1, 0.999, 1e-8, 0.1, 0}},
    {"a beta_1 below 0", NULL, 1, {1, -0.1, 0.999, 1e-8, 0.1, 0}},
    {"a beta_2 of 1", NULL, 1, {1, 0.9, 1, 1e-8, 0.1, 0}},
    {"a beta_2 below 0", NULL, 1, {1, 0.9, -0.1, 1e-8, 0.1, 0}},
    {"a beta_2 that is no number", NULL, 1, {1, 0.9, NAN, 1e-8, 0.1, 0}},
    {"a rate below 0",
     "adam_check: learning_rate, epsilon, decay = -1, 1e-08, 0.1: at least "
     "0 of each is needed",
     1,
     {-1, 0.9, 0.999, 1e-8, 0.1, 0}},
    {"an epsilon below 0", NULL, 1, {1, 0.9, 0.999, -1e-8, 0.1, 0}},
    {"a decay below 0", NULL, 1, {1, 0.9, 0.999, 1e-8, -0.1, 0}},
};

static void zeros_fit(void)
{
    adam_check((Adam){0}, 1);
    tap_true("it goes on", true);
}

static void refusals(void)
{
    /* volatile, or else the compiler sees what is wrong and warns. */
    static volatile int none = 0, less = -1;
    static const int beyond[2] = {0, 3}, below[1] = {-1};
    static float two[2][3], three[3] = {1, 2, 3};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        TAP_REFUSES("adam_step", wrong[k].words, wrong[k].line,
                    adam_step(wrong[k].how, wrong[k].step, 3, three, three,
                              three, three));
    REFUSES("20_optimizers.c: cross_entropy: target 1 is 3: 0 to 2, or "
            "IGNORED, is needed",
            cross_entropy(2, 3, (const void *)two, beyond, two));
    REFUSES(NULL, cross_entropy(1, 3, (const void *)two, below, two));
    REFUSES(NULL, clip_norm(none, 3, three));
    REFUSES(NULL, clip_norm((double)NAN, 3, three));
    REFUSES_SUCH("step -1", rate_at(less, 2, 5, 1, 0));
    REFUSES_SUCH("fewer than 0 steps to warm up",
                 rate_at(0, less, 5, 1, 0));
    REFUSES_SUCH("as many steps to warm up as there are",
                 rate_at(0, 5, 5, 1, 0));
}

int main(void)
{
    EACH("cross_entropy", loss_test, "*-g_logits");
    TAP(loud_test, "cross_entropy: one logit far above the others");
    EACH("cross_entropy_backward", loss_backward_test, "*-g_logits");
    adds("cross_entropy_backward", loss_backward_test, "ignored");
    TAP(lerp_test, "lerp: from the nearer end");
    EACH("adam_step", steps_test, "*-exp_avg");
    EACH("clip_norm", clip_test, "*-clipped");
    TAP(clip_strange, "clip_norm: what is short, and what is not finite");
    EACH("rate_at", rate_test, "*-rates");
    TAP(rate_beyond, "rate_at: after the last step");
    EACH("sgd_step", steps_test, "sgd*-after");
    TAP(zeros_fit, "adam_check: zeros are no mistake");
    refusals();
    return tap_done();
}
