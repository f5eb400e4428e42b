/*
# Learning: nudge every number, watch the loss {#learning}

In [](#qkv) *likes* found *fish* because you had written three matrices by
hand. It took some care. A $-1$ was there to hide that a fish is an animal,
a $-4$ was there to cancel another number, and that was for a world of three
words. The smallest GPT-2 has [144]{.cited} such sets of matrices
[@radford2019], and nobody wrote any of them.

One attention with its three matrices is called a **head**. Here is a bet.
Take 20 random numbers as the matrices of a head, show it six short
sentences with the right answer to each, and tell it nothing else: every
word comes with what it is, but nobody says which part of that matters. By
the end of this chapter the head will have found the food, even in a
sentence it has never seen. There's no calculus in it, only a loop that
makes each number a little larger and a little smaller, and watches.
*/

#include "attention/06_learning.h"
#include "attention/01_dot_product.h"
#include "attention/03_qkv.h"
#include "attention/04_scaling.h"
#include "attention/B_random.h"
#include "support.h"

/*
## A task that an average can't do {#learning-task}

Give every word a fourth number, its size. The question is put to the verb:
*how big is what gets eaten?* In *cat likes fish* that is 0.2, in *kitten
likes salmon* it is 0.5.
*/

enum { EXAMPLES = 6, D = HEAD_D, D_K = HEAD_D_K, COUNT = HEAD_COUNT };

static const float example[EXAMPLES][3][D] = {
    /* animal, action, food, size */
    {{1, 0, 0, 0.5f}, {0, 1, 0, 0}, {1, 0, 1, 0.2f}}, /* cat, fish */
    {{1, 0, 0, 0.2f}, {0, 1, 0, 0}, {1, 0, 1, 0.5f}}, /* kitten, salmon */
    {{1, 0, 0, 0.8f}, {0, 1, 0, 0}, {0, 0, 1, 0.1f}}, /* horse, apple */
    {{1, 0, 0, 0.1f}, {0, 1, 0, 0}, {0, 0, 1, 0.8f}}, /* mouse, cheese */
    {{1, 0, 0, 0.9f}, {0, 1, 0, 0}, {1, 0, 1, 0.3f}}, /* seal, herring */
    {{1, 0, 0, 0.3f}, {0, 1, 0, 0}, {1, 0, 1, 0.9f}}, /* gull, cod */
};

static const float right[EXAMPLES] = {0.2f, 0.5f, 0.1f, 0.8f, 0.3f, 0.9f};

/*
The sizes have been chosen with malice. The cat is as big as the salmon and
the kitten as the fish, so the three words of the first sentence have
exactly the same average as those of the second. The same is true of the
other two pairs. Whatever is calculated from the average, by whatever
machinery, must give the same answer to both sentences of a pair, and so be
wrong in at least one. The best it can do is to say the number in the middle
both times.

How wrong is that? To measure it, square what each answer is off by, and
take the mean. A number that says how wrong a model is, 0 being best, is
called a **loss**.

**Exercise 6.1** (★, 1 point): `mean_squared_error`. The mean of the squares
of what `n` answers are off by, added up as a `double`. It refuses `n` below
1.

::: hint
A difference and its negative have the same square, so it doesn't matter
which of the two is subtracted.
:::

::: done
This is the simplest of losses. Later chapters use others, and lower them
in the same way.
:::
*/

float mean_squared_error(int n, const float answer[n],
                         const float target[n])
{
    if (n < 1)
        REFUSE("%d answers: at least 1 is needed", n);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double off_by = (double)answer[i] - (double)target[i];
        sum += off_by * off_by;
    }
    return (float)(sum / n);
}

static void show_average(void)
{
    const float middle[EXAMPLES] = {0.35f, 0.35f, 0.45f, 0.45f, 0.6f, 0.6f};
    print_vector("right answers", EXAMPLES, right);
    print_vector("the best that an average can do", EXAMPLES, middle);
    print_value("its loss", mean_squared_error(EXAMPLES, middle, right));
}

