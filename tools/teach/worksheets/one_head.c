/* Chapters 1 to 8: a dot product, and what becomes of it. Numbers are drawn
 * until the answers do not lie where a rounding on the way would turn them,
 * and the task shows what it is there for. */
#include "worksheet.h"

/* The key with the largest score and the one with the nearest direction
 * shall be two. */
static void task_alignment(Random *r)
{
    float query[1][3], key[3][3], scores[1][3], cosines[1][3], lengths[4];
    int largest, nearest;
    do {
        whole_fill(r, 1, 3, -2, 4, query);
        whole_fill(r, 3, 3, -2, 4, key);
        largest = nearest = 0;
        if (has_dull_rows(1, 3, query) || has_dull_rows(3, 3, key))
            continue;
        dot_scores(1, 3, 3, query, key, scores);
        cosine_scores(1, 3, 3, query, key, cosines);
        for (int j = 0; j < 4; j++)
            lengths[j] = length(3, j ? key[j - 1] : query[0]);
        largest = clear_largest(3, scores[0], 1);
        nearest = clear_largest(3, cosines[0], 0.05f);
    } while (largest < 0 || nearest < 0 || largest == nearest ||
             !is_clear(2, 4, lengths) || !is_clear(2, 3, cosines[0]));
    task("A query and three keys",
         "The rows of _K_ are the keys 1, 2 and 3.");
    given("q", 1, 3, query);
    given("K", 3, 3, key);
    ask("The scores: the dot product of the query with each key.");
    answer(0, 3, scores[0]);
    ask("Which key has the largest score?");
    answer_words("%d", largest + 1);

    task("Direction alone", "The same query and keys as arrows.");
    ask("The lengths of the query and of the keys.");
    answer(2, 4, lengths);
    ask("The cosines of the query with each key.");
    answer(2, 3, cosines[0]);
    ask("Which key has the direction nearest to that of the query?");
    answer_words("%d", nearest + 1);
}

static void task_product(Random *r)
{
    float a[2][3], b[3][2], product[2][2];
    whole_fill(r, 2, 3, -2, 4, a);
    whole_fill(r, 3, 2, -2, 4, b);
    matmul(2, 2, 3, a, b, product);
    task("A matrix product",
         "Two tables, with three columns and three rows.");
    given("A", 2, 3, a);
    given("B", 3, 2, b);
    ask("_A B_, row by row.");
    answer_rows(0, 2, 2, product);
}

void tasks_01(Random *r)
{
    task_alignment(r);
    task_product(r);
}

void tasks_02(Random *r)
{
    float scores[3], apart[3], powers[3], weights[3], shifted[3], same[3];
    float value[3][2], context[2], sum, most;
    do {
        whole_fill(r, 1, 3, -3, 6, (void *)scores);
        whole_fill(r, 3, 2, -3, 5, value);
        softmax(3, scores, weights);
        weighted_sum(3, 2, weights, value, context);
        most = fmaxf(fmaxf(scores[0], scores[1]), scores[2]);
        sum = 0;
        for (int j = 0; j < 3; j++) {
            apart[j] = scores[j] - most;
            sum += powers[j] = expf(apart[j]);
        }
    } while (clear_largest(3, scores, 1) < 0 || range(3, scores) > 4 ||
             has_dull_rows(3, 2, value) || !is_clear(2, 3, weights) ||
             !is_clear(2, 1, &sum) || !is_clear(2, 2, context));
    task("Softmax", "A query has the scores _s_ with three keys.");
    given("s", 1, 3, (void *)scores);
    ask("The scores less the largest of them.");
    answer(0, 3, apart);
    ask("The sum of the exponentials of what is left.");
    step("exponentials", 3, powers);
    answer(2, 1, &sum);
    ask("The weights.");
    step("weights", 3, weights);
    answer(2, 3, weights);

    const int shift = 10 * whole(r, 2, 9);
    for (int j = 0; j < 3; j++)
        shifted[j] = scores[j] + (float)shift;
    softmax(3, shifted, same);
    task("A shift", "To each of the three scores, %d is added.", shift);
    ask("The weights now.");
    answer(2, 3, same);

    task("A mixture", "The rows of _V_ are the values of the three keys.");
    given("V", 3, 2, value);
    ask("The context vector: the mixture of the values by the weights.");
    step("context", 2, context);
    answer(2, 2, context);
}

