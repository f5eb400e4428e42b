/* Chapter 5 against PyTorch: golden/05_tokens. Words have no golden data:
 * what Python makes of a sentence stands here. */
#define CHAPTER "05_tokens"
#include "sets.h"
#include "attention/05_tokens.h"

/* Are the words, with a blank behind each, what is expected? */
static void are(const char *what, int n, const Word word[n],
                const char *expect)
{
    char got[WORDS_MAX * sizeof *word + 1] = "";
    for (int i = 0; i < n; i++)
        strcat(strcat(got, word[i]), " ");
    tap_report(!strcmp(got, expect), what, "'%s' where '%s' is due", got,
               expect);
}

static void splits(const char *sentence, const char *expect)
{
    Word word[WORDS_MAX];
    are(sentence, split_words(sentence, word), word, expect);
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
    splits("Life is short, eat dessert first",
           "Life is short eat dessert first ");
    splits("one", "one ");
    splits("  a,  b\t,c\nd ,", "a b c d ");
    splits(",a , ,b", "a b ");
    splits("a,b 1,000", "ab 1000 ");
    splits("Schöne Grüße, 你好", "Schöne Grüße 你好 ");
    splits("1234567890123456789012345678901",
           "1234567890123456789012345678901 ");
    splits(of_words(WORDS_MAX), sentence);
}

/* What Python's sorted(set(words)) makes of the words of a sentence. */
static void has_vocabulary(const char *words, const char *expect)
{
    Word word[WORDS_MAX], entry[WORDS_MAX];
    are(words, build_vocabulary(split_words(words, word), word, entry),
        entry, expect);
}

static void vocabulary_test(void)
{
    has_vocabulary("Life is short, eat dessert first",
                   "Life dessert eat first is short ");
}

static void one_test(void)
{
    has_vocabulary("one", "one ");
}

static void twice_test(void)
{
    has_vocabulary("the cat and the dog", "and cat dog the ");
    has_vocabulary("b b b a", "a b ");
}

static void bytes_test(void)
{
    has_vocabulary("é z Z ab a 你", "Z a ab z é 你 ");
}

static void beginnings_test(void)
{
    has_vocabulary("ab abc a aa abb", "a aa ab abb abc ");
}

static void ids_test(void)
{
    const Word entry[3] = {"a", "ab", "b"}, word[4] = {"b", "a", "b", "ab"};
    const int expect[4] = {2, 0, 2, 1};
    int ids[4];
    word_ids(4, word, 3, entry, ids);
    for (int i = 0; i < 4; i++)
        tap_near("id", ids[i], expect[i], 0, 0);
}

/* The ids of the set, as C counts. */
static const int *ids_of_set(void)
{
    const Tensor *ids_told = told("ids");
    int *ids = room(ids_told->count);
    for (size_t i = 0; i < ids_told->count; i++)
        ids[i] = (int)tensor_integers(ids_told)[i];
    return ids;
}

static void embed_test(void)
{
    float *got = result("embedded");
    embed(dim("ids", 0), dim("table", 1), dim("table", 0), ids_of_set(),
          input("table"), (void *)got);
    agrees("embedded", got, 0, 0);
}

static void one_hot_test(void)
{
    float *got = result("embedded"), *got_hot = result("one_hot");
    embed_one_hot(dim("ids", 0), dim("table", 1), dim("table", 0),
                  ids_of_set(), input("table"), (void *)got_hot,
                  (void *)got);
    agrees("one_hot", got_hot, 0, 0);
    agrees("embedded", got, 0, 0);
}

static void sentence_test(void)
{
    Word word[WORDS_MAX], entry[WORDS_MAX];
    int ids[WORDS_MAX];
    int n = split_words("Life is short, eat dessert first", word);
    word_ids(n, word, build_vocabulary(n, word, entry), entry, ids);
    tap_near("words", n, dim("ids", 0), 0, 0);
    agrees("ids", ids, 0, 0);
}

/* The table in the chapter is what the seed makes, to the last bit. */
static void life_test(void)
{
    agrees("embedded", life, 0, 0);
}

static const Word a_and_b[2] = {"a", "b"}, c[1] = {"c"};
static const int above[1] = {2}, below[1] = {-1};
static const float table[2][1];

int main(void)
{
    Word word[WORDS_MAX];
    int ids[1];
    float x[1][1], hot[1][2];
    TAP(split_test, "split_words: commas, blanks, other alphabets");
    TAP(vocabulary_test, "build_vocabulary: a sentence");
    TAP(one_test, "build_vocabulary: one word");
    TAP(twice_test, "build_vocabulary: each word once");
    TAP(bytes_test, "build_vocabulary: the order of bytes");
    TAP(beginnings_test, "build_vocabulary: words that begin alike");
    TAP(ids_test, "word_ids: places in the vocabulary");
    EACH("embed", embed_test, "*-table");
    EACH("embed_one_hot", one_hot_test, "*-table");
    SETS("word_ids", sentence_test, "sentence");
    SETS("life", life_test, "sentence");
    REFUSES("05_tokens.c: split_words: the sentence ' , \\x0a' has no "
            "words: at least one is needed",
            split_words(" , \n", word));
    REFUSES("05_tokens.c: split_words: word 65 does not fit: at most 64 "
            "words of at most 31 bytes are needed",
            split_words(of_words(WORDS_MAX + 1), word));
    REFUSES("05_tokens.c: split_words: word 2 does not fit: at most 64 "
            "words of at most 31 bytes are needed",
            split_words("a 12345678901234567890123456789012", word));
    REFUSES("05_tokens.c: word_ids: 'c' is not in the vocabulary: one of "
            "its 2 words is needed",
            word_ids(1, c, 2, a_and_b, ids));
    REFUSES_SUCH("id 2 of a table of 2 rows",
                 embed(1, 1, 2, above, table, x));
    REFUSES_SUCH("id -1", embed(1, 1, 2, below, table, x));
    REFUSES_SUCH("id 2 of a table of 2 rows",
                 embed_one_hot(1, 1, 2, above, table, hot, x));
    REFUSES_SUCH("id -1", embed_one_hot(1, 1, 2, below, table, hot, x));
    return tap_done();
}
