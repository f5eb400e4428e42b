/* Chapter 6 against PyTorch: golden/06_learning. */
#define CHAPTER "06_learning"
#include "golden.h"
#include "attention/06_learning.h"

#define EXAMPLES(set)                                                      \
    dim(set, "example", 0), input(set, "example"), input(set, "right")

static float *parameters_of(const char *set)
{
    return guarded_copy("parameter", HEAD_COUNT,
                        input_as(set, "parameter", "parameter"));
}

static void loss_test(const char *set)
{
    const float *parameter = input(set, "parameter");
    const float(*example)[3][HEAD_D] = input(set, "example");
    for (int i = 0; i < dim(set, "example", 0); i++) {
        float weights[3];
        const float answer = head_answer(parameter, example[i], 1, weights);
        expect_entry("answer", &answer, set, "answer", i, SUMS);
        expect_entry("weights", weights, set, "weights", i, SHARES);
    }
    expect_near("loss", head_loss(EXAMPLES(set), parameter),
                golden_number(set, "loss"), SUMS);
}

static void gradient_test(const char *set)
{
    float *parameter = parameters_of(set);
    numerical_gradient(EXAMPLES(set), 0.01f, parameter,
                       due(set, "gradient", 0, 1e-4));
    expect_true("the parameters are as they were",
                !memcmp(parameter, golden_floats(set, "parameter"),
                        HEAD_COUNT * sizeof *parameter));
}

static void descent_test(const char *set)
{
    float *parameter = parameters_of(set);
    const int steps = (int)golden_number(set, "steps");
    const float rate = (float)golden_number(set, "rate");
    given("nudge = 0.01, rate = %g, steps = %d", (double)rate, steps);
    descend(EXAMPLES(set), 0.01f, rate, steps, parameter,
            due(set, "last", 0, 5e-4));
    expect_close("parameter", parameter, golden(set, "after"), 0, 5e-4);
}

static void no_step(void)
{
    float *parameter = parameters_of("head_six"), gradient[HEAD_COUNT];
    descend(EXAMPLES("head_six"), 0.01f, 0.25f, 0, parameter, gradient);
    expect_true("no step is taken",
                !memcmp(parameter, golden_floats("head_six", "parameter"),
                        HEAD_COUNT * sizeof *parameter));
}

int main(void)
{
    float some[HEAD_COUNT] = {1, 2, 3}, gradient[HEAD_COUNT];
    const float example[1][3][HEAD_D] = {{{0}}};
    EACH_SET("mean_squared_error", "mse*-answer",
             expect_near("loss",
                         mean_squared_error(dim(set, "answer", 0),
                                            input(set, "answer"),
                                            input(set, "right")),
                         golden_number(set, "loss"), SUMS));
    EACH_SET("head_answer, head_loss", "head*-parameter", loss_test(set));
    EACH_SET("numerical_gradient", "head*-parameter", gradient_test(set));
    EACH_SET("descend", "head*-parameter", descent_test(set));
    TAP("descend: no step", no_step());
    REFUSES(NULL, mean_squared_error(0, some, some));
    REFUSES("06_learning.c: head_loss: 0 sentences: at least 1 is needed",
            head_loss(0, example, some, some));
    REFUSES(NULL, numerical_gradient(1, example, some, 0, some, gradient));
    REFUSES(NULL,
            numerical_gradient(1, example, some, NAN, some, gradient));
    REFUSES(NULL, descend(1, example, some, -1, 1, 1, some, gradient));
    return tap_done();
}
