/* src/gpt2_tokens.c: the ids that tiktoken finds, with a small vocabulary
 * and, where the environment's GPT2_VOCABULARY names a folder with
 * vocab.json and merges.txt, with GPT-2's own. */
#include "damaged.h"
#include "attention/gpt2_tokens.h"
#include "support/file.h"
#include "support/tsv.h"
#include "support/unicode.h"

/* ---- Golden texts: their bytes, and their ids with both vocabularies. */

enum { SMALL, GPT2, MOST = 16384, SMALL_TOKENS = 557, END = 556 };
typedef struct {
    size_t bytes;
    char *text;
    int count[2], *ids[2];
} Row;
static Row *row;
static int rows;

/* \xNN is one byte, and all else stands for itself. */
static char *unescape(const char *field, size_t *bytes)
{
    char *text = new_list(strlen(field) + 1, 1), *to = text;
    for (unsigned byte; *field; to++)
        if (sscanf(field, "\\x%2x", &byte) == 1) {
            *to = (char)byte;
            field += 4;
        } else
            *to = *field++;
    *bytes = (size_t)(to - text);
    return text;
}

static int *numbers(const char *field, int *count)
{
    int *ids = new_list(strlen(field) + 1, sizeof *ids), length;
    for (*count = 0; sscanf(field, "%d%n", &ids[*count], &length) == 1;
         field += length)
        ++*count;
    return ids;
}

static void read_rows(void)
{
    Tsv t = tsv_read("golden/gpt2_tokens.tsv");
    rows = tsv_value_integer(&t, "texts", 300, 10000);
    row = new_list((size_t)rows, sizeof *row);
    tsv_columns(&t, 3, (const char *const[]){"text", "small", "gpt2"});
    for (Row *r = row; r < row + rows; r++) {
        tsv_row(&t, 3);
        r->text = unescape(t.field[0], &r->bytes);
        for (int k = 0; k < 2; k++)
            r->ids[k] = numbers(t.field[1 + k], &r->count[k]);
    }
    tsv_end_check(&t);
    tsv_free(&t);
}

/* A copy that ends where memory ends, so that reading on is found out. */
static void *exact_copy(const void *from, size_t size)
{
    void *copy = malloc(size ? size : 1);
    return size ? memcpy(copy, from, size) : copy;
}

/* Ids 256 and 257 may have changed places. */
static int swapped(int id, bool is_swapped)
{
    return is_swapped && (id == 256 || id == 257) ? 513 - id : id;
}

/* The text becomes these ids; less room gets the first of them; and they
 * become the text, or its first bytes. */
static void compare_row(const Gpt2Tokens *t, const Row *r, int k,
                        bool is_swapped)
{
    static int ids[MOST];
    static char text[MOST];
    char *copy = exact_copy(r->text, r->bytes);
    const char *of = tap_words("text %td", r - row);
    const int n = r->count[k], half = n / 2;
    expect_integer(of, gpt2_tokens_encode(t, r->bytes, copy, 0, NULL), n);
    ids[half] = -1;
    gpt2_tokens_encode(t, r->bytes, copy, half, ids);
    expect_integer(of, ids[half], -1);
    ids[n] = -1;
    expect_integer(of, gpt2_tokens_encode(t, r->bytes, copy, MOST, ids), n);
    expect_integer(of, ids[n], -1);
    for (int i = 0; i < n; i++)
        expect_integer(of, ids[i], swapped(r->ids[k][i], is_swapped));
    const size_t cut = r->bytes / 2;
    text[cut] = '#';
    expect_integer(of, (int64_t)gpt2_tokens_decode(t, n, ids, cut, text),
                   (int64_t)r->bytes);
    expect_true(of, text[cut] == '#' && !memcmp(text, r->text, cut));
    gpt2_tokens_decode(t, n, ids, MOST, text);
    expect_true(of, !memcmp(text, r->text, r->bytes));
    free(copy);
}

