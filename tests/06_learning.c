/* Chapter 6 against PyTorch: golden/06_learning. */
#define CHAPTER "06_learning"
#include "golden.h"
#include "attention/03_qkv.h"
#include "attention/04_scaling.h"
#include "attention/06_learning.h"
#include "support/memory.h"

/* The set whose loss is asked for. */
static const char *asked;

static float head_loss(const float parameter[20])
{
    const int n = dim(asked, "example", 0);
    const float(*x)[4] = (const void *)golden_floats(asked, "example");
    float answer[16];
    for (int i = 0; i < n; i++) {
        float query[3][2], key[3][2], value[3][1], scores[3], weights[3];
        project_qkv(3, 4, 2, 1, x + 3 * i, ROWS(2, parameter),
                    ROWS(2, parameter + 8), ROWS(1, parameter + 16), query,
                    key, value);
        attention(1, 3, 2, 1, &query[1], key, value, &scores, &weights,
                  ROWS(1, &answer[i]));
    }
    return mean_squared_error(n, answer, golden_floats(asked, "right"));
}

/* Its slopes are 2 (p - 1), 2 (p - 2) and so on, by any nudge. */
static float bowl(const float parameter[3])
{
    float sum = 0;
    for (int i = 0; i < 3; i++) {
        const float off_by = parameter[i] - (float)(i + 1);
        sum += off_by * off_by;
    }
    return sum;
}

static float *parameters_of(const char *set)
{
    asked = set;
    return guarded_copy("parameter", 20,
                        input_as(set, "parameter", "parameter"));
}

static void gradient_test(const char *set)
{
    float *parameter = parameters_of(set);
    numerical_gradient(20, head_loss, 0.01f, parameter,
                       due(set, "gradient", 0, 1e-4));
    expect_true("the parameters are as they were",
                !memcmp(parameter, golden_floats(set, "parameter"),
                        20 * sizeof *parameter));
}

static void descent_test(const char *set)
{
    float *parameter = parameters_of(set);
    const int steps = (int)golden_number(set, "steps");
    descend(20, head_loss, 0.01f, (float)golden_number(set, "rate"), steps,
            parameter, due(set, "last", 0, 5e-4));
    expect_close("parameter", parameter, golden(set, "after"), 0, 5e-4);
}

static void bowl_test(void)
{
    float parameter[3] = {0.1f, 5, -2}, gradient[3];
    const float slopes[3] = {-1.8f, 6, -10};
    numerical_gradient(3, bowl, 0.5f, parameter, gradient);
    for (int i = 0; i < 3; i++)
        expect_near("slope", gradient[i], slopes[i], 0, 1e-4);
    descend(3, bowl, 0.5f, 0.25f, 0, parameter, gradient);
    expect_equal("no step", parameter[1], 5);
    descend(3, bowl, 0.5f, 0.25f, 1, parameter, gradient);
    expect_near("one step", parameter[1], 3.5, 0, 1e-4);
    descend(3, bowl, 0.5f, 0.25f, 30, parameter, gradient);
    for (int i = 0; i < 3; i++)
        expect_near("the lowest", parameter[i], i + 1, 0, 1e-4);
}

int main(void)
{
    float some[3] = {1, 2, 3}, gradient[3];
    EACH_SET("mean_squared_error", "mse*-answer",
             expect_near("loss",
                         mean_squared_error(dim(set, "answer", 0),
                                            input(set, "answer"),
                                            input(set, "right")),
                         golden_number(set, "loss"), SUMS));
    EACH_SET("numerical_gradient", "head*-parameter", gradient_test(set));
    EACH_SET("descend", "head*-parameter", descent_test(set));
    TAP("numerical_gradient, descend: a bowl", bowl_test());
    REFUSES("06_learning.c: mean_squared_error: 0 answers: at least 1 is "
            "needed",
            mean_squared_error(0, some, some));
    REFUSES("06_learning.c: numerical_gradient: the nudge is 0; it must be "
            "above 0",
            numerical_gradient(3, bowl, 0, some, gradient));
    REFUSES(NULL, numerical_gradient(3, bowl, NAN, some, gradient));
    REFUSES(NULL, descend(3, bowl, -1, 1, 1, some, gradient));
    return tap_done();
}