void tasks_03(Random *r)
{
    float x[3][2], w[3][2][2], query[3][2], key[3][2], value[3][2];
    float scores[3], weights[3], context[2];
    int i;
    do {
        whole_fill(r, 3, 2, -1, 2, x);
        for (int role = 0; role < 3; role++)
            whole_fill(r, 2, 2, -1, 2, w[role]);
        i = place_below(r, 3);
        project_qkv(3, 2, 2, 2, x, w[0], w[1], w[2], query, key, value);
        attend_one(3, 2, 2, query[i], key, value, scores, weights, context);
    } while (has_dull_rows(3, 2, x) || has_dull_rows(3, 2, key) ||
             has_dull_rows(3, 2, value) || range(3, scores) > 4 ||
             clear_largest(3, scores, 1) < 0 || !is_clear(2, 3, weights) ||
             !is_clear(2, 2, context));
    task("Three roles", "The rows of _X_ are the words 1, 2 and 3.");
    given("X", 3, 2, x);
    given("W_q", 2, 2, w[0]);
    given("W_k", 2, 2, w[1]);
    given("W_v", 2, 2, w[2]);
    ask("The query of word %d.", i + 1);
    answer(0, 2, query[i]);
    ask("The keys of all three words.");
    answer_rows(0, 3, 2, key);
    ask("Their values.");
    answer_rows(0, 3, 2, value);

    task("Attending", "Word %d asks. Nothing is divided by a root here.",
         i + 1);
    ask("Its scores with the three keys.");
    answer(0, 3, scores);
    ask("Its weights.");
    softmax_steps(3, scores);
    answer(2, 3, weights);
    ask("Its context vector.");
    step("context", 2, context);
    answer(2, 2, context);
}

/* The new first number of a Twister of which all but three are 0. */
static uint32_t twisted(uint32_t first, uint32_t second, uint32_t far)
{
    uint32_t state[RANDOM_STATE] = {first, second};
    state[397] = far;
    random_twist(state);
    return state[0];
}

static void one_twist(Random *r)
{
    const uint32_t first = (uint32_t)whole(r, 1, 15) << 28;
    const uint32_t second =
        (uint32_t)whole(r, 0, 15) << 28 | (uint32_t)whole(r, 16, 255);
    const uint32_t far = (uint32_t)whole(r, 16, 255) << 20;
    const uint32_t y = (first & 0x80000000) | (second & 0x7fffffff);
    task("One step of the Twister",
         "Three of its 624 numbers, in hexadecimal: "
         "`state[0]` is `%08" PRIx32 "`, `state[1]` is `%08" PRIx32
         "`, `state[397]` is `%08" PRIx32 "`.",
         first, second, far);
    ask("_y_: the topmost bit of `state[0]`, and the others of "
        "`state[1]`.");
    answer_words("%08" PRIx32, y);
    ask("_y_, shifted to the right by one bit.");
    answer_words("%08" PRIx32, y >> 1);
    ask("The new `state[0]`: this XOR `state[397]`, and if _y_ is odd, XOR "
        "`9908b0df`.");
    step_words("y is", y & 1 ? "odd" : "even");
    answer_words("%08" PRIx32, twisted(first, second, far));
}

static bool have_one_stream(uint64_t a, uint64_t b)
{
    const Random x = random_seeded(a), y = random_seeded(b);
    return !memcmp(x.state, y.state, sizeof x.state);
}

static void one_stream(Random *r)
{
    const uint64_t seed = (uint64_t)whole(r, 10, 999), turn = UINT64_C(1)
                                                              << 32;
    const uint64_t times = (uint64_t)whole(r, 1, 3);
    const int first = place_below(r, 3);
    const uint64_t other[3] = {
        seed + times * turn, seed + times * (turn - 1), seed + (turn >> 1)};
    int same = -1;
    task("Another seed",
         "Of a seed the lower 32 bits count, and 2#super[32] "
         "is 4294967296.");
    ask("Which has the stream of seed %" PRIu64 ": (1) %" PRIu64
        ", (2) %" PRIu64 " or (3) %" PRIu64 "?",
        seed, other[first], other[(first + 1) % 3], other[(first + 2) % 3]);
    for (int k = 0; k < 3; k++)
        if (have_one_stream(seed, other[(first + k) % 3]))
            same = k;
    answer_words("%d", same + 1);
}

