/*
# Cross-entropy and Adam: loss and optimizer {#optimizers}

![The way from words to attention. The shaded steps have parameters, and an
optimizer moves these](pipeline.svg){#fig-optimizers-pipeline}

We have a gradient: [](#backward) says of every parameter by how much a loss
grows with it, and [](#flash-backward) says so fast. Two things are missing
before a model can learn from text. We have no loss for an answer that is a
word. And a gradient says which way a parameter should go, but not how far.

So this chapter has one idea in three parts. A loss says how wrong an answer
is. The gradient of the loss says which way each parameter should go. An
**optimizer** says how far each parameter goes in a step. There is no model
yet. The parameters that move here are four numbers, few enough to be
followed by hand.
*/

#include "attention/20_optimizers.h"
#include "attention/02_softmax.h"
#include "attention/adam_check.h"
#include "support.h"

/*
## Cross-entropy: how wrong an answer is {#optimizers-loss}

The last layer of a language model gives a number for each word that it
knows: the **logits**. Softmax makes shares of them, and the share of the
right word should be 1. So let the loss be minus the logarithm of that
share, and its mean over all answers of a batch: the **cross-entropy**. With
the logits $z$ of an answer whose right word is $t$:

$$-\ln \frac{e^{z_t}}{\sum_j e^{z_j}} = \ln \sum_j e^{z_j} - z_t$$

No share stands on the right side. That matters, since a share may be so
small that a float can hold it only as 0, and the logarithm of 0 is minus
infinity. The logarithm of the sum is computed as in [](#flash-log-sum): the
largest logit is taken out first.
*/

static double log_sum_exp(int n, const float x[n])
{
    double largest = (double)x[0], sum = 0;
    for (int j = 1; j < n; j++)
        largest = fmax(largest, (double)x[j]);
    for (int j = 0; j < n; j++)
        sum += exp((double)x[j] - largest);
    return largest + log(sum);
}

/*
Not every position of a text has an answer worth asking for. A target that
is `IGNORED` adds nothing to the sum, and is not counted when the mean is
taken.
*/

float cross_entropy(int n, int classes, const float logits[n][classes],
                    const int target[n], float shares[n][classes])
{
    int count = 0;
    double sum = 0;
    softmax_rows(n, classes, logits, shares);
    for (int i = 0; i < n; i++) {
        if (target[i] == IGNORED)
            continue;
        if (target[i] < 0 || target[i] >= classes)
            REFUSE("target %d is %d: 0 to %d, or IGNORED, is needed", i,
                   target[i], classes - 1);
        sum +=
            log_sum_exp(classes, logits[i]) - (double)logits[i][target[i]];
        count++;
    }
    return (float)(sum / count);
}

/*
How does the loss change with a logit? Raise $z_j$ by a small $s$. Let $p_j$
be the share of word $j$. The sum of all exponentials becomes nearly $1 +
p_j s$ times as large ([](#backward-softmax)), so the logarithm of the sum
grows by nearly $p_j s$. If $j$ is the right word, $z_t$ has grown by $s$ as
well, and the loss loses $s$. So the slope of a wrong word's logit is the
word's share, and the slope of the right word's logit is its share minus
1. Training pushes a wrong word down by its share, and the right word up by
what its share lacks to 1. So an answer that is nearly right moves the model
little, and one that is quite wrong moves it most.

**Exercise 20.1** (★★, 3 points): `cross_entropy_backward`. Add the slope of
each logit to `grad_logits`. The loss is a mean over the targets that are
not `IGNORED`. Nothing is added to a row whose target is `IGNORED`, since
the loss does not depend at all on the logits of such a row.

::: hint
The loss divides by the number of targets that are not `IGNORED`. How large
is the part of one row in it?
:::

::: hint
First count these targets. Then each of their rows has its shares, of which
one is less by 1.
:::

::: done
With this line all learning of a language model begins: each word's share,
less 1 for the right one.
:::
*/

