/* Chapter 20 against PyTorch: golden/20_optimizers. */
#define CHAPTER "20_optimizers"
#include "golden.h"
#include "attention/20_optimizers.h"
#include "attention/adam_check.h"

/* ---- The loss */

static void loss_test(const char *set)
{
    const float loss = cross_entropy(
        SHAPE(set, "logits"), input(set, "logits"),
        input_ints(set, "target", "target"), due(set, "shares", SHARES));
    expect_close("loss", &loss, golden(set, "loss"), 1e-6, 1e-7);
}

static void loss_backward_test(const char *set, float start)
{
    cross_entropy_backward(SHAPE(set, "shares"), input(set, "shares"),
                           input_ints(set, "target", "target"),
                           added(set, "g_logits", start, 1e-6, 1e-7));
}

/* ---- Steps */

/* The set's steps, each from where the last one led. */
static void adam_test(const char *set)
{
    const int n = (int)golden_count(set, "start");
    const double *how = golden_doubles(set, "how");
    const Adam adam = {how[0], how[3], how[4],
                       how[1], how[2], strncmp(set, "adamw", 5) != 0};
    float *mean = added(set, "exp_avg", 0, 1e-5, 1e-7);
    float *square = added(set, "exp_avg_sq", 0, 1e-5, 1e-7);
    given("how: rate = %g, beta_1 = %g, beta_2 = %g, epsilon = %g, decay = "
          "%g, is_coupled = %d",
          adam.learning_rate, adam.beta_1, adam.beta_2, adam.epsilon,
          adam.decay, adam.is_coupled);
    given("step = 1, and then up to %d", dim(set, "gradients", 0));
    const float *gradients = golden_floats(set, "gradients");
    float *parameter = guarded_copy("parameter", (size_t)n,
                                    input_as(set, "start", "parameter"));
    given_array("gradient", gradients, n);
    for (int k = 0; k < dim(set, "gradients", 0); k++) {
        adam_step(adam, k + 1, (size_t)n, gradients + k * n, mean, square,
                  parameter);
        expect_entry(tap_words("parameter, after step %d", k + 1),
                     parameter, set, "after", k, 2e-6, 2e-6);
    }
}

static void sgd_test(const char *set)
{
    const int n = (int)golden_count(set, "start");
    const double *how = golden_doubles(set, "how");
    float *velocity = how[1] > 0
                          ? added(set, "momentum_buffer", 0, 1e-5, 1e-6)
                          : guarded_filled("velocity", (size_t)n, 0);
    given("rate = %g, momentum = %g, decay = %g", how[0], how[1], how[2]);
    const float *gradients = golden_floats(set, "gradients");
    float *parameter = guarded_copy("parameter", (size_t)n,
                                    input_as(set, "start", "parameter"));
    given_array("gradient", gradients, n);
    for (int k = 0; k < dim(set, "gradients", 0); k++) {
        sgd_step(how[0], how[1], how[2], (size_t)n, gradients + k * n,
                 velocity, parameter);
        expect_entry(tap_words("parameter, after step %d", k + 1),
                     parameter, set, "after", k, 2e-6, 2e-6);
    }
}

static void clip_test(const char *set)
{
    const double length = clip_norm(
        input_number(set, "most", "most"), golden_count(set, "gradient"),
        changed(set, "gradient", "clipped", 1e-6, 1e-15));
    expect_near("the length", length, golden_number(set, "length"), 1e-9,
                1e-15);
}

/* What is short stays. What is not finite is noticed, and goes no further
 * than it must. */
static void clip_strange(void)
{
    float small[2] = {0.6f, -0.3f};
    float none[2] = {NAN, 1}, much[3] = {INFINITY, 1, -2};
    given("gradient = {NAN, 1}");
    clip_norm(1, 2, small);
    expect_list("short enough, and not lengthened", 2, small,
                ((float[]){0.6f, -0.3f}), EXACTLY);
    expect_equal("the length", clip_norm(1, 2, none), NAN);
    expect_list("gradient", 2, none, ((float[]){NAN, NAN}), EXACTLY);
    next_case();
    given("gradient = {INFINITY, 1, -2}");
    expect_equal("the length", clip_norm(1, 3, much), INFINITY);
    expect_list("gradient", 3, much, ((float[]){NAN, 0, -0.0f}), EXACTLY);
}