/*
``` output
right answers (6)
[0.2000, 0.5000, 0.1000, 0.8000, 0.3000, 0.9000]
the best that an average can do (6)
[0.3500, 0.3500, 0.4500, 0.4500, 0.6000, 0.6000]
its loss: 0.0783
```

So 0.0783 is the number to beat. No model that sees only the average of its
words will ever get below it.

## A head of 20 numbers {#learning-head}

Attention sees more than an average: it can weigh the words. Our head has a
$W_Q$ and a $W_K$ of four rows and two columns (two will do here), and a
$W_V$ of four rows and one column, since the answer is a single number. That
makes $8 + 8 + 4 = 20$ numbers. Keep them in one array, one matrix after
another, so that a loop can reach them all. (`ROWS(2, pointer)` reads what a
pointer leads to as a table with rows of 2.)
*/

enum { W_K = D * D_K, W_V = 2 * D * D_K };

float head_answer(const float parameter[HEAD_COUNT],
                  const float x[3][HEAD_D], int who, float weights[3])
{
    float query[3][D_K], key[3][D_K], value[3][1], scores[3], answer;
    project_qkv(3, D, D_K, 1, x, ROWS(D_K, parameter),
                ROWS(D_K, parameter + W_K), ROWS(1, parameter + W_V), query,
                key, value);
    /* One query and three words: each table of results has one row. */
    attention(1, 3, D_K, 1, &query[who], key, value, &scores,
              ROWS(3, weights), ROWS(1, &answer));
    return answer;
}

/*
To begin, fill the array with random numbers between $-0.5$ and $0.5$. (They
are PyTorch's for the seed 123, so that you can check them; [](#random)
tells how.)
*/

enum { EATER, VERB, FOOD }; /* the words of a sentence */

static void begin(uint64_t seed, float parameter[COUNT])
{
    Random r = random_seeded(seed);
    uniform_fill(&r, 1, COUNT, -0.5f, 0.5f, ROWS(COUNT, parameter));
}

/*
The loss is taken over the verb's answers in all sentences:
*/

float head_loss(int n, const float sentences[n][3][HEAD_D],
                const float target[n], const float parameter[HEAD_COUNT])
{
    if (n < 1)
        REFUSE("%d sentences: at least 1 is needed", n);
    float answer[n], weights[3];
    for (int i = 0; i < n; i++)
        answer[i] = head_answer(parameter, sentences[i], VERB, weights);
    return mean_squared_error(n, answer, target);
}

/* folded: how this is printed */
static void show_answers(const char *label, const float parameter[COUNT])
{
    float answer[EXAMPLES], weights[3];
    for (int i = 0; i < EXAMPLES; i++)
        answer[i] = head_answer(parameter, example[i], VERB, weights);
    print_vector(label, EXAMPLES, answer);
    print_value("their loss",
                head_loss(EXAMPLES, example, right, parameter));
}

/*
And what does a random head answer?
*/

static void show_before(void)
{
    float parameter[COUNT];
    begin(123, parameter);
    show_answers("answers of a random head", parameter);
}

/*
``` output
answers of a random head (6)
[-0.1560, -0.1557, -0.0121, -0.0128, -0.1295, -0.1289]
their loss: 0.4122
```

Nonsense, as expected, and five times worse than the average.

## Which way is down? {#learning-gradient}

Pick one of the 20 numbers, say the last, which says how much of its size a
word gives. Make it a little larger, and the loss changes. Make it a little
smaller, and the loss changes too, most often the other way. The difference
of the two losses, divided by how far apart the two numbers are, is the
**slope** of the loss for that number:
*/

/* folded: how this is printed */
static void show_nudge(void)
{
    float parameter[COUNT];
    begin(123, parameter);
    const float was = parameter[COUNT - 1];
    parameter[COUNT - 1] = was + 0.01f;
    const float above = head_loss(EXAMPLES, example, right, parameter);
    parameter[COUNT - 1] = was - 0.01f;
    const float below = head_loss(EXAMPLES, example, right, parameter);
    puts("the last number");
    print_value("as it is", was);
    print_value("loss with 0.01 more", above);
    print_value("loss with 0.01 less", below);
    print_value("slope", (above - below) / 0.02f);
}