static void compare_rows(const char *in, int k, bool is_swapped)
{
    Gpt2Tokens t;
    gpt2_tokens_read(&t, in);
    for (const Row *r = row; r < row + rows; r++)
        compare_row(&t, r, k, is_swapped);
    gpt2_tokens_free(&t);
    gpt2_tokens_free(&t);
}

/* ---- The small vocabulary, in a folder, in several forms. */

static const char *const name[3] = {"vocab.json", "merges.txt",
                                    "tokenizer.json"};
enum { VOCAB, MERGES, TOKENIZER };
static char *whole[3];
static const char *const version = "#version: 0.2\n";

static void put(int k, const char *text)
{
    FILE *to = fopen(name[k], "wb");
    if (!to || fputs(text, to) < 0 || fclose(to))
        REFUSE("%s: cannot be written", name[k]);
}

/* These files, and none else. */
static void put_only(const char *vocab, const char *merges,
                     const char *tokenizer)
{
    const char *const text[3] = {vocab, merges, tokenizer};
    for (int k = 0; k < 3; k++) {
        remove(name[k]);
        if (text[k])
            put(k, text[k]);
    }
}

/* Room for so many bytes, until eight others have been asked for. */
static char *lent(size_t bytes)
{
    static char *texts[8];
    static int next;
    char **text = &texts[next++ % 8];
    free(*text);
    return *text = new_list(bytes, 1);
}

/* A copy of a text in which one part is another, each time it comes. */
static char *replaced(const char *in, const char *part, const char *other)
{
    char *text = lent(2 * strlen(in) + strlen(other) + 100);
    char *to = text;
    const char *next;
    if (!strstr(in, part))
        REFUSE("'%s' is not in the text", part);
    for (; (next = strstr(in, part)); in = next + strlen(part))
        to += sprintf(to, "%.*s%s", (int)(next - in), in, other);
    strcpy(to, in);
    return text;
}

/* A tokenizer.json as it was once written: with merges "a b", and nothing
 * that need not be there. */
static char *old_tokenizer(void)
{
    const char *merges = whole[MERGES] + strlen(version);
    char *lines = replaced(merges, "\n", "\",\""), *all;
    lines[strlen(lines) - 3] = '\0';
    all = lent(strlen(lines) + strlen(whole[VOCAB]) + 200);
    sprintf(all,
            "{\"model\":{\"merges\":[\"%s\"],\"vocab\":%s},"
            "\"pre_tokenizer\":{\"add_prefix_space\":false,\"type\":"
            "\"ByteLevel\"}, \"normalizer\":null }",
            lines, whole[VOCAB]);
    return all;
}

static void folders_test(void)
{
    put_only(whole[VOCAB], whole[MERGES] + strlen(version), NULL);
    compare_rows(".", SMALL, false);
    put_only(whole[VOCAB], replaced(whole[MERGES], "\n", "\r\n"), "{");
    compare_rows(".", SMALL, false);
}

static void tokenizers_test(void)
{
    put_only(NULL, NULL, whole[TOKENIZER]);
    compare_rows(".", SMALL, false);
    put_only(whole[VOCAB], NULL, old_tokenizer());
    compare_rows(".", SMALL, false);
    put_only(NULL, whole[MERGES], old_tokenizer());
    compare_rows(".", SMALL, false);
}

/* Which merge comes first does not lie in the ids. */
static void swapped_test(void)
{
    char *changed =
        replaced(replaced(replaced(whole[VOCAB], ": 256,", ": x,"),
                          ": 257,", ": 256,"),
                 ": x,", ": 257,");
    put_only(changed, whole[MERGES], NULL);
    compare_rows(".", SMALL, true);
}

/* Decodes one token. */
static void expect_token(const Gpt2Tokens *t, int id, const char *due)
{
    char text[99] = "";
    gpt2_tokens_decode(t, 1, &id, sizeof text, text);
    expect(!strcmp(text, due), due, "token %d is '%s'", id, text);
}

