/* Chapter 25 against Python: golden/25_gpt2. */
#define CHAPTER "25_gpt2"
#include "golden.h"
#include "attention/25_gpt2.h"

/* Each pair in turn, as often as it stands there, and where none stands
 * twice the next. */
static void pairs_test(const char *set)
{
    int n = dim(set, "text", 0), pair[2];
    const int merges = dim(set, "pairs", 0);
    int ids[n];
    const int *due_pairs = merges ? golden_ints(set, "pairs") : NULL;
    memcpy(ids, golden_ints(set, "text"), sizeof ids);
    for (int k = 0; k < merges; k++) {
        next_case();
        given("merge %d, of %d tokens", k, n);
        expect_equal("how often",
                     most_frequent_pair(BPE_BYTES + k, n, ids, pair),
                     golden_ints(set, "counts")[k]);
        expect_equal("left", pair[0], due_pairs[2 * k]);
        expect_equal("right", pair[1], due_pairs[2 * k + 1]);
        n = bpe_merge(n, ids, pair, BPE_BYTES + k);
    }
    expect_equal("tokens", n, dim(set, "merged", 0));
    for (int i = 0; i < n; i++)
        expect_equal("token", ids[i], golden_ints(set, "merged")[i]);
}

static void no_pair_test(void)
{
    int pair[2] = {7, 8};
    for (int n = 0; n < 2; n++)
        expect_equal("how often", most_frequent_pair(9, n, pair, pair), 0);
    expect_true("the pair stays", pair[0] == 7 && pair[1] == 8);
}

static void merge_test(void)
{
    const struct {
        int n, ids[7], left, due[7];
    } text[] = {{0, {0}, 0, {0}},
                {1, {1}, 1, {1}},
                {2, {1, 2}, 1, {9}},
                {2, {2, 1}, 2, {2, 1}},
                {5, {1, 2, 1, 2, 2}, 3, {9, 9, 2}},
                {7, {1, 1, 2, 3, 1, 2, 1}, 5, {1, 9, 3, 9, 1}}};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        int ids[7];
        memcpy(ids, text[i].ids, sizeof ids);
        next_case();
        given("text %zu", i);
        expect_equal("left", bpe_merge(text[i].n, ids, (int[2]){1, 2}, 9),
                     text[i].left);
        for (int k = 0; k < text[i].left; k++)
            expect_equal("token", ids[k], text[i].due[k]);
    }
    int same[5] = {1, 1, 1, 1, 1};
    expect_equal("of five equal ones",
                 bpe_merge(5, same, (int[2]){1, 1}, 9), 3);
    expect_equal("the last stays", same[2], 1);
}

static void train_test(const char *set)
{
    const int n = dim(set, "text", 0), merges = dim(set, "pairs", 0);
    const int most = (int)golden_number(set, "merges");
    int ids[n], (*pair)[2] = new_list((size_t)most, sizeof *pair);
    memcpy(ids, golden_ints(set, "text"), sizeof ids);
    expect_equal("merges", bpe_train(n, ids, most, pair), merges);
    for (int k = 0; k < 2 * merges; k++)
        expect_equal("pair", pair[k / 2][k % 2],
                     golden_ints(set, "pairs")[k]);
    free(pair);
}

/* Another text, and the one that the merges were learned from. */
static void encode_test(const char *set)
{
    static const char *const from[2] = {"other", "text"};
    static const char *const to[2] = {"encoded", "merged"};
    const int(*pair)[2] = (void *)golden_ints(set, "pairs");
    for (int text = 0; text < 2; text++) {
        const int n = dim(set, from[text], 0);
        int ids[n];
        memcpy(ids, golden_ints(set, from[text]), sizeof ids);
        const int left = bpe_encode(dim(set, "pairs", 0), pair, n, ids);
        expect_equal("tokens", left, dim(set, to[text], 0));
        for (int i = 0; i < left; i++)
            expect_equal("token", ids[i], golden_ints(set, to[text])[i]);
    }
}

/* All tokens of a text, one after another, are the text. */
static void decode_test(const char *set)
{
    const int merges = dim(set, "pairs", 0), n = dim(set, "text", 0);
    const int(*pair)[2] = (void *)golden_ints(set, "pairs");
    char text[n];
    int bytes = 0;
    for (int i = 0; i < dim(set, "merged", 0); i++)
        bytes += bpe_decode(merges, pair, golden_ints(set, "merged")[i],
                            n - bytes, text + bytes);
    expect_equal("bytes", bytes, n);
    for (int i = 0; i < n; i++)
        expect_equal("byte", (unsigned char)text[i],
                     golden_ints(set, "text")[i]);
}

static void refusals(void)
{
    int pair[1][2] = {{97, 98}}, two[2] = {7, 8};
    char text[4];
    REFUSES(NULL, most_frequent_pair(8, 2, two, pair[0]));
    REFUSES(NULL, most_frequent_pair(9, 2, (int[2]){-1, 2}, pair[0]));
    REFUSES(NULL, bpe_train(2, (int[2]){256, 1}, 1, pair));
    REFUSES(NULL, bpe_decode(1, (const int(*)[2])pair, 257, 4, text));
    REFUSES(NULL, bpe_decode(1, (const int(*)[2])pair, 256, 1, text));
    REFUSES(NULL, bpe_decode(1, (const int(*)[2])pair, -1, 4, text));
}

int main(void)
{
    EACH_SET("most_frequent_pair", "pairs_*-pairs", pairs_test(set));
    TAP("most_frequent_pair: of no pair", no_pair_test());
    TAP("bpe_merge: from left to right", merge_test());
    EACH_SET("bpe_train", "pairs_*-pairs", train_test(set));
    EACH_SET("bpe_encode", "pairs_*-pairs", encode_test(set));
    EACH_SET("bpe_decode", "pairs_*-pairs", decode_test(set));
    refusals();
    return tap_done();
}
