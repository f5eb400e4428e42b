/* Chapter 5 against PyTorch: golden/05_tokens. Words have no golden data:
 * what Python makes of a sentence stands here. */
#define CHAPTER "05_tokens"
#include "golden.h"
#include "attention/05_tokens.h"

/* Are the words, with a blank after each, what is due? */
static void expect_words(const char *what, int n, const Word word[n],
                         const char *due)
{
    char got[WORDS_MAX * sizeof *word + 1] = "";
    for (int i = 0; i < n; i++)
        strcat(strcat(got, word[i]), " ");
    expect(!strcmp(got, due), what, "'%s' where '%s' is due", got, due);
}

/* Sentences of at most so many words of w, each with a blank behind it. */
static char sentence[2 * WORDS_MAX + 3];
static const char *of_words(int n)
{
    for (int i = 0; i < n; i++)
        memcpy(sentence + 2 * i, "w ", 3);
    return sentence;
}

static void split_test(void)
{
    const char *const cases[][2] = {
        {"Life is short, eat dessert first",
         "Life is short eat dessert first "},
        {"one", "one "},
        {"  a,  b\t,c\nd ,", "a b c d "},
        {",a , ,b", "a b "},
        {"a,b 1,000", "ab 1000 "},
        {"Schöne Grüße, 你好", "Schöne Grüße 你好 "},
        {"1234567890123456789012345678901",
         "1234567890123456789012345678901 "},
        {of_words(WORDS_MAX), sentence},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Word word[WORDS_MAX];
        expect_words(cases[i][0], split_words(cases[i][0], word), word,
                     cases[i][1]);
    }
}

/* What Python's sorted(set(words)) makes of the words of a sentence. */
static void vocabulary_test(const char *words, const char *due)
{
    Word word[WORDS_MAX], entry[WORDS_MAX];
    const int n = split_words(words, word);
    expect_words(words, build_vocabulary(n, word, entry), entry, due);
}

static void tests_of_vocabulary(void)
{
    static const char *const cases[][3] = {
        {"build_vocabulary: a sentence", "Life is short, eat dessert first",
         "Life dessert eat first is short "},
        {"build_vocabulary: one word", "one", "one "},
        {"build_vocabulary: each word once", "the cat and the dog",
         "and cat dog the "},
        {"build_vocabulary: one word often", "b b b a", "a b "},
        {"build_vocabulary: the order of bytes", "é z Z ab a 你",
         "Z a ab z é 你 "},
        {"build_vocabulary: words that begin alike", "ab abc a aa abb",
         "a aa ab abb abc "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        TAP(cases[i][0], vocabulary_test(cases[i][1], cases[i][2]));
}

static void ids_test(void)
{
    const Word entry[3] = {"a", "ab", "b"}, word[4] = {"b", "a", "b", "ab"};
    const int due[4] = {2, 0, 2, 1};
    int ids[4];
    word_ids(4, word, 3, entry, ids);
    for (int i = 0; i < 4; i++)
        expect_equal("id", ids[i], due[i]);
}

static void sentence_test(void)
{
    Word word[WORDS_MAX], entry[WORDS_MAX];
    int ids[WORDS_MAX];
    int n = split_words("Life is short, eat dessert first", word);
    word_ids(n, word, build_vocabulary(n, word, entry), entry, ids);
    expect_equal("words", n, dim("sentence", "ids", 0));
    expect_close("ids", ids, golden("sentence", "ids"), EXACTLY);
}

static void refusals(void)
{
    static const Word a_and_b[2] = {"a", "b"}, c[1] = {"c"};
    static const int wrong[2][1] = {{2}, {-1}};
    static const float table[2][1];
    Word word[WORDS_MAX];
    int ids[1];
    float x[1][1], hot[1][2];
    REFUSES("05_tokens.c: split_words: the sentence ' , \\x0a' has no "
            "words: at least one is needed",
            split_words(" , \n", word));
    REFUSES("05_tokens.c: split_words: word 65 does not fit: at most 64 "
            "words, of at most 31 bytes each, are needed",
            split_words(of_words(WORDS_MAX + 1), word));
    REFUSES("05_tokens.c: split_words: word 2 does not fit: at most 64 "
            "words, of at most 31 bytes each, are needed",
            split_words("a 12345678901234567890123456789012", word));
    REFUSES("05_tokens.c: word_ids: 'c' is not in the vocabulary: one of "
            "its 2 words is needed",
            word_ids(1, c, 2, a_and_b, ids));
    for (int i = 0; i < 2; i++) {
        const char *words =
            tap_words("id %d of a table of 2 rows", *wrong[i]);
        REFUSES_SUCH(words, embed(1, 1, 2, wrong[i], table, x));
        REFUSES_SUCH(words,
                     embed_one_hot(1, 1, 2, wrong[i], table, hot, x));
    }
}

int main(void)
{
    TAP("split_words: commas, blanks, other alphabets", split_test());
    tests_of_vocabulary();
    TAP("word_ids: places in the vocabulary", ids_test());
    EACH_SET("embed", "*-table",
             embed(dim(set, "ids", 0), dim(set, "table", 1),
                   dim(set, "table", 0), input_ints(set, "ids", "ids"),
                   input(set, "table"), due(set, "embedded", EXACTLY)));
    EACH_SET(
        "embed_one_hot", "*-table",
        embed_one_hot(dim(set, "ids", 0), dim(set, "table", 1),
                      dim(set, "table", 0), input_ints(set, "ids", "ids"),
                      input(set, "table"), due(set, "one_hot", EXACTLY),
                      due(set, "embedded", EXACTLY)));
    TAP("word_ids: of a sentence", sentence_test());
    TAP("life: what the seed makes",
        expect_close("embedded", life, golden("sentence", "embedded"),
                     EXACTLY));
    refusals();
    return tap_done();
}