void cross_entropy_backward(int n, int classes,
                            const float shares[n][classes],
                            const int target[n],
                            float grad_logits[n][classes])
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += target[i] != IGNORED;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < classes && target[i] != IGNORED; j++)
            grad_logits[i][j] +=
                (shares[i][j] - (float)(j == target[i])) / (float)count;
}

/* folded: how this is printed */
static void show_slopes(void)
{
    const float logits[1][4] = {{2, 1, 0, -1}};
    const int second = 1;
    float shares[1][4], losses[4], slopes[1][4] = {{0}}, tried[4];
    for (int j = 0; j < 4; j++)
        losses[j] = cross_entropy(1, 4, logits, &j, shares);
    print_vector("shares for the logits 2, 1, 0, -1", 4, shares[0]);
    print_vector("loss if the first is right, the second, ...", 4, losses);
    cross_entropy_backward(1, 4, shares, &second, slopes);
    print_vector("slopes if the second is right", 4, slopes[0]);
    for (int j = 0; j < 4; j++) {
        float moved[1][4];
        memcpy(moved, logits, sizeof moved);
        moved[0][j] = logits[0][j] + 0.01f;
        const float above = cross_entropy(1, 4, moved, &second, shares);
        moved[0][j] = logits[0][j] - 0.01f;
        tried[j] =
            (above - cross_entropy(1, 4, moved, &second, shares)) / 0.02f;
    }
    print_vector("the same, by trying", 4, tried);
}

static void show_ignored(void)
{
    const float far[1][2] = {{0, 200}};
    const float logits[3][4] = {{2, 1, 0, -1}, {0, 0, 0, 5}, {2, 1, 0, -1}};
    const int target[3] = {1, IGNORED, 0}, none = IGNORED, first = 0;
    float shares[3][4], slopes[3][4] = {{0}}, share[1][2];
    softmax(2, far[0], share[0]);
    print_value("of logits 0 and 200, the logarithm of the first's share",
                logf(share[0][0]));
    print_value("cross_entropy, if the first is right",
                cross_entropy(1, 2, far, &first, share));
    print_value("loss of three answers, the second ignored",
                cross_entropy(3, 4, logits, target, shares));
    cross_entropy_backward(3, 4, shares, target, slopes);
    print_matrix("its slopes", 3, 4, slopes);
    print_value("loss of nothing",
                cross_entropy(1, 4, logits, &none, shares));
}