/* Its id may be 0. */
static void counts_test(void)
{
    Gpt2Tokens t;
    put_only(replaced(replaced(whole[VOCAB], "\"!\": 0", "\"!\": 556"),
                      "|>\": 556", "|>\": 0"),
             whole[MERGES], NULL);
    gpt2_tokens_read(&t, ".");
    expect_integer("tokens", t.vocabulary, SMALL_TOKENS);
    expect_integer("merges", t.merges, 300);
    expect_integer("end", gpt2_tokens_end_of_text(&t), 0);
    expect_token(&t, 0, "<|endoftext|>");
    expect_token(&t, END, "!");
    gpt2_tokens_free(&t);
}

/* Text never becomes such a token, and one may be no part of the
 * vocabulary. */
static void added_test(void)
{
    static const char text[] = "<|endoftext|>\360\237\230\200 x";
    Gpt2Tokens t;
    int ids[50];
    put_only(
        NULL, NULL,
        replaced(replaced(whole[TOKENIZER], ", \"<|endoftext|>\": 556", ""),
                 "\"special\": true}",
                 "\"special\":true},{\"content\": \"\\ud83d\\uDE00 "
                 "x\", \"id\": 557}"));
    gpt2_tokens_read(&t, ".");
    expect_integer("tokens", t.vocabulary, SMALL_TOKENS + 1);
    expect_integer("end", gpt2_tokens_end_of_text(&t), END);
    expect_token(&t, END, "<|endoftext|>");
    expect_token(&t, END + 1, text + 13);
    const int n = gpt2_tokens_encode(&t, sizeof text, text, 50, ids);
    for (int i = 0; i < n; i++)
        expect_true("no added token", ids[i] < END);
    /* The text ends in the middle of a letter, whose other byte follows. */
    const int cut = gpt2_tokens_encode(&t, 3, "ab\303\251", 50, ids);
    expect_integer("bytes, and no more",
                   (int64_t)gpt2_tokens_decode(&t, cut, ids, 0, NULL), 3);
    gpt2_tokens_free(&t);
}

/* ---- Long texts, whose time must not grow with the square. */

static void long_test(const char *in, int letters)
{
    const size_t bytes = 300000;
    char *text = new_list(bytes, 1), *again = new_list(bytes, 1);
    int *ids = new_list(bytes, sizeof *ids);
    uint64_t draw = 1;
    Gpt2Tokens t;
    for (size_t i = 0; i < bytes; i++) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        text[i] = (char)(letters < 256 ? 'a' + (int)(draw >> 33) % letters
                                       : (int)(draw >> 56));
    }
    gpt2_tokens_read(&t, in);
    const int n = gpt2_tokens_encode(&t, bytes, text, (int)bytes, ids);
    expect_integer("bytes",
                   (int64_t)gpt2_tokens_decode(&t, n, ids, bytes, again),
                   (int64_t)bytes);
    expect_true("the same text", !memcmp(text, again, bytes));
    gpt2_tokens_free(&t);
    free(text);
    free(again);
    free(ids);
}

/* ---- What is refused: in one of the files, another text takes the place
 * of one. */

#define SECOND "\304\240 \304\240\n"
#define NUMBER(k) "merges.txt: merge " #k " is "
#define LINE(k, line)                                                      \
    NUMBER(k)                                                              \
    "'" line "': two tokens with a blank between them are "                \
    "needed"
#define SETTING(name, of, value, ours)                                     \
    "tokenizer.json: " name " of " of " is " value "; GPT-2's is " ours