/*
``` output
the last number
as it is: 0.1605
loss with 0.01 more: 0.4084
loss with 0.01 less: 0.4159
slope: -0.3716
```

(The slope is computed from the losses as they are, before they are rounded
to four digits.) It's negative: the loss falls as this number grows. So the
number should grow.

Do that for all 20 numbers, and you have 20 slopes, which together are
called the **gradient**. Found this way, by trying, it is a **numerical
gradient**, and the method goes by the name of **finite differences**.

**Exercise 6.2** (★★, 3 points): `numerical_gradient`. The slope for each of
the 20 parameters, from `head_loss` at a nudge above and a nudge below. When
you have tried a parameter, put it back exactly as it was. It refuses a
nudge that is not above 0.

::: hint
While you try one parameter, all others must be as they were. When is the
right moment to put it back?
:::

::: hint
Between the upper and the lower value there are two nudges, not one. And
`was + nudge - nudge` need not be `was`.
:::

::: done
You know how to train anything that has a loss: slowly, but without
calculus. Later, the same method checks whether calculus was done right.
:::
*/

void numerical_gradient(int n, const float sentences[n][3][HEAD_D],
                        const float target[n], float nudge,
                        float parameter[HEAD_COUNT],
                        float gradient[HEAD_COUNT])
{
    if (!(nudge > 0))
        REFUSE("the nudge is %g; it must be above 0", (double)nudge);
    for (int i = 0; i < HEAD_COUNT; i++) {
        const float was = parameter[i];
        parameter[i] = was + nudge;
        const float above = head_loss(n, sentences, target, parameter);
        parameter[i] = was - nudge;
        const float below = head_loss(n, sentences, target, parameter);
        parameter[i] = was;
        gradient[i] = (above - below) / (2 * nudge);
    }
}

/*
Here is the whole gradient of our random head, a row for each of *animal*,
*action*, *food* and *size*:
*/

static void show_matrices(const char *const label[3],
                          const float number[COUNT])
{
    print_matrix(label[0], D, D_K, ROWS(D_K, number));
    print_matrix(label[1], D, D_K, ROWS(D_K, number + W_K));
    print_matrix(label[2], D, 1, ROWS(1, number + W_V));
}

static void show_gradient(void)
{
    float parameter[COUNT], gradient[COUNT];
    begin(123, parameter);
    numerical_gradient(EXAMPLES, example, right, 0.01f, parameter,
                       gradient);
    show_matrices((const char *const[]){"slopes of W_Q", "slopes of W_K",
                                        "slopes of W_V"},
                  gradient);
}

/*
``` output
slopes of W_Q (4, 2)
[[ 0.0000,  0.0000],
 [-0.0454, -0.0158],
 [ 0.0000,  0.0000],
 [ 0.0000,  0.0000]]
slopes of W_K (4, 2)
[[-0.0280,  0.0212],
 [ 0.0278, -0.0211],
 [-0.0131,  0.0099],
 [-0.0111,  0.0084]]
slopes of W_V (4, 1)
[[-0.6642],
 [-0.3665],
 [-0.3857],
 [-0.3716]]
```

Six of the slopes are 0. Keep that in mind; it will explain something odd.

## One step, and a thousand {#learning-steps}

Now move every number against its slope. Where the loss rises with a number,
make the number smaller; where it falls, larger. The steeper the slope, the
farther the number moves: by the slope times a factor that we choose, the
**learning rate**.
Then calculate all slopes anew, because the numbers have moved, and take the
next step. This is **gradient descent**, and language models learn by it,
too.

**Exercise 6.3** (★★, 3 points): `descend`. It takes `steps` steps. Each of
them finds the numerical gradient and then moves every parameter against its
slope, by the slope times the rate.

::: hint
When may the first parameter move? If it moves before the slope of the
second is known, the second slope belongs to another model.
:::

::: done
Two loops, and a head that learns. The optimizers of [](#optimizers) are
better at choosing how far to go.
:::
*/

void descend(int n, const float sentences[n][3][HEAD_D],
             const float target[n], float nudge, float rate, int steps,
             float parameter[HEAD_COUNT], float gradient[HEAD_COUNT])
{
    for (int i = 0; i < steps; i++) {
        numerical_gradient(n, sentences, target, nudge, parameter,
                           gradient);
        for (int k = 0; k < HEAD_COUNT; k++)
            parameter[k] -= rate * gradient[k];
    }
}

/*
::: question
A thousand steps with a learning rate of 0.5. Will the loss get below
0.0783, which is what an average can do?

It does, within the first two hundred steps.
:::
*/

static void learn(float rate, int steps, float parameter[COUNT])
{
    float gradient[COUNT];
    descend(EXAMPLES, example, right, 0.01f, rate, steps, parameter,
            gradient);
}