/*
``` output
shares for the logits 2, 1, 0, -1 (4)
[0.6439, 0.2369, 0.0871, 0.0321]
loss if the first is right, the second, ... (4)
[0.4402, 1.4402, 2.4402, 3.4402]
slopes if the second is right (4)
[ 0.6439, -0.7631,  0.0871,  0.0321]
the same, by trying (4)
[ 0.6439, -0.7631,  0.0871,  0.0321]
of logits 0 and 200, the logarithm of the first's share: -inf
cross_entropy, if the first is right: 200.0000
loss of three answers, the second ignored: 0.9402
its slopes (3, 4)
[[ 0.3220, -0.3816,  0.0436,  0.0160],
 [ 0.0000,  0.0000,  0.0000,  0.0000],
 [-0.1780,  0.1184,  0.0436,  0.0160]]
loss of nothing: nan
```

The slopes of one answer add up to 0: what one word gains, others lose. The
loss of three answers, one of them ignored, is the mean of the other two. If
the sum were divided by 3, each ignored answer would make the loss smaller.
If all answers are ignored, the mean is 0 divided by 0, which is `nan`, as
in PyTorch, and all slopes are 0.

::: question
A model knows four words and nothing else: it gives each the same share.
What is its loss, and what are the slopes?

Each share is a quarter, so the loss is $-\ln(1/4) = \ln(4)$. The slope of
each wrong word's logit is a quarter. The slope of the right word's logit is
a quarter minus 1, which is minus three quarters. In general, a model that
knows nothing has a loss of $\ln$ of the number of words, and a training
should begin near this loss.
:::

## Descent and Adam: how far to go {#optimizers-step}

[](#self-attention-training) has moved each parameter, against its slope, by
the slope times one number, the **learning rate**. This method is **gradient
descent**. It has two weaknesses. First, the slopes of two parameters can
differ by a factor of thousands: a rate that is right for one parameter lets
another one leap or stand still. Second, the gradient of a batch comes from
a few texts. The next batch has another one, so the steps go to and fro.

**Adam** answers both [@kingma2015]. For each parameter it keeps two running
means: $m$, the mean of its slopes, and $v$, the mean of their squares. In
each step $m$ becomes $\beta_1$ times what it was, plus $1 - \beta_1$ times
the new slope. With $\beta_1 = 0.9$, nine tenths are kept. $v$ is changed in
the same way, with $\beta_2$ and the square of the slope. In step $s$,
counted from 1, the parameter moves by

$$-\text{rate} \cdot
  \frac{m / (1 - \beta_1^s)}{\sqrt{v / (1 - \beta_2^s)} + \epsilon}$$

In $m$, slopes that change their sign from batch to batch cancel, and slopes
that stay the same remain. So the old slopes carry the step on, which is
called its **momentum**. The division by $\sqrt{v}$ takes out how large the
slopes are: if the slope is the same in each step, $\sqrt{v}$ is its size,
and the parameter moves by the rate. Why are $m$ and $v$ divided by $1 -
\beta^s$? Both begin at 0. After $s$ steps this first 0 still counts for the
part $\beta^s$ of the mean, so the mean is too small, only $1 - \beta^s$
times what it should be. Dividing by $1 - \beta^s$ makes up for that. The
small $\epsilon$ keeps 0 from being divided by 0.

Each step also takes away a small part of every parameter, the **weight
decay**. So a parameter that the loss does not ask for fades. In the first
form of the decay, `decay` times the parameter was added to the slope; we
call this form *coupled*. But then Adam divides the decay by $\sqrt{v}$,
too, and a parameter with large slopes hardly decays. **AdamW** keeps the
decay apart: before a parameter moves, it is multiplied by $1 - \text{rate}
\cdot \text{decay}$ [@loshchilov2019].

::: {.header of="Adam"}
:::

**Exercise 20.2** (★★★, 4 points): `adam_step`. One loop over all
parameters. The function refuses what `adam_check` refuses. As in PyTorch,
numbers that are the same for all parameters are computed as `double` and
rounded to `float` before the loop. In the loop, all numbers are `float`.

::: hint
Four things, in this order: the decay; the mean of the slopes; the mean of
the squares; the move. Coupled, the decay adds `decay` times the parameter
to the slope; else the parameter becomes `1 - learning_rate * decay` times
as large.
:::

::: hint
PyTorch has `mean` move towards the slope by `lerp`, by `1 - beta_1` of the
way; `lerp` stands above the function. `pow(beta_1, step)` is $\beta_1^s$.
:::

::: hint
It divides the rate by $1 - \beta_1^s$, and the root of `square[i]` by the
root of $1 - \beta_2^s$. Epsilon is added after that.
:::

::: done
By this loop, or one much like it, nearly every model was trained that you
have heard of.
:::
*/

float lerp(float from, float to, float part)
{
    return part < 0.5f ? from + part * (to - from)
                       : to - (1 - part) * (to - from);
}

void adam_step(Adam adam, int step, size_t n, const float gradient[n],
               float mean[n], float square[n], float parameter[n])
{
    const float new_1 = (float)(1 - adam.beta_1);
    const float old_2 = (float)adam.beta_2,
                new_2 = (float)(1 - adam.beta_2);
    const float keep = (float)(1 - adam.learning_rate * adam.decay);
    const float rate =
        (float)(adam.learning_rate / (1 - pow(adam.beta_1, step)));
    const float root = (float)sqrt(1 - pow(adam.beta_2, step));
    adam_check(adam, step);
    for (size_t i = 0; i < n; i++) {
        float slope = gradient[i];
        if (adam.is_coupled)
            slope += (float)adam.decay * parameter[i];
        else
            parameter[i] *= keep;
        mean[i] = lerp(mean[i], slope, new_1);
        square[i] = old_2 * square[i] + new_2 * slope * slope;
        parameter[i] -= rate * mean[i] /
                        (sqrtf(square[i]) / root + (float)adam.epsilon);
    }
}