void tasks_04(Random *r)
{
    float number, between[1][1];
    uint32_t bits;
    int seed, low, high;
    do {
        seed = whole(r, 1, 9999);
        low = whole(r, -3, 0);
        high = whole(r, 2, 4);
        Random r_1 = random_seeded((uint64_t)seed), r_2 = r_1, r_3 = r_1;
        bits = random_u32(&r_1);
        number = random_float(&r_2);
        uniform_fill(&r_3, 1, 1, (float)low, (float)high, between);
    } while (!is_clear(4, 1, &number) || !is_clear(2, 1, between[0]));
    task("From bits to a number",
         "The first draw from seed %d is `%08" PRIx32 "` in hexadecimal.",
         seed, bits);
    ask("Its lower 24 bits, as a decimal number.");
    step_words("hexadecimal", "%06" PRIx32, bits & 0xffffff);
    answer_words("%" PRIu32, bits & 0xffffff);
    ask("The number of `torch.rand(1)`, to four digits: these bits, "
        "divided "
        "by 2#super[24] = 16777216.");
    answer(4, 1, &number);
    ask("The number of `x.uniform_(%d, %d)` for the same draw, to two.",
        low, high);
    step("number", 1, between[0]);
    answer(2, 1, between[0]);
    one_twist(r);
    one_stream(r);
}

/* A sentence of two or three different nouns, one of which leads it with a
 * capital letter, and a verb or two. */
static void sentence_of(Random *r, size_t size, char sentence[size])
{
    static const char *const noun[] = {"ants", "bees", "birds", "cats",
                                       "dogs", "fish", "hens",  "mice"};
    static const char *const verb[] = {"feed", "hear", "know",
                                       "like", "meet", "see"};
    int n[3];
    for (int k = 0; k < 3; k++)
        do
            n[k] = place_below(r, 8);
        while ((k > 0 && n[k] == n[k - 1]) || (k == 2 && n[k] == n[0]));
    const char *const does[2] = {verb[place_below(r, 6)],
                                 verb[place_below(r, 6)]};
    snprintf(sentence, size, "%s %s %s, %s %s %s, and %s %s %s", noun[n[0]],
             does[0], noun[n[1]], noun[n[1]], does[1], noun[n[2]],
             noun[n[2]], does[0], noun[n[0]]);
    sentence[0] = (char)(sentence[0] - 'a' + 'A');
}

static void whole_answer(int n, const int x[n])
{
    float numbers[WORDS_MAX];
    for (int k = 0; k < n; k++)
        numbers[k] = (float)x[k];
    answer(0, n, numbers);
}

void tasks_05(Random *r)
{
    char sentence[200], all[WORDS_MAX * sizeof(Word)] = "";
    Word word[WORDS_MAX], entry[WORDS_MAX];
    int ids[WORDS_MAX];
    sentence_of(r, sizeof sentence, sentence);
    const int n = split_words(sentence, word);
    const int size = build_vocabulary(n, word, entry);
    word_ids(n, word, size, entry, ids);
    for (int k = 0; k < size; k++)
        strcat(strcat(all, k ? " " : ""), entry[k]);
    task("Words and ids", "_%s_", sentence);
    ask("The vocabulary: the different words, in the order of their "
        "bytes.");
    answer_words("%s", all);
    ask("The ids of the sentence's words, from 0 on.");
    whole_answer(n, ids);

    float table[WORDS_MAX][3], x[WORDS_MAX][3], one_hot[1][WORDS_MAX];
    const int place = whole(r, 2, n - 1), rows = 1000 * whole(r, 11, 99);
    do
        whole_fill(r, size, 3, -9, 9, table);
    while (has_dull_rows(size, 3, table));
    embed(n, 3, size, ids, table, x);
    embed_one_hot(1, 3, size, ids + place, table, (void *)one_hot,
                  x + WORDS_MAX - 1);
    task("Looking up", "The vocabulary's embeddings are the rows of _E_.");
    given("E", size, 3, table);
    ask("What the words number 1, 2 and %d of the sentence look up.",
        place + 1);
    memcpy(x + 2, x + place, sizeof *x);
    answer_rows(0, 3, 3, x);
    ask("The one-hot row of word number %d.", place + 1);
    answer(0, size, (const void *)one_hot);
    ask("Another table has %d rows of %d entries. How many numbers is "
        "that?",
        rows, 8 * (place % 4 + 1));
    answer_words("%d", rows * 8 * (place % 4 + 1));
}

