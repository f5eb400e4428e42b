/* Chapters 9 to 14: masks, dropout, several heads, and attention in one
 * pass. As in one_head.c, numbers are drawn until they are pleasant. */
#include "worksheet.h"

static float sum_of(int n, const float x[n])
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += x[k];
    return sum;
}

static void task_renormalize(Random *r)
{
    float weights[3][3], mask[3][3], seen[3][3];
    do {
        for (int i = 0; i < 3; i++)
            tenths_fill(r, 3, weights[i]);
        memcpy(seen, weights, sizeof seen);
        causal_mask(3, 3, 0, mask);
        mask_weights(3, 3, mask, seen);
        renormalize(3, 3, seen);
    } while (!is_clear(2, 9, (const void *)seen) ||
             has_dull_rows(3, 3, weights));
    task("Hidden, and shared out again",
         "Three words have the weights _A_ for each other, and no word may "
         "see those after it.");
    given("A", 3, 3, weights);
    for (int i = 0; i < 3; i++) {
        ask("Row %d with the hidden weights 0, divided by its sum.", i + 1);
        float sum = 0;
        for (int j = 0; j <= i; j++)
            sum += weights[i][j];
        step("sum", 1, &sum);
        answer(2, 3, seen[i]);
    }
}

static void task_masked_scores(Random *r)
{
    float scores[1][4], masked[1][4], weights[1][4];
    int place, largest;
    do {
        whole_fill(r, 1, 4, -3, 9, scores);
        place = whole(r, 1, 2);
        memcpy(masked, scores, sizeof masked);
        mask_scores(1, 4, place, masked);
        softmax_rows(1, 4, masked, weights);
        largest = clear_largest(4, scores[0], 1);
    } while (largest <= place || range(place + 1, scores[0]) > 4 ||
             clear_largest(place + 1, scores[0], 1) < 0 ||
             !is_clear(2, 4, weights[0]));
    task("Minus infinity",
         "A word has the scores _s_ with four words, of "
         "which it is number %d.",
         place + 1);
    given("s", 1, 4, scores);
    ask("The weights, if the scores of the words after it become minus "
        "infinity.");
    softmax_steps(4, masked[0]);
    answer(2, 4, weights[0]);
}

static void task_seen(Random *r)
{
    const int n = whole(r, 3, 8), m = n + whole(r, 2, 9);
    float mask[n][m], sum = 0;
    causal_mask(n, m, m - n, mask);
    for (int i = 0; i < n; i++)
        sum += sum_of(m, mask[i]);
    task(
        "How many are seen",
        "A text has %d words, and the last %d of them ask all %d. None may "
        "see words after its own.",
        m, n, m);
    ask("How many of the %d scores are of words that may be seen?", n * m);
    answer(0, 1, &sum);
    ask("How many words does the first that asks see?");
    answer_words("%d", m - n + 1);
}

void tasks_09(Random *r)
{
    task_renormalize(r);
    task_masked_scores(r);
    task_seen(r);
}

/* A rate, and a mask that keeps some and drops some. */
static double draw_keep_mask(Random *r, int n, float keep_mask[1][n])
{
    static const double rates[] = {0.2, 0.5, 0.6, 0.75};
    const double p = rates[place_below(r, 4)];
    float sum;
    do {
        dropout_mask(r, p, 1, n, keep_mask);
        sum = sum_of(n, keep_mask[0]);
    } while (sum < 1 || sum == (float)n);
    return p;
}

static void task_mean_of_masks(Random *r)
{
    float w[1][2], y[1][2], sums[4];
    do
        tenths_fill(r, 2, w[0]);
    while (w[0][0] == w[0][1]);
    for (int k = 0; k < 4; k++) {
        const float keep_mask[1][2] = {
            {(float)(k < 2), (float)(k % 2 == 0)}};
        dropout_apply(0.5, 1, 2, keep_mask, w, y);
        sums[k] = y[0][0] + y[0][1];
    }
    const float mean = sum_of(4, sums) / 4;
    task("All masks of two",
         "Two words have the weights _u_. With rate 0.5 there are four "
         "masks, all alike probable: 1 1, 1 0, 0 1 and 0 0.");
    given("u", 1, 2, w);
    ask("The sum of the weights after dropout, for each mask in this "
        "order.");
    answer(2, 4, sums);
    ask("The mean of the four sums.");
    answer(2, 1, &mean);
}