/* folded: how this is printed */
static void show_adam(void)
{
    const Adam adam = {0.1, 0.9, 0.999, 1e-8, 0, 0};
    const float slopes[3] = {100, 1, 0.01f};
    float mean[3] = {0}, square[3] = {0}, moved[3] = {0}, plain[3];
    for (int i = 0; i < 3; i++)
        plain[i] = -0.1f * slopes[i];
    adam_step(adam, 1, 3, slopes, mean, square, moved);
    print_vector("descent, by slopes of 100, 1 and 1/100", 3, plain);
    print_vector("Adam, by the same", 3, moved);
    memset(mean, 0, sizeof mean);
    memset(square, 0, sizeof square);
    memset(moved, 0, sizeof moved);
    for (int step = 1; step <= 10; step++)
        adam_step(adam, step, 2, (float[]){1, step % 2 ? 1 : -1}, mean,
                  square, moved);
    print_vector("Adam in ten steps, by 1; by 1 and -1 in turn", 2, moved);
}

/*
Here the rate is one tenth, $\beta_1$ is 0.9, and $\beta_2$ is 0.999:

``` output
descent, by slopes of 100, 1 and 1/100 (3)
[-10.0000,  -0.1000,  -0.0010]
Adam, by the same (3)
[-0.1000, -0.1000, -0.1000]
Adam in ten steps, by 1; by 1 and -1 in turn (2)
[-1.0000, -0.1545]
```

Descent moves the first parameter ten thousand times as far as the third.
Adam moves all three by the rate. In ten steps with a slope of 1, Adam moves
a parameter by ten times the rate. With slopes of 1 and $-1$ in turn, it
moves the parameter by about one and a half steps.

## Clipping, and a rate that changes {#optimizers-schedule}

Two precautions are left. The gradient of all parameters together is a list,
and a list has a length, as an arrow has ([](#dot-product-length)). An odd
batch may have a gradient that is much longer than others, and its step
would spoil what was learned. **Clipping** shortens such a gradient to a
length that is given, and keeps its direction [@pascanu2013]. All entries
are multiplied by the same factor:
*/

double clip_norm(double most, size_t n, float gradient[n])
{
    double sum = 0;
    if (!(most > 0))
        REFUSE("a length of at most %g: more than 0 is needed", most);
    for (size_t i = 0; i < n; i++)
        sum += (double)gradient[i] * (double)gradient[i];
    /* 1e-6 as in PyTorch. What is not >= 1 may be nan, and then spreads. */
    const float factor = (float)(most / (sqrt(sum) + 1e-6));
    for (size_t i = 0; i < n && !(factor >= 1); i++)
        gradient[i] *= factor;
    return sqrt(sum);
}

/*
The second precaution is a rate that changes from step to step. In the first
steps, the **warm-up**, the rate is small: Adam's means have the right size
by then, but are made from few slopes, and may point the wrong way. Later
the rate falls along half a wave of the cosine, so that the parameters come
to rest.

**Exercise 20.3** (★★, 3 points): `rate_at`. Step 0 is the first (the output
below counts steps from 1). In a warm-up of $w$ steps, step $i$ has $(i + 1)
/ (w + 1)$ of the largest rate. Step $w$, the first one after the warm-up,
has the largest rate. From there on, let $u$ be how far the step is on the
way to step `steps`: 0 at step $w$, and 1 at step `steps`. Then the rate is
the least rate plus $(1 + \cos \pi u) / 2$ of what lies between the least
and the largest. From `steps` on, the rate is the least. `rate_at` refuses a
step below 0, a `warm_up` below 0, and a `warm_up` that is not below
`steps`.

::: hint
$u$ is 0 at step `warm_up` and 1 at step `steps`. In C, one whole number
divided by another leaves no fraction.
:::

::: done
The same curve is used to train most language models; only the length of the
warm-up and the two rates differ.
:::
*/