/* After the last step it is the least. */
static void rate_test(const char *set)
{
    const int64_t *setting = golden_integers(set, "settings");
    const int warm_up = (int)setting[0], steps = (int)setting[1];
    const double *ends = golden_doubles(set, "ends"),
                 *rates = golden_doubles(set, "rates");
    for (int step = 0; step <= 2 * steps; step++) {
        next_case();
        given(
            "step = %d, warm_up = %d, steps = %d, largest = %g, least = %g",
            step, warm_up, steps, ends[0], ends[1]);
        expect_near("the rate",
                    rate_at(step, warm_up, steps, ends[0], ends[1]),
                    step <= steps ? rates[step] : ends[1], 1e-9, 1e-15);
    }
}

/* A step of which one number is wrong, and its refusal. */
static Adam how = {1, 0.9, 0.999, 1e-8, 0.1, 0};
static const struct {
    const char *words, *line;
    double *number, value;
} wrong[] = {
    {"a beta_1 of 1",
     "adam_check: beta_1, beta_2 = 1, 0.999: from 0 to below 1 are needed",
     &how.beta_1, 1},
    {"a beta_1 below 0", NULL, &how.beta_1, -0.1},
    {"a beta_2 of 1", NULL, &how.beta_2, 1},
    {"a beta_2 below 0", NULL, &how.beta_2, -0.1},
    {"a beta_2 that is no number", NULL, &how.beta_2, NAN},
    {"a rate below 0",
     "adam_check: learning_rate, epsilon, decay = -1, 1e-08, 0.1: at least "
     "0 of each is needed",
     &how.learning_rate, -1},
    {"an epsilon below 0", NULL, &how.epsilon, -1e-8},
    {"a decay below 0", NULL, &how.decay, -0.1},
};

static void refusals(void)
{
    /* volatile, or else the compiler sees what is wrong and warns. */
    static volatile int none = 0, less = -1;
    static const int beyond[2] = {0, 3}, below[1] = {-1};
    static float two[2][3], three[3] = {1, 2, 3};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        TAP_REFUSES("adam_step", wrong[k].words, wrong[k].line,
                    *wrong[k].number = wrong[k].value;
                    adam_step(how, 1, 3, three, three, three, three));
    TAP_REFUSES("adam_step", "step 0",
                "adam_check: step 0: 1 or more is needed",
                adam_step(how, none, 3, three, three, three, three));
    REFUSES_SUCH("step -1",
                 adam_step(how, less, 3, three, three, three, three));
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
    EACH_SET("cross_entropy", "*-g_logits", loss_test(set));
    ADDS("cross_entropy_backward", "*-g_logits", "ignored",
         loss_backward_test);
    /* Ends are what they are, however far they are apart. */
    TAP("lerp: from the nearer end",
        given("from, to = 2 and 6; 1e8 and 1; 1 and 1e8"),
        expect_equal("a quarter of the way", lerp(2, 6, 0.25f), 3),
        expect_equal("half of the way", lerp(2, 6, 0.5f), 4),
        expect_equal("none of the way", lerp(1, 1e8f, 0), 1),
        expect_equal("all of the way", lerp(1e8f, 1, 1), 1));
    EACH_SET("adam_step", "*-exp_avg", adam_test(set));
    EACH_SET("clip_norm", "*-clipped", clip_test(set));
    TAP("clip_norm: what is short, and what is not finite", clip_strange());
    EACH_SET("rate_at", "*-rates", rate_test(set));
    EACH_SET("sgd_step", "sgd*-after", sgd_test(set));
    TAP("adam_check: zeros are no mistake", adam_check((Adam){0}, 1);
        expect_true("it goes on", true));
    refusals();
    return tap_done();
}