static void show_learning(float parameter[COUNT])
{
    float losses[6];
    begin(123, parameter);
    losses[0] = head_loss(EXAMPLES, example, right, parameter);
    for (int i = 1; i <= 5; i++) {
        learn(0.5f, 200, parameter);
        losses[i] = head_loss(EXAMPLES, example, right, parameter);
    }
    print_vector("loss, before and after every 200 steps", 6, losses);
    show_answers("answers after 1,000 steps", parameter);
}

/*
``` output
loss, before and after every 200 steps (6)
[0.4122, 0.0011, 0.0005, 0.0003, 0.0002, 0.0002]
answers after 1,000 steps (6)
[0.1928, 0.4817, 0.0978, 0.8019, 0.3232, 0.9023]
their loss: 0.0002
```

It has left the average far behind. And it didn't cheat: look at where the
verb's attention goes.
*/

/* folded: how this is printed */
static void draw_learning(const float parameter[COUNT])
{
    const char *const sentences[EXAMPLES] = {
        "cat likes fish",     "kitten likes salmon", "horse likes apple",
        "mouse likes cheese", "seal likes herring",  "gull likes cod"};
    float start[COUNT], map[2][EXAMPLES][3];
    begin(123, start);
    for (int i = 0; i < EXAMPLES; i++) {
        head_answer(start, example[i], VERB, map[0][i]);
        head_answer(parameter, example[i], VERB, map[1][i]);
    }
    print_matrix("attention of likes, before", EXAMPLES, 3, map[0]);
    print_matrix("attention of likes, after", EXAMPLES, 3, map[1]);
    figure_maps("learned", "What likes takes of each word", 2,
                (const char *const[]){"before", "after 1,000 steps"},
                EXAMPLES, sentences, 3,
                (const char *const[]){"eater", "likes", "food"}, map);
}

/*
``` output
attention of likes, before (6, 3)
[[0.3343, 0.3219, 0.3439],
 [0.3323, 0.3218, 0.3458],
 [0.3455, 0.3308, 0.3238],
 [0.3410, 0.3308, 0.3282],
 [0.3358, 0.3208, 0.3434],
 [0.3319, 0.3208, 0.3473]]
attention of likes, after (6, 3)
[[0.0570, 0.0700, 0.8731],
 [0.0548, 0.0688, 0.8764],
 [0.0469, 0.0564, 0.8966],
 [0.0428, 0.0541, 0.9031],
 [0.0581, 0.0694, 0.8724],
 [0.0538, 0.0671, 0.8791]]
```

![The attention that *likes* gives to the words of its sentence. At first it
looks everywhere, after a thousand steps at the
food](learned.svg){#fig-learned}

Nobody told it to look at the food. It does so because that makes the loss
smaller. Is it a rule, or has it learned six answers by heart? Ask about
sentences that it has never seen. The program takes the size of the eater
and of the food; an elephant likes a peanut, and a hamster likes a melon:

``` {.output args="1 0.05"}
attention of likes to eater, likes, food (3)
[0.0477, 0.0566, 0.8957]
how big is what gets eaten: 0.0571
```

``` {.output args="0.05 0.6"}
attention of likes to eater, likes, food (3)
[0.0432, 0.0548, 0.9020]
how big is what gets eaten: 0.5864
```

The right answers are the sizes you typed, 0.05 and 0.6. The bet is won.

## What the numbers have become {#learning-found}

``` output
W_Q (4, 2)
[[-0.2039,  0.0166],
 [-1.8265, -0.6430],
 [-0.4260,  0.3665],
 [-0.3634, -0.3975]]
W_K (4, 2)
[[ 0.0937,  0.2812],
 [-0.0746,  0.2283],
 [-1.8986, -0.6574],
 [-0.0518, -0.0081]]
W_V (4, 1)
[[ 0.0003],
 [ 0.2739],
 [-0.0750],
 [ 1.1761]]
```

Compare them with the matrices you wrote in [](#qkv-cat). The query of an
action, the second row of $W_Q$, and the third row of $W_K$, the key of
food, are both large and point the same way, so their product is large. The
value, in the last row of $W_V$, is mostly the size; its entry, 1.1761, is
more than 1, because not quite all of the attention reaches the food, and
without that the sum would come out too small. It's your design, found by
trial.

## Why other words changed their minds {#learning-why}

Now ask somebody else. We never asked *cat* anything, and the loss doesn't
know what *cat* looks at:
*/