double rate_at(int step, int warm_up, int steps, double largest,
               double least)
{
    const double pi = 3.14159265358979323846;
    if (step < 0 || warm_up < 0 || warm_up >= steps)
        REFUSE("step, warm_up, steps = %d, %d, %d: a step and a warm_up "
               "from 0 on, and more steps than warm_up, are needed",
               step, warm_up, steps);
    if (step < warm_up)
        return largest * (step + 1) / (warm_up + 1);
    if (step >= steps)
        return least;
    const double done = (double)(step - warm_up) / (steps - warm_up);
    return least + (largest - least) * (1 + cos(pi * done)) / 2;
}

enum { POINTS = 6 }; /* steps that are shown */

/* folded: how this is printed */
static void show_rates(void)
{
    enum { STEPS = 100, WARM_UP = 10 };
    float rates[POINTS];
    for (int k = 0; k < POINTS; k++) {
        const int step = k ? STEPS / (POINTS - 1) * k : 1;
        rates[k] = (float)rate_at(step - 1, WARM_UP, STEPS, 0.02, 0);
    }
    print_vector("rate of step 1, 20, 40, 60, 80, 100", POINTS, rates);
}

/*
Here a training has 100 steps. Ten of them warm up, the largest rate is
0.02, and the least is 0:

``` output
rate of step 1, 20, 40, 60, 80, 100 (6)
[0.0018, 0.0195, 0.0153, 0.0086, 0.0026, 0.0000]
```

The rate of the last step is above 0, but so small that four decimals do not
show it.

## Four logits learn {#optimizers-together}

Loss, gradient and step together are a training. The smallest one has no
model: the parameters are the four logits from above, and the second word is
right. In each step the loss is computed, then the slopes, and then the
logits move, by descent in one run and by Adam in another. Both have a rate
of one tenth.
*/

/* folded: how this is printed */
static void show_learning(void)
{
    const Adam adam = {0.1, 0.9, 0.999, 1e-8, 0, 0};
    const int second = 1;
    float losses[2][POINTS], shares[2][4];
    for (int k = 0; k < 2; k++) {
        float logits[1][4] = {{2, 1, 0, -1}}, mean[4] = {0};
        float square[4] = {0};
        for (int step = 1; step <= 2 * POINTS - 1; step++) {
            float slopes[1][4] = {{0}};
            losses[k][step / 2] = /* overwritten by the next odd step */
                cross_entropy(1, 4, logits, &second, &shares[k]);
            cross_entropy_backward(1, 4, &shares[k], &second, slopes);
            if (k)
                adam_step(adam, step, 4, slopes[0], mean, square,
                          logits[0]);
            for (int j = 0; j < 4 && !k; j++)
                logits[0][j] -= 0.1f * slopes[0][j];
        }
    }
    print_matrix("losses before step 1, 3, 5, 7, 9, 11: descent, Adam", 2,
                 POINTS, losses);
    print_matrix("shares after ten steps: descent, Adam", 2, 4, shares);
    figure_curves("steps", "The loss in ten steps, at the same rate",
                  (const char *const[]){"descent", "Adam"}, POINTS,
                  (const char *const[]){"1", "3", "5", "7", "9", "11"},
                  losses);
}