void tasks_10(Random *r)
{
    float weights[1][4], keep_mask[1][4], dropped[1][4];
    float value[4][2], context[1][2], sum;
    double p;
    do {
        tenths_fill(r, 4, weights[0]);
        p = draw_keep_mask(r, 4, keep_mask);
        dropout_apply(p, 1, 4, keep_mask, weights, dropped);
        sum = sum_of(4, dropped[0]);
        whole_fill(r, 4, 2, -3, 5, value);
        matmul(1, 2, 4, dropped, value, context);
    } while (has_dull_rows(4, 2, value) || !is_clear(2, 4, dropped[0]) ||
             !is_clear(2, 1, &sum) || !is_clear(2, 2, context[0]));
    const float factor = 1 / (float)(1 - p);
    task("Dropout",
         "Four words have the weights _w_. Dropout with the rate "
         "%g keeps those where _m_ is 1.",
         p);
    given("w", 1, 4, weights);
    given("m", 1, 4, keep_mask);
    ask("By what are the weights that are kept multiplied?");
    answer(2, 1, &factor);
    ask("The weights after dropout.");
    answer(2, 4, dropped[0]);
    ask("Their sum.");
    answer(2, 1, &sum);

    task("What is mixed",
         "The rows of _V_ are the values of the four words.");
    given("V", 4, 2, value);
    ask("The context vector, from the weights after dropout.");
    answer(2, 2, context[0]);
    task_mean_of_masks(r);
}

/* The mask of a text of so many words, in a batch where all have room for
 * n. */
static void text_mask(int n, int words, float mask[n][n])
{
    int is_word[8];
    for (int k = 0; k < n; k++)
        is_word[k] = k < words;
    causal_mask(n, n, 0, mask);
    mask_padding(n, n, is_word, mask);
}

static void task_padding(Random *r)
{
    const int n = whole(r, 6, 8), d = whole(r, 3, 6);
    const int words[2] = {whole(r, 2, 3), whole(r, 4, n - 1)};
    const int row = words[0] + whole(r, 1, n - words[0]);
    float mask[n][n], sum = 0;
    task("A batch of three",
         "Three sentences have %d, %d and %d words. The shorter ones are "
         "filled up with tokens that are no words; a token has %d entries.",
         words[0], n, words[1], d);
    ask("How many numbers are in the batch, and how many of them belong to "
        "no word?");
    answer_words("%d %d", 3 * n * d, (2 * n - words[0] - words[1]) * d);
    ask("No token may see those after it, nor what is no word. Row %d of "
        "the mask for the sentence of %d words, 1 for seen.",
        row, words[0]);
    text_mask(n, words[0], mask);
    answer(0, n, mask[row - 1]);
    ask("How many entries of the mask for the sentence of %d words are 1?",
        words[1]);
    text_mask(n, words[1], mask);
    for (int i = 0; i < n; i++)
        sum += sum_of(n, mask[i]);
    answer(0, 1, &sum);
}

void tasks_11(Random *r)
{
    static const float mask[1][4] = {{1, 1, 1, 0}};
    float scores[1][4], masked[1][4], weights[1][4], keep_mask[1][4];
    float dropped[1][4], value[4][2], context[1][2];
    double p;
    task_padding(r);
    do {
        whole_fill(r, 1, 4, -3, 5, scores);
        memcpy(masked, scores, sizeof masked);
        apply_mask(1, 4, mask_table(1, 4, mask), masked);
        softmax_rows(1, 4, masked, weights);
        p = draw_keep_mask(r, 4, keep_mask);
        dropout_apply(p, 1, 4, keep_mask, weights, dropped);
        whole_fill(r, 4, 2, -3, 5, value);
        matmul(1, 2, 4, dropped, value, context);
    } while (range(3, scores[0]) > 4 ||
             clear_largest(3, scores[0], 1) < 0 ||
             sum_of(3, keep_mask[0]) < 1 || sum_of(3, keep_mask[0]) > 2 ||
             has_dull_rows(4, 2, value) || !is_clear(2, 4, weights[0]) ||
             !is_clear(2, 4, dropped[0]) || !is_clear(2, 2, context[0]));
    task(
        "Mask, softmax, dropout, values",
        "The third word of a sentence has the scores _s_; the fourth token "
        "is no word. Dropout of rate %g keeps where _m_ is 1.",
        p);
    given("s", 1, 4, scores);
    given("m", 1, 4, keep_mask);
    given("V", 4, 2, value);
    ask("The weights.");
    softmax_steps(4, masked[0]);
    answer(2, 4, weights[0]);
    ask("The weights after dropout.");
    step("dropped", 4, dropped[0]);
    answer(2, 4, dropped[0]);
    ask("The context vector.");
    step("context", 2, context[0]);
    answer(2, 2, context[0]);
}