static const struct {
    int file;
    const char *text, *other, *words;
} wrong[] = {
    {VOCAB, "\"#\": 2,", "\"#\": 557,",
     "'#' has id 557 of 557 tokens: 0 to 556 are needed, each once"},
    {VOCAB, "\"#\": 2,", "\"#\": 3,", "'#' and '$' both have id 3"},
    {VOCAB, "\"#\": 2,", "",
     "of 556 tokens: 0 to 555 are needed, each "
     "once"},
    {VOCAB, "\"#\": 2,", "\"$\": 2,", "vocab.json: has '$' twice"},
    {VOCAB, "\"#\": 2,", "\"#\\u20ac\": 2,",
     "vocab.json: '#\342\202\254' has U+20AC, which stands for no byte"},
    {VOCAB, "\"#\": 2,", "\"\\u0144\": 2,",
     "vocab.json: '\305\204' has U+0144, which stands for no byte"},
    {VOCAB, "\"#\": 2,", "\" #\": 2,",
     "vocab.json: ' #' has U+0020, which stands for no byte"},
    {VOCAB, "\"#\": 2,", "\"##\": 2,",
     "vocab.json: has no token '#', which is the byte 0x23 alone: each "
     "byte needs one"},
    {VOCAB, "\"\\u0143\": 255", "\"##\": 255",
     "vocab.json: has no token '\305\203', which is the byte 0xad alone: "
     "each byte needs one"},
    {VOCAB, "\"#\": 2,", "\"#\": -2,",
     "its JSON has '-' at byte 23 where a whole number is needed"},
    {VOCAB, "556}", "556}}",
     "its JSON has '}' at byte 13519 where its end is needed"},
    {VOCAB, "{", "[{", "its JSON has '[' at byte 0 where '{' is needed"},
    {MERGES, SECOND, "abc\n", LINE(2, "abc")},
    {MERGES, SECOND, SECOND "\n", LINE(3, "")},
    {MERGES, SECOND, "a  b\n", LINE(2, "a  b")},
    {MERGES, SECOND, " ab\n", LINE(2, " ab")},
    {MERGES, SECOND, "ab \n", LINE(2, "ab ")},
    {MERGES, SECOND, SECOND "#version: 0.2\na b\n",
     NUMBER(3) "'#version: 0.2': '#version:' is none of the 557 tokens"},
    {MERGES, SECOND, "ZZZ Z\n",
     NUMBER(2) "'ZZZ Z': 'ZZZ' is none of the 557 tokens"},
    {MERGES, SECOND, "Z ZZZ\n",
     NUMBER(2) "'Z ZZZ': 'ZZZ' is none of the 557 tokens"},
    {MERGES, SECOND, "Z Z\n",
     NUMBER(2) "'Z Z': 'ZZ' is none of the 557 tokens"},
    {MERGES, SECOND, "<|endoftext|> a\n",
     NUMBER(2) "'<|endoftext|> a': '<|endoftext|>' is never made from "
               "text"},
    {MERGES, SECOND, SECOND SECOND,
     "merges.txt: merges 2 and 3 are both '\304\240 \304\240'"},
    {TOKENIZER, "null, \"pre_t", "{}, \"pre_t",
     SETTING("normalizer", "the file", "{...}", "null")},
    {TOKENIZER, "\"type\": \"ByteLevel\", \"add",
     "\"type\": \"Sequence\", \"add",
     SETTING("type", "pre_tokenizer", "\"Sequence\"", "\"ByteLevel\"")},
    {TOKENIZER, "_space\": false", "_space\": true",
     SETTING("add_prefix_space", "pre_tokenizer", "true", "false")},
    {TOKENIZER, "use_regex\": true", "use_regex\": false",
     SETTING("use_regex", "pre_tokenizer", "false", "true")},
    {TOKENIZER, "\"BPE\"", "\"BP\"",
     SETTING("type", "model", "\"BP\"", "\"BPE\"")},
    {TOKENIZER, "dropout\": null", "dropout\": 0.1",
     SETTING("dropout", "model", "0.1", "null")},
    {TOKENIZER, "ignore_merges\": false", "ignore_merges\": true",
     SETTING("ignore_merges", "model", "true", "false")},
    {TOKENIZER, "prefix\": \"\"", "prefix\": \"#\"",
     SETTING("continuing_subword_prefix", "model", "\"#\"", "\"\"")},
    {TOKENIZER, "suffix\": \"\"", "suffix\": \"#\"",
     SETTING("end_of_word_suffix", "model", "\"#\"", "\"\"")},
    {TOKENIZER, "pre_tokenizer", "tokenizer",
     "tokenizer.json: has no 'pre_tokenizer', which splits a text: GPT-2's "
     "is of type \"ByteLevel\""},
    {TOKENIZER, "\"id\"", "\"ID\"",
     "tokenizer.json: added token 1 has no 'id' or no 'content'"},
    {TOKENIZER, "\"content\"", "\"contents\"",
     "tokenizer.json: added token 1 has no 'id' or no 'content'"},
    {TOKENIZER, "\"id\": 556", "\"id\": 555",
     "tokenizer.json: has '<|endoftext|>' twice"},
    {TOKENIZER, "\"content\": \"<|endoftext|>\"",
     "\"content\": \"\\ud83d\"",
     "its JSON has \\ud83d where a character is needed"},
    {TOKENIZER, "\"content\": \"<|endoftext|>\"", "\"content\": \"<\"",
     "tokenizer.json: has '<' twice"},
    {TOKENIZER, "\"merges\"", "\"merge\"",
     "tokenizer.json: has no merges: at least one is needed"},
};