static void show_cat(const float parameter[COUNT])
{
    float start[COUNT], weights[3], query[2][D_K];
    begin(123, start);
    matmul(1, D_K, D, example[0], ROWS(D_K, start), ROWS(D_K, query[0]));
    matmul(1, D_K, D, example[0], ROWS(D_K, parameter),
           ROWS(D_K, query[1]));
    head_answer(start, example[0], EATER, weights);
    print_vector("attention of cat, before", 3, weights);
    head_answer(parameter, example[0], EATER, weights);
    print_vector("attention of cat, after", 3, weights);
    print_matrix("query of cat, before and after", 2, D_K, query);
    print_answer("they are the same, to the last bit",
                 !memcmp(query[0], query[1], sizeof query[0]));
}

/*
``` output
attention of cat, before (3)
[0.3241, 0.3046, 0.3713]
attention of cat, after (3)
[0.2588, 0.2707, 0.4705]
query of cat, before and after (2, 2)
[[-0.3856, -0.1822],
 [-0.3856, -0.1822]]
they are the same, to the last bit: yes
```

What *cat* looks at has changed, and its query has not. How can that be? The
six slopes of 0 explain it. A query is a word's numbers times $W_Q$, and the
verb's numbers are $(0, 1, 0, 0)$. So the query of the verb *is* the second
row of $W_Q$, and nothing in the other three rows ever enters it. Nudge
them, and no answer changes, so the loss doesn't change, so their slopes are
0, at this step and at each step to come. These six numbers are today what
they were on the first day.

The keys are another matter. The verb's query meets the keys of *all* words,
so every row of $W_K$ counts and every row has moved. And *cat*, with its
old query, now meets new keys.

A model learns what its loss asks for. What the loss says nothing about may
change as well, in any direction.

## Other beginnings {#learning-seeds}

Was 123 a lucky number? Six other seeds, with the loss after the same
thousand steps, and the answer about the elephant's peanut, which should be
0.05:
*/

/* folded: how this is printed */
static void show_seeds(void)
{
    enum { SEEDS = 6 };
    const float peanut[3][D] = {
        {1, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0.05f}};
    float losses[SEEDS], answers[SEEDS], found[SEEDS];
    const int seeds[SEEDS] = {7, 8, 9, 10, 11, 12};
    for (int i = 0; i < SEEDS; i++) {
        float parameter[COUNT], weights[3];
        begin((uint64_t)seeds[i], parameter);
        learn(0.5f, 1000, parameter);
        losses[i] = head_loss(EXAMPLES, example, right, parameter);
        answers[i] = head_answer(parameter, peanut, VERB, weights);
        found[i] = weights[FOOD];
    }
    print_integers("seeds", SEEDS, seeds);
    print_vector("loss from each", SEEDS, losses);
    print_vector("size of the peanut", SEEDS, answers);
    print_vector("attention to the peanut", SEEDS, found);
}

/*
``` output
seeds (6)
[ 7,  8,  9, 10, 11, 12]
loss from each (6)
[0.0002, 0.0003, 0.0002, 0.0001, 0.0002, 0.0003]
size of the peanut (6)
[ 0.0711, -0.0174,  0.0518,  0.1767,  0.1998,  0.0235]
attention to the peanut (6)
[0.8641, 0.5481, 0.9205, 0.1004, 0.0636, 0.7438]
```

All six learned their examples, but we were lucky with 123. The heads of the
seeds 10 and 11 hardly look at the peanut, with 0.1004 and 0.0636 of their
attention, and get its size badly wrong. They have found another way to get
six answers right, and on the elephant that way fails. From six examples you
can't tell the two ways apart, and neither can training.

And the learning rate? Too small, and you wait. Too large, and the steps
jump across the valley and up the other side:
*/

/* folded: how this is printed */
static void show_rates(void)
{
    float parameter[COUNT], losses[5];
    begin(123, parameter);
    for (int i = 0; i < 5; i++) {
        losses[i] = head_loss(EXAMPLES, example, right, parameter);
        learn(4, 1, parameter);
    }
    print_vector("loss at each of five steps, with a rate of 4", 5, losses);
}