static void task_spread(Random *r)
{
    float scores[1][4], mean, spread;
    do {
        whole_fill(r, 1, 4, -4, 8, scores);
        mean = spread = 0;
        for (int j = 0; j < 4; j++)
            mean += scores[0][j] / 4;
        spread = score_spread(4, scores[0]);
    } while (range(4, scores[0]) < 2 || !is_clear(2, 1, &mean) ||
             !is_clear(2, 1, &spread));
    task("The spread", "A query has the scores _s_ with four keys.");
    given("s", 1, 4, scores);
    ask("Their mean.");
    answer(2, 1, &mean);
    ask("Their spread, the standard deviation.");
    const float square = spread * spread;
    step("mean square of the differences", 1, &square);
    answer(2, 1, &spread);
}

static void task_division(Random *r)
{
    const int root = whole(r, 2, 5);
    float before[3], scaled[3], weights[2][3];
    do {
        whole_fill(r, 1, 3, -4, 8, (void *)before);
        memcpy(scaled, before, sizeof before);
        scale_scores(1, 3, root * root, (void *)scaled);
        softmax(3, before, weights[0]);
        softmax(3, scaled, weights[1]);
    } while (clear_largest(3, before, 1) < 0 || range(3, before) > 8 ||
             !is_clear(2, 3, weights[0]) || !is_clear(2, 3, weights[1]) ||
             !is_clear(2, 3, scaled));
    task(
        "The division",
        "Queries and keys have %d entries each, and a query has the scores "
        "_t_ with three keys.",
        root * root);
    given("t", 1, 3, (void *)before);
    ask("The weights, from the scores as they are.");
    softmax_steps(3, before);
    answer(2, 3, weights[0]);
    ask("The scores, divided as attention does.");
    answer(2, 3, scaled);
    ask("The weights, from the scores so divided.");
    softmax_steps(3, scaled);
    answer(2, 3, weights[1]);
}

static void task_nudge(Random *r)
{
    float shares[3], nudged[3];
    int j, up;
    do {
        tenths_fill(r, 3, shares);
        j = place_below(r, 3);
        up = whole(r, 1, 2);
        nudge_share(3, shares, j, (float)up, nudged);
    } while (!is_clear(2, 3, nudged));
    task("A nudge", "The scores of another query are not known, but its "
                    "weights _w_ are.");
    given("w", 1, 3, (void *)shares);
    ask("The weights, if the score behind weight %d were %d higher.", j + 1,
        up);
    const float factor = expf((float)up);
    const float sum = 1 + shares[j] * (factor - 1);
    step("factor", 1, &factor);
    step("sum", 1, &sum);
    answer(2, 3, nudged);
}

void tasks_06(Random *r)
{
    task_spread(r);
    task_division(r);
    task_nudge(r);
}

/* The parameters of one head. */
static int parameters(int d_in, int d_k, int d_v, int has_bias)
{
    Attention a;
    attention_init(&a, &(Attention){.d_x = d_in,
                                    .d_y = d_in,
                                    .n_heads = 1,
                                    .d_k = d_k,
                                    .d_v = d_v,
                                    .has_bias = has_bias});
    const int count = (int)a.count;
    attention_free(&a);
    return count;
}

static void task_layer(Random *r)
{
    float x[1][3], weight[2][3], bias[2], out[1][2], turned[3][2];
    whole_fill(r, 1, 3, -2, 4, x);
    whole_fill(r, 2, 3, -2, 4, weight);
    whole_fill(r, 1, 2, 1, 5, (void *)bias);
    const Linear layer = {3, 2, weight[0], bias};
    linear_forward(&layer, 1, x, out);
    transpose(2, 3, weight, turned);
    task(
        "A linear layer",
        "A layer from 3 entries to 2 has the weight _W_ and the bias _b_.");
    given("x", 1, 3, x);
    given("W", 2, 3, weight);
    given("b", 1, 2, (void *)bias);
    ask("What the layer makes of _x_.");
    answer(0, 2, out[0]);
    ask("Version 1 computes _x M_ with a matrix _M_. Which one makes the "
        "same of _x_, but for the bias?");
    answer_rows(0, 3, 2, turned);
}