static void read_folder(void)
{
    Gpt2Tokens t;
    gpt2_tokens_read(&t, ".");
    gpt2_tokens_free(&t);
}

static void refuse_files(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const int k = wrong[i].file;
        if (k == TOKENIZER)
            put_only(NULL, NULL, whole[k]);
        else
            put_only(whole[VOCAB], whole[MERGES], NULL);
        put(k, replaced(whole[k], wrong[i].text, wrong[i].other));
        TAP_REFUSES("gpt2_tokens_read", wrong[i].words, wrong[i].words,
                    read_folder());
    }
}

static void refuse_more(void)
{
    char *vocab = replaced(whole[VOCAB], "\"\\u0120\\u0120\": 257",
                           "\"|endoftext|>\": 257");
    put_only(vocab, "< |endoftext|>\n", NULL);
    TAP_REFUSES("gpt2_tokens_read", "a merge into <|endoftext|>",
                NUMBER(1) "'< |endoftext|>': '<|endoftext|>' is never made "
                          "from text",
                read_folder());
    put_only("{}", whole[MERGES], NULL);
    TAP_REFUSES("gpt2_tokens_read", "no tokens",
                "vocab.json: has no tokens: one for each byte is needed",
                read_folder());
    put_only(whole[VOCAB], version, NULL);
    TAP_REFUSES("gpt2_tokens_read", "no merges",
                "merges.txt: has no merges: at least one is needed",
                read_folder());
    put_only(whole[VOCAB], whole[MERGES], NULL);
    FILE *to = fopen(name[MERGES], "ab");
    fputc(0, to);
    fclose(to);
    TAP_REFUSES("gpt2_tokens_read", "a byte 0",
                "merges.txt: has a byte 0; it must be a text",
                read_folder());
}

static void refuse_folders(void)
{
#define NEITHER(folder, name)                                              \
    folder ": there is no " name ", and no tokenizer.json: it, or "        \
           "vocab.json and merges.txt, can be read"
    put_only(NULL, NULL, NULL);
    REFUSES(NEITHER(".", "vocab.json"),
            gpt2_tokens_read(&(Gpt2Tokens){0}, "."));
    REFUSES(NEITHER("gone", "vocab.json"),
            gpt2_tokens_read(&(Gpt2Tokens){0}, "gone"));
    put_only(whole[VOCAB], NULL, NULL);
    REFUSES(NEITHER(".", "merges.txt"),
            gpt2_tokens_read(&(Gpt2Tokens){0}, "."));
}

static void refuse_calls(void)
{
    Gpt2Tokens t;
    put_only(whole[VOCAB], whole[MERGES], NULL);
    gpt2_tokens_read(&t, ".");
    REFUSES("a text of 2147483648 bytes: at most 2147483647 can be read",
            gpt2_tokens_encode(&t, (size_t)INT_MAX + 1, "", 0, NULL));
    REFUSES("token 1 has id 557: from 0 to 556 is needed",
            gpt2_tokens_decode(&t, 2, (int[]){556, 557}, 0, NULL));
    REFUSES("token 0 has id -1: from 0 to 556 is needed",
            gpt2_tokens_decode(&t, 1, (int[]){-1}, 0, NULL));
    gpt2_tokens_free(&t);
    put_only(replaced(whole[VOCAB], "<|end", "<|END"), whole[MERGES], NULL);
    gpt2_tokens_read(&t, ".");
    REFUSES("the vocabulary of 557 tokens has no '<|endoftext|>'",
            gpt2_tokens_end_of_text(&t));
    gpt2_tokens_free(&t);
    REFUSES("the vocabulary of 0 tokens has no '<|endoftext|>'",
            gpt2_tokens_end_of_text(&t));
}