/*
``` output
losses before step 1, 3, 5, 7, 9, 11: descent, Adam (2, 6)
[[1.4402, 1.2496, 1.0860, 0.9471, 0.8302, 0.7321],
 [1.4402, 1.1506, 0.8970, 0.6841, 0.5132, 0.3816]]
shares after ten steps: descent, Adam (2, 4)
[[0.4017, 0.4809, 0.0845, 0.0328],
 [0.2677, 0.6827, 0.0362, 0.0133]]
```

![The loss of four logits in ten steps of descent and of Adam, both with a
rate of one tenth](steps.svg){#fig-optimizers-steps}

Both losses fall. As the share of the right word grows, all slopes become
smaller, and the steps of descent become smaller with them. Adam divides the
size of the slopes out, and here its loss falls faster. That says little,
since the same rate means something else to each of the two. The shares show
the difference. The third word began with a share of 0.0871. Its slope is
small, so descent hardly moves its logit, and its share is still 0.0845.
Adam moves the logit of the third word as far as that of the first, and of
the third share 0.0362 is left. (With Adam the first share stays $e^2$ times
the third, since both logits move alike.)

Adam's steps do not become shorter with the slopes. So at the end of a
training, Adam needs the falling rate of [](#optimizers-schedule).

## Everything together
*/

int main(int argc, char *argv[])
{
    no_arguments(argc, argv);
    figure_pipeline("pipeline", "vectors roles heads");
    show_slopes();
    show_ignored();
    show_adam();
    show_rates();
    show_learning();
    return 0;
}

/*
The same in PyTorch:

``` python
import torch
import torch.nn.functional as F

second = torch.tensor([1])
logits = torch.tensor([[2., 1, 0, -1]], requires_grad=True)
print(F.softmax(logits, dim=-1)[0])
F.cross_entropy(logits, second).backward()
print(logits.grad[0])

runs = []
for optimizer in torch.optim.SGD, torch.optim.Adam:
    x = logits.detach().clone().requires_grad_()
    steps, losses = optimizer([x], lr=0.1), []
    for _ in range(11):
        loss = F.cross_entropy(x, second)
        losses.append(loss.item())
        steps.zero_grad()
        loss.backward()
        steps.step()
    runs.append(losses[::2])
print(torch.tensor(runs))
```

Four numbers have learned one answer by heart. A model has thousands of
numbers, and it is to answer for texts that it has never seen. In the next
chapter an attention makes the logits, and learns tasks that only an
attention can solve: [](#training).

## Further exercises

**Exercise 20.4** (★★, challenge, 3 points): `sgd_step`. The gradient
descent of [](#optimizers-step), with decay and momentum, which PyTorch
calls `SGD`. The slope is the gradient plus `decay` times the parameter. The
velocity becomes `momentum` times what it was, plus the slope. Then the rate
times the velocity is taken away from the parameter.

::: hint
One loop of three lines, in the order of the text. Here nothing is a mean:
the new slope is added as a whole.
:::

::: done
With momentum and decay 0 this is the loop of chapter 7, and the ancestor of
all optimizers.
:::

**Exercise 20.5** (by hand): In [](#optimizers-step), Adam's first step was
the same for three slopes. Show from the formula that it must be so, with
$\epsilon = 0$.

## Solutions

::: {.solution exercise="20.4"}
PyTorch's velocity begins as the first slope. To begin at 0 and add the
first slope is the same.
*/

void sgd_step(double rate, double momentum, double decay, size_t n,
              const float gradient[n], float velocity[n],
              float parameter[n])
{
    for (size_t i = 0; i < n; i++) {
        const float slope = gradient[i] + (float)decay * parameter[i];
        velocity[i] = (float)momentum * velocity[i] + slope;
        parameter[i] -= (float)rate * velocity[i];
    }
}

/*
:::

::: {.solution exercise="20.5"}
If the slope is $g$, then after one step $m$ is $(1 - \beta_1)\, g$, and
divided by $1 - \beta_1$ it is $g$. In the same way $v$, divided by $1 -
\beta_2$, is $g^2$, and its root is $g$ without its sign. The fraction is 1
or $-1$: every parameter moves by the rate, against its slope.
:::
*/