void tasks_12(Random *r)
{
    const int heads = whole(r, 2, 8), n = whole(r, 3, 9);
    const int d_in = 4 * whole(r, 2, 8), d_k = whole(r, 2, 9);
    const int d_v = whole(r, 2, 9), column = whole(r, 2, heads * d_v);
    task("Sizes",
         "%d heads without biases take tokens of %d entries; queries and "
         "keys have %d, values %d. %d words see each other.",
         heads, d_in, d_k, d_v, n);
    ask("How many parameters has one head?");
    answer_words("%" PRId64, count_parameters(1, d_in, d_k, d_v));
    ask("How many have all heads?");
    answer_words("%" PRId64, count_parameters(heads, d_in, d_k, d_v));
    ask("How many weights of attention do they compute?");
    answer_words("%d", heads * n * n);
    ask("Rows and columns of their context vectors, side by side.");
    answer_words("%d %d", n, heads * d_v);
    ask("Of which head, and which of its entries, is column %d?", column);
    answer_words("%d %d", (column - 1) / d_v + 1, (column - 1) % d_v + 1);

    float weights[2][3], value[2][3][2], joined[4];
    do {
        for (int h = 0; h < 2; h++) {
            tenths_fill(r, 3, weights[h]);
            whole_fill(r, 3, 2, -3, 5, value[h]);
            weighted_sum(3, 2, weights[h], value[h], joined + 2 * h);
        }
    } while (has_dull_rows(2, 3, weights) ||
             has_dull_rows(3, 2, value[0]) ||
             has_dull_rows(3, 2, value[1]));
    task("Two heads, one word",
         "For the same word, two heads have the weights _w_#sub[1] and "
         "_w_#sub[2], and the values _V_#sub[1] and _V_#sub[2].");
    given("w_1", 1, 3, (void *)weights[0]);
    given("V_1", 3, 2, value[0]);
    given("w_2", 1, 3, (void *)weights[1]);
    given("V_2", 3, 2, value[1]);
    ask("The word's context vectors, side by side, to one digit.");
    answer(1, 4, joined);
}

static void task_split(Random *r)
{
    float x[2][6], split[3][2][2];
    do
        whole_fill(r, 2, 6, -9, 9, x);
    while (has_dull_rows(2, 6, x));
    split_heads(2, 3, 2, x, split);
    task("Splitting",
         "The queries _Q_ of two words are those of three heads.");
    given("Q", 2, 6, x);
    for (int h = 0; h < 3; h += 2) {
        ask("The queries of head %d.", h + 1);
        answer_rows(0, 2, 2, split[h]);
    }
    const int heads = whole(r, 4, 12), head_dim = 8 * whole(r, 2, 8);
    const int column = whole(r, head_dim, heads * head_dim);
    ask("%d columns belong to %d heads. To which head, and which of its "
        "entries, belongs column %d?",
        heads * head_dim, heads, column);
    answer_words("%d %d", (column - 1) / head_dim + 1,
                 (column - 1) % head_dim + 1);
}

static void task_merge(Random *r)
{
    float context[2][1][2], joined[1][4], weight[2][4], bias[2], out[1][2];
    do {
        whole_fill(r, 1, 2, -3, 4, context[0]);
        whole_fill(r, 1, 2, -3, 4, context[1]);
        whole_fill(r, 2, 4, -2, 3, weight);
    } while (has_dull_rows(2, 2, (const void *)context) ||
             has_dull_rows(2, 4, weight));
    whole_fill(r, 1, 2, 1, 5, (void *)bias);
    merge_heads(1, 2, 2, context, joined);
    const Linear layer = {4, 2, weight[0], bias};
    linear_forward(&layer, 1, joined, out);
    task("Merging, and the output layer",
         "Two heads have the context vectors _c_#sub[1] and _c_#sub[2] for "
         "a "
         "word; the output layer has the weight _W_ and the bias _b_.");
    given("c_1", 1, 2, context[0]);
    given("c_2", 1, 2, context[1]);
    given("W", 2, 4, weight);
    given("b", 1, 2, (void *)bias);
    ask("What the output layer takes.");
    answer(0, 4, joined[0]);
    ask("What it makes of it.");
    answer(0, 2, out[0]);
}