static void task_parameters(Random *r)
{
    const int d_in = whole(r, 3, 12), d_k = whole(r, 2, 9);
    const int d_v = whole(r, 2, 9);
    task("Parameters",
         "A head of version 2 takes %d entries of a token; its queries and "
         "keys have %d, its values %d.",
         d_in, d_k, d_v);
    ask("How many parameters has it without biases?");
    answer_words("%d", parameters(d_in, d_k, d_v, 0));
    ask("And with a bias for each of the three layers?");
    answer_words("%d", parameters(d_in, d_k, d_v, 1));
}

static void task_order(Random *r)
{
    float context[4][2], moved[4][2];
    int order[4];
    do {
        for (int i = 0; i < 4; i++)
            order[i] = (i + place_below(r, 4)) % 4;
    } while ((1 << order[0] | 1 << order[1] | 1 << order[2] |
              1 << order[3]) != 15 ||
             (order[0] == 0 && order[1] == 1));
    whole_fill(r, 4, 2, 1, 9, context);
    permute_tokens(4, 2, order, context, moved);
    task("Another order",
         "Four words see each other, without a mask; their context vectors "
         "are the rows of _C_.");
    given("C", 4, 2, context);
    ask("The words now come in the order %d, %d, %d, %d. What are the rows "
        "of _C_?",
        order[0] + 1, order[1] + 1, order[2] + 1, order[3] + 1);
    answer_rows(0, 4, 2, moved);
}

void tasks_07(Random *r)
{
    task_layer(r);
    task_parameters(r);
    task_order(r);
}

static void task_shapes(Random *r)
{
    const int n = whole(r, 3, 6), m = n + whole(r, 2, 5);
    Attention a;
    attention_init(&a, &(Attention){.d_x = whole(r, 3, 9),
                                    .d_y = whole(r, 3, 9),
                                    .n_heads = 1,
                                    .d_k = whole(r, 2, 5),
                                    .d_v = whole(r, 2, 5)});
    Trace t;
    trace_init_for(&t, &a, n, m);
    const float shapes[6][2] = {{(float)a.key.d_out, (float)a.key.d_in},
                                {(float)t.n, (float)t.d_k},
                                {(float)t.m, (float)t.d_k},
                                {(float)t.m, (float)t.d_v},
                                {(float)t.n, (float)t.m},
                                {(float)t.n, (float)t.d_v}};
    static const char *const of[6] = {
        "The weight of the layer for the keys, as a linear layer has it.",
        "The queries.",
        "The keys.",
        "The values.",
        "The scores.",
        "The context vectors."};
    task("Shapes",
         "%d tokens of %d entries ask %d tokens of %d entries. Queries and "
         "keys have %d entries, values %d. Rows and columns of each table:",
         n, a.d_x, m, a.d_y, a.d_k, a.d_v);
    for (int k = 0; k < 6; k++) {
        ask("%s", of[k]);
        answer(0, 2, shapes[k]);
    }
    trace_free(&t);
    attention_free(&a);
}

static void task_one_asks(Random *r)
{
    float query[1][4], key[3][4], value[3][2];
    float scores[1][3], weights[1][3], context[1][2];
    int place;
    do {
        whole_fill(r, 1, 4, -2, 3, query);
        whole_fill(r, 3, 4, -2, 3, key);
        whole_fill(r, 3, 2, -3, 5, value);
        attention(1, 3, 4, 2, query, key, value, scores, weights, context);
        hard_alignment(1, 3, weights, &place);
    } while (has_dull_rows(1, 4, query) || has_dull_rows(3, 4, key) ||
             has_dull_rows(3, 2, value) || range(3, scores[0]) > 4 ||
             clear_largest(3, scores[0], 0.5f) < 0 ||
             !is_clear(2, 3, weights[0]) || !is_clear(2, 2, context[0]));
    task("One asks three",
         "A token of one text has the query _q_, three of "
         "another the rows of _K_ and _V_.");
    given("q", 1, 4, query);
    given("K", 3, 4, key);
    given("V", 3, 2, value);
    ask("The scores, divided by the root of _d_#sub[_k_].");
    answer(1, 3, scores[0]);
    ask("The weights.");
    softmax_steps(3, scores[0]);
    answer(2, 3, weights[0]);
    ask("The one token that it goes with, if it must be one.");
    answer_words("%d", place + 1);
    ask("The context vector.");
    step("context", 2, context[0]);
    answer(2, 2, context[0]);
}

void tasks_08(Random *r)
{
    task_shapes(r);
    task_one_asks(r);
}