/* A bit of every so many bytes is another one, or the file ends there. */
static void damage_test(int k)
{
    put_only(whole[VOCAB], k == TOKENIZER ? NULL : whole[MERGES], NULL);
    if (symlink(path, (remove(name[k]), name[k])))
        REFUSE("%s: no link can be made", name[k]);
    const size_t size = strlen(whole[k]);
    for (size_t i = 0; i < size; i += 97) {
        file_size = 0;
        add(whole[k], size);
        file[i] ^= (unsigned char)(1 << i % 8);
        read_or_refused(read_folder, "byte", i);
        file_size = i;
        read_or_refused(read_folder, "first bytes alone:", i);
    }
}

/* ---- Kinds of characters, first and last ones among them. */

static void kinds_test(void)
{
    static const uint32_t of[4][9] = {
        {0, '\'', '_', 0x7f, 0x301, 0x200b, 0xfffd, 0x1f600, 0x10ffff},
        {'A', 'z', 0xaa, 0xe9, 0x3b1, 0x5d0, 0x4e00, 0xac00, 0x20000},
        {'0', '9', 0xb2, 0xbd, 0x661, 0x2160, 0x3007, 0xff10, 0x1d7d8},
        {'\t', '\n', '\r', ' ', 0x85, 0xa0, 0x2003, 0x2028, 0x3000}};
    for (int kind = UNICODE_OTHER; kind <= UNICODE_SPACE; kind++)
        for (int i = 0; i < 9; i++)
            expect_integer(tap_words("U+%04X", of[kind][i]),
                           unicode_kind(of[kind][i]), kind);
}

/* All golden texts with GPT-2's own vocabulary, if there is one. */
static void test_gpt2(const char *own)
{
    if (own) {
        TAP("gpt2_tokens_encode: as tiktoken, with GPT-2's own vocabulary",
            compare_rows(own, GPT2, false));
        TAP("gpt2_tokens_encode: long texts with GPT-2's own vocabulary",
            long_test(own, 2);
            long_test(own, 256));
        return;
    }
    snprintf(tap_name, sizeof tap_name,
             "gpt2_tokens_encode: with GPT-2's own vocabulary # SKIP "
             "GPT2_VOCABULARY names no folder");
    memset(tap_told, 0, sizeof *tap_told);
    tap_line(true);
}

int main(void)
{
    static const char *const small = "golden/gpt2_tokens";
    size_t size;
    read_rows();
    for (int k = 0; k < 3; k++)
        whole[k] = file_text(tap_words("%s/%s", small, name[k]), &size);
    TAP("unicode_kind: some of each kind", kinds_test());
    TAP("gpt2_tokens_read: vocab.json and merges.txt",
        compare_rows(small, SMALL, false));
    TAP_LARGE("gpt2_tokens_encode: long texts",
              for (int letters = 1; letters <= 256; letters *= 4)
                  long_test(small, letters));
    test_gpt2(getenv("GPT2_VOCABULARY"));
    enter_folder();
    TAP("gpt2_tokens_read: no version, other lines", folders_test());
    TAP("gpt2_tokens_read: tokenizer.json, new and old", tokenizers_test());
    TAP("gpt2_tokens_read: ids in another order", swapped_test());
    TAP("gpt2_tokens_end_of_text: is token 0", counts_test());
    TAP("gpt2_tokens_decode: added tokens", added_test());
    refuse_files();
    refuse_more();
    refuse_folders();
    refuse_calls();
    for (int k = 0; k < 3; k++)
        TAP_LARGE(tap_words("gpt2_tokens_read: damage of %s", name[k]),
                  damage_test(k));
    put_only(NULL, NULL, NULL);
    write_text("");
    leave_folder();
    return tap_done();
}