/*
``` output
loss at each of five steps, with a rate of 4 (5)
[    0.4122,     5.7552,    27.6914,  1330.4126, 65165.1250]
```

## What it costs

Every slope takes two runs of the model over all examples. With 20 numbers
that's twice 20 runs a step, and your machine didn't notice. The smallest
GPT-2 has [124]{.cited} million numbers [@radford2019], so a single step
would take $2 \cdot 124 = 248$ million runs. There is a way to get all
slopes at once for about the price of two or three runs, and [](#backward)
is about it. With those slopes, the loop of this chapter trains a whole
language model.
*/

/* folded: how this is printed */
static void ask_about(const float parameter[COUNT], float eater, float food)
{
    const float x[3][D] = {{1, 0, 0, eater}, {0, 1, 0, 0}, {0, 0, 1, food}};
    float weights[3];
    const float answer = head_answer(parameter, x, VERB, weights);
    print_vector("attention of likes to eater, likes, food", 3, weights);
    print_value("how big is what gets eaten", answer);
}

int main(int argc, char *argv[])
{
    float parameter[COUNT];
    if (argc > 1) {
        if (argc != 3)
            REFUSE("%d numbers are given: 2 are needed, the size of the "
                   "eater and of the food",
                   argc - 1);
        const float eater = parse_float("a size", argv[1]);
        const float food = parse_float("a size", argv[2]);
        begin(123, parameter);
        learn(0.5f, 1000, parameter);
        ask_about(parameter, eater, food);
        return 0;
    }
    show_average();
    show_before();
    show_nudge();
    show_gradient();
    show_learning(parameter);
    draw_learning(parameter);
    show_matrices((const char *const[]){"W_Q", "W_K", "W_V"}, parameter);
    show_cat(parameter);
    show_seeds();
    show_rates();
    return 0;
}

/*
The same in PyTorch, which gets the slopes by `backward`, by calculus;
`requires_grad_` tells it to keep a record for that:

``` python
import torch
import torch.nn.functional as F

sizes = [(.5, .2), (.2, .5), (.8, .1), (.1, .8), (.9, .3), (.3, .9)]
is_fish = [1., 1, 0, 0, 1, 1]
x = torch.tensor([[[1., 0, 0, eater], [0, 1, 0, 0], [fish, 0, 1, food]]
                  for (eater, food), fish in zip(sizes, is_fish)])
right = x[:, 2, 3]
torch.manual_seed(123)
p = torch.empty(20).uniform_(-0.5, 0.5).requires_grad_()
optimizer = torch.optim.SGD([p], lr=0.5)
losses = []
for step in range(1001):
    W_Q, W_K, W_V = p[:8].view(4, 2), p[8:16].view(4, 2), p[16:].view(4, 1)
    context = F.scaled_dot_product_attention(x @ W_Q, x @ W_K, x @ W_V)
    answer = context[:, 1, 0]
    loss = F.mse_loss(answer, right)
    optimizer.zero_grad()
    loss.backward()
    if step == 0:
        print(p.grad[:8].view(4, 2))
        print(p.grad[8:16].view(4, 2))
    losses += [loss.item()] if step % 200 == 0 else []
    optimizer.step()
print(torch.tensor(losses))
print(answer)
```

Learning needs only two things from attention: numbers that can be changed,
and a function that uses them. [](#self-attention) packs them up, so that a
model can have more than one head.

## Further exercises

**Exercise 6.4** (by hand): Two sentences have the same average, and their
right answers are 0.2 and 0.8. What is the smallest loss that anything can
reach that sees only the average, and with which answer?

**Exercise 6.5** (by hand): Suppose we asked *cat* as well, in each
sentence, for the size of the food. Which rows of $W_Q$ would have slopes
that are not 0?

## Solutions

::: {.solution exercise="6.4"}
Answer 0.5 to both: each is off by 0.3, and the mean of the squares is 0.09.
With $0.5 + s$ instead, one is off by $0.3 + s$ and the other by $0.3 - s$;
in the mean of the squares, what is linear in $s$ cancels, and $s^2$ is
added.
:::

::: {.solution exercise="6.5"}
The numbers of the eater are $(1, 0, 0, s)$ with its size $s$. Its query is
the first row of $W_Q$ plus $s$ times the last. So the slopes of the first
and the last row would not be 0, nor those of the second, which the verb
needs as before. Only those of the row of food would stay 0.
:::
*/