static int all_parameters(int d_in, int d_out, int heads, int has_bias)
{
    Attention a;
    Random ours = random_seeded(0);
    multi_head_init(&a, &ours, d_in, d_out, 0, 0, heads, has_bias);
    const int count = (int)a.count;
    attention_free(&a);
    return count;
}

void tasks_13(Random *r)
{
    task_split(r);
    task_merge(r);
    const int heads = whole(r, 2, 4), d_out = heads * whole(r, 2, 5);
    const int d_in = whole(r, 3, 12);
    task(
        "Parameters",
        "`MultiHeadAttention` with %d heads takes %d entries and gives %d; "
        "its output layer has a bias.",
        heads, d_in, d_out);
    ask("How many parameters has it without a bias for queries, keys and "
        "values?");
    answer_words("%d", all_parameters(d_in, d_out, heads, 0));
    ask("And with these?");
    answer_words("%d", all_parameters(d_in, d_out, heads, 1));
}

static void task_online_softmax(Random *r)
{
    float scores[3], value[3][2], largest[3], sums[3], mixture[2],
        log_sum_exp;
    do {
        OnlineSoftmax run;
        whole_fill(r, 1, 3, -3, 6, (void *)scores);
        whole_fill(r, 3, 2, -3, 5, value);
        online_softmax_init(2, &run, mixture);
        for (int j = 0; j < 3; j++) {
            online_softmax_add(2, scores[j], value[j], &run, mixture);
            largest[j] = run.largest;
            sums[j] = (float)run.sum;
        }
        log_sum_exp = online_softmax_finish(2, &run, mixture);
    } while (range(3, scores) > 4 || clear_largest(3, scores, 1) < 1 ||
             has_dull_rows(3, 2, value) || !is_clear(2, 3, sums) ||
             !is_clear(2, 2, mixture) || !is_clear(2, 1, &log_sum_exp));
    task(
        "A query meets three keys",
        "Their scores are _s_, in this order, and their values the rows of "
        "_V_.");
    given("s", 1, 3, (void *)scores);
    given("V", 3, 2, value);
    ask("The largest score after each key.");
    answer(0, 3, largest);
    ask("The running sum after each key.");
    step("sums", 3, sums);
    answer(2, 3, sums);
    ask("The context vector in the end.");
    step("context", 2, mixture);
    answer(2, 2, mixture);
    ask("The logarithm of the sum of all exponentials.");
    answer(2, 1, &log_sum_exp);
}

static void task_merge_contexts(Random *r)
{
    float first[2], second[2], joined[2], log_sums[2], both;
    do {
        whole_fill(r, 1, 2, -3, 5, (void *)first);
        whole_fill(r, 1, 2, -3, 5, (void *)second);
        whole_fill(r, 1, 2, 1, 5, (void *)log_sums);
        memcpy(joined, first, sizeof joined);
        both = merge_contexts(2, joined, log_sums[0], second, log_sums[1]);
    } while (log_sums[0] == log_sums[1] || range(2, log_sums) > 3 ||
             !memcmp(first, second, sizeof first) ||
             !is_clear(2, 2, joined) || !is_clear(2, 1, &both));
    const float share = 1 / (1 + expf(log_sums[1] - log_sums[0]));
    task("Two parts",
         "From one part of the keys a query has got the context vector "
         "_c_#sub[1], from the other _c_#sub[2]. Their log-sum-exps are %g "
         "and %g.",
         (double)log_sums[0], (double)log_sums[1]);
    given("c_1", 1, 2, (void *)first);
    given("c_2", 1, 2, (void *)second);
    ask("The context vector from all keys.");
    step("share of the first part", 1, &share);
    answer(2, 2, joined);
    ask("The log-sum-exp of all keys.");
    answer(2, 1, &both);
}

void tasks_14(Random *r)
{
    task_online_softmax(r);
    task_merge_contexts(r);
}
