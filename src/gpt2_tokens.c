#include "attention/gpt2_tokens.h"
#include "support.h"
#include "support/file.h"
#include "support/json.h"
#include "support/unicode.h"
#include "support/utf8.h"

#define END_OF_TEXT "<|endoftext|>"

/* ---- GPT-2's alphabet: in its files, each byte is a character that can be
 * seen. A printable one of Latin-1 is itself; the 68 others are U+0100 to
 * U+0143, in order, so that a space is U+0120. */

enum {
    BLANKS = 0x21,
    CONTROLS = 0xa1 - 0x7f,
    OTHERS = 0x100,
    LAST = 0x143
};

static bool is_printable(unsigned c)
{
    return (c >= 0x21 && c < 0x7f) || (c >= 0xa1 && c < 0x100 && c != 0xad);
}

/* The byte for which a character stands, or -1. */
static int byte_of(unsigned c)
{
    if (is_printable(c))
        return (int)c;
    if (c < OTHERS)
        return -1;
    c -= OTHERS;
    return c < BLANKS              ? (int)c
           : c < BLANKS + CONTROLS ? (int)(c - BLANKS + 0x7f)
           : c == LAST - OTHERS    ? 0xad
                                   : -1;
}

/* ---- A vocabulary while it is read. */

/* A token by its name. An added one's name is its text. */
typedef struct {
    const char *name;
    int id;
    bool is_added;
} Token;

/* The names lie in the files' text. */
typedef struct {
    const char *tokens_path, *merges_path;
    int tokens, merges;
    Token *token; /* sorted by name when all are read */
    const char *(*merge)[2];
} Vocabulary;

/* A list with room for one more after so many: it grows whenever their
 * number is a power of 2. */
static void *with_room(void *list, int count, size_t size)
{
    if (count & (count - 1))
        return list;
    void *larger = realloc(list, (count ? 2 * (size_t)count : 1) * size);
    if (!larger)
        REFUSE("there is no memory for %d pieces of %zu bytes", count,
               size);
    return larger;
}

static void add_token(Vocabulary *v, Token token)
{
    v->token = with_room(v->token, v->tokens, sizeof token);
    v->token[v->tokens++] = token;
}

static void add_merge(Vocabulary *v, const char *left, const char *right)
{
    v->merge = with_room(v->merge, v->merges, sizeof *v->merge);
    v->merge[v->merges][0] = left;
    v->merge[v->merges++][1] = right;
}

/* A merge "a b": the space in it becomes the end of its left name. */
static void split_merge(Vocabulary *v, char *merge)
{
    char *blank = strchr(merge, ' ');
    if (!blank || blank == merge || !blank[1] || strchr(blank + 1, ' '))
        REFUSE("%s: merge %d is '%s': two tokens with a blank between them "
               "are needed",
               v->merges_path, v->merges + 1, merge);
    *blank = '\0';
    add_merge(v, merge, blank + 1);
}

/* ---- Files. */

/* The ids of tokens by their names. */
static void read_ids(Vocabulary *v, Json *j)
{
    char *name;
    for (int n = 0; (name = json_name(j, n)); n++) {
        const int id = (int)json_integer(j, INT_MAX);
        add_token(v, (Token){json_unescape(j, name), id, false});
    }
}

static char *read_vocab(Vocabulary *v, const char *path)
{
    Json j = json_read(path);
    v->tokens_path = path;
    read_ids(v, &j);
    json_end(&j);
    return j.text;
}

/* A line may end as Windows ends it. */
static char *read_merges(Vocabulary *v, const char *path)
{
    size_t size;
    char *text = file_text(path, &size), *next = text;
    v->merges_path = path;
    if (strlen(text) < size)
        REFUSE("%s: has a byte 0; it must be a text", path);
    while (*next) {
        char *line = next, *end = line + strcspn(line, "\n");
        next = end + (*end == '\n');
        end -= end > line && end[-1] == '\r';
        *end = '\0';
        if (line > text || strncmp(line, "#version", 8))
            split_merge(v, line);
    }
    return text;
}

/* What of tokenizer.json changes the tokens of a text, and the values under
 * which they are GPT-2's. */
static const struct {
    const char *object, *name, *value[2];
} setting[] = {{"the file", "normalizer", {"null"}},
               {"pre_tokenizer", "type", {"\"ByteLevel\""}},
               {"pre_tokenizer", "add_prefix_space", {"false"}},
               {"pre_tokenizer", "use_regex", {"true"}},
               {"model", "type", {"\"BPE\""}},
               {"model", "dropout", {"null"}},
               {"model", "ignore_merges", {"false"}},
               {"model", "continuing_subword_prefix", {"\"\"", "null"}},
               {"model", "end_of_word_suffix", {"\"\"", "null"}}};

/* Steps over the value that this name has in the object. Refuses one that
 * GPT-2's tokens do not have. */
static void check_setting(Json *j, const char *object, const char *name)
{
    char *end;
    const char *value = json_value(j, &end);
    const int length = (int)(strchr("{[", *value) ? (ptrdiff_t)strlen(value)
                                                  : end - value);
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++) {
        if (strcmp(setting[i].object, object) ||
            strcmp(setting[i].name, name))
            continue;
        bool is_ours = false;
        for (int k = 0; k < 2 && setting[i].value[k]; k++)
            is_ours |= (int)strlen(setting[i].value[k]) == length &&
                       !strncmp(setting[i].value[k], value, (size_t)length);
        if (!is_ours)
            REFUSE("%s: %s of %s is %.*s; GPT-2's is %s", j->path, name,
                   object, length, value, *setting[i].value);
    }
}

static void read_merge_list(Vocabulary *v, Json *j)
{
    for (int n = 0; json_item(j, n); n++) {
        if (!json_accept(j, '[')) {
            split_merge(v, json_unescape(j, json_string(j)));
            continue;
        }
        const char *left = json_unescape(j, json_string(j));
        json_expect(j, ',');
        add_merge(v, left, json_unescape(j, json_string(j)));
        json_expect(j, ']');
    }
}

static void read_model(Vocabulary *v, Json *j)
{
    char *name;
    for (int n = 0; (name = json_name(j, n)); n++)
        if (!strcmp(name, "vocab"))
            read_ids(v, j);
        else if (!strcmp(name, "merges"))
            read_merge_list(v, j);
        else
            check_setting(j, "model", name);
}

static void read_added(Vocabulary *v, Json *j)
{
    for (int n = 0; json_item(j, n); n++) {
        Token token = {NULL, -1, true};
        char *name;
        for (int k = 0; (name = json_name(j, k)); k++)
            if (!strcmp(name, "id"))
                token.id = (int)json_integer(j, INT_MAX);
            else if (!strcmp(name, "content"))
                token.name = json_unescape(j, json_string(j));
            else
                check_setting(j, "added_tokens", name);
        if (!token.name || token.id < 0)
            REFUSE("%s: added token %d has no 'id' or no 'content'",
                   j->path, n + 1);
        add_token(v, token);
    }
}

static char *read_tokenizer(Vocabulary *v, const char *path)
{
    Json j = json_read(path);
    bool is_split = false;
    char *name, *inner;
    v->tokens_path = v->merges_path = path;
    for (int n = 0; (name = json_name(&j, n)); n++)
        if (!strcmp(name, "model")) {
            read_model(v, &j);
        } else if (!strcmp(name, "added_tokens")) {
            read_added(v, &j);
        } else if (!strcmp(name, "pre_tokenizer") && !json_null(&j)) {
            is_split = true;
            for (int k = 0; (inner = json_name(&j, k)); k++)
                check_setting(&j, "pre_tokenizer", inner);
        } else if (strcmp(name, "pre_tokenizer")) {
            check_setting(&j, "the file", name);
        }
    json_end(&j);
    if (!is_split)
        REFUSE(
            "%s: has no 'pre_tokenizer', which splits a text: GPT-2's is "
            "of type \"ByteLevel\"",
            path);
    return j.text;
}

/* ---- From what was read to what is needed. */

static int compare_tokens(const void *a, const void *b)
{
    return strcmp(((const Token *)a)->name, ((const Token *)b)->name);
}

static const Token *find(const Vocabulary *v, const char *name)
{
    return bsearch(&(Token){.name = name}, v->token, (size_t)v->tokens,
                   sizeof *v->token, compare_tokens);
}

/* Sorts the tokens by name. An added one may be in the vocabulary as well,
 * and is then the same token. */
static void sort_tokens(Vocabulary *v)
{
    int count = 0;
    if (!v->tokens)
        REFUSE("%s: has no tokens: one for each byte is needed",
               v->tokens_path);
    qsort(v->token, (size_t)v->tokens, sizeof *v->token, compare_tokens);
    for (int i = 0; i < v->tokens; i++) {
        Token *last = v->token + count - 1, one = v->token[i];
        if (count == 0 || compare_tokens(last, &one)) {
            v->token[count++] = one;
            continue;
        }
        if (last->id != one.id || last->is_added == one.is_added)
            REFUSE("%s: has '%s' twice", v->tokens_path, one.name);
        last->is_added = true;
    }
    v->tokens = count;
}

/* Writes the bytes of a token, and returns how many there are. The names
 * are UTF-8: of JSON that has been seen to. */
static size_t token_bytes(const Vocabulary *v, const Token *token,
                          char *bytes)
{
    const char *c = token->name;
    char *to = bytes;
    if (token->is_added)
        return strlen(strcpy(bytes, c));
    while (*c) {
        const int length = utf8_length(c);
        const unsigned character = utf8_character(c, length);
        const int byte = byte_of(character);
        if (byte < 0)
            REFUSE("%s: '%s' has U+%04X, which stands for no byte",
                   v->tokens_path, token->name, character);
        *to++ = (char)byte;
        c += length;
    }
    return (size_t)(to - bytes);
}

/* The tokens by their ids, to be freed. As many ids as tokens, all below
 * their number and none twice, leave no gap. */
static const Token **tokens_by_id(const Vocabulary *v)
{
    const Token **by_id = new_list((size_t)v->tokens, sizeof *by_id);
    for (int i = 0; i < v->tokens; i++) {
        const Token *token = &v->token[i];
        if (token->id >= v->tokens)
            REFUSE("%s: '%s' has id %d of %d tokens: 0 to %d are needed, "
                   "each once",
                   v->tokens_path, token->name, token->id, v->tokens,
                   v->tokens - 1);
        if (by_id[token->id])
            REFUSE("%s: '%s' and '%s' both have id %d", v->tokens_path,
                   by_id[token->id]->name, token->name, token->id);
        by_id[token->id] = token;
    }
    return by_id;
}

/* One byte more than the names have: where an added token is copied, a 0
 * comes after it. */
static void set_bytes(Gpt2Tokens *t, const Vocabulary *v)
{
    const Token **by_id = tokens_by_id(v);
    size_t most = 1;
    for (int i = 0; i < v->tokens; i++)
        most += strlen(v->token[i].name);
    t->vocabulary = v->tokens;
    t->bytes = new_list(most, 1);
    t->start = new_list((size_t)v->tokens + 1, sizeof *t->start);
    for (int id = 0; id < v->tokens; id++)
        t->start[id + 1] =
            t->start[id] +
            token_bytes(v, by_id[id], t->bytes + t->start[id]);
    free(by_id);
}

static void set_byte_ids(Gpt2Tokens *t, const Vocabulary *v)
{
    char name[5] = "";
    for (unsigned c = '!'; c <= LAST; c++) {
        if (byte_of(c) < 0)
            continue;
        name[utf8_write(c, name)] = '\0';
        const Token *token = find(v, name);
        if (!token || token->is_added)
            REFUSE("%s: has no token '%s', which is the byte 0x%02x alone: "
                   "each byte needs one",
                   v->tokens_path, name, (unsigned)byte_of(c));
        t->byte_id[byte_of(c)] = token->id;
    }
}

/* ---- Merges, sorted by their pairs. */

static int compare_merges(const void *a, const void *b)
{
    const Gpt2Merge *x = a, *y = b;
    const int by_left = (x->left > y->left) - (x->left < y->left);
    return by_left ? by_left
                   : (x->right > y->right) - (x->right < y->right);
}

/* The merge of two tokens, or NULL. */
static const Gpt2Merge *find_merge(const Gpt2Tokens *t, int left, int right)
{
    return bsearch(&(Gpt2Merge){.left = left, .right = right}, t->merge,
                   (size_t)t->merges, sizeof *t->merge, compare_merges);
}

/* The id of a merge's left token, or of its right one, or of the whole. */
static int merged_id(const Vocabulary *v, int number, const char *name)
{
    const Token *token = find(v, name);
    const char *const *merge = v->merge[number];
    if (!token)
        REFUSE("%s: merge %d is '%s %s': '%s' is none of the %d tokens",
               v->merges_path, number + 1, merge[0], merge[1], name,
               v->tokens);
    if (token->is_added || !strcmp(name, END_OF_TEXT))
        REFUSE("%s: merge %d is '%s %s': '%s' is never made from text",
               v->merges_path, number + 1, merge[0], merge[1], name);
    return token->id;
}

static Gpt2Merge merge_of(const Vocabulary *v, int number)
{
    const char *left = v->merge[number][0], *right = v->merge[number][1];
    char whole[strlen(left) + strlen(right) + 1];
    strcat(strcpy(whole, left), right);
    return (Gpt2Merge){merged_id(v, number, left),
                       merged_id(v, number, right),
                       merged_id(v, number, whole), number};
}

static void set_merges(Gpt2Tokens *t, const Vocabulary *v)
{
    if (!v->merges)
        REFUSE("%s: has no merges: at least one is needed", v->merges_path);
    t->merges = v->merges;
    t->merge = new_list((size_t)v->merges, sizeof *t->merge);
    for (int i = 0; i < v->merges; i++)
        t->merge[i] = merge_of(v, i);
    qsort(t->merge, (size_t)t->merges, sizeof *t->merge, compare_merges);
    for (const Gpt2Merge *m = t->merge + 1; m < t->merge + t->merges; m++)
        if (!compare_merges(m - 1, m)) {
            const int a = m[-1].number, b = m->number;
            REFUSE("%s: merges %d and %d are both '%s %s'", v->merges_path,
                   (a < b ? a : b) + 1, (a < b ? b : a) + 1, v->merge[a][0],
                   v->merge[a][1]);
        }
}

static bool is_there(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file != NULL;
}

void gpt2_tokens_read(Gpt2Tokens *t, const char *folder)
{
    static const char *const name[] = {"vocab.json", "merges.txt",
                                       "tokenizer.json"};
    char path[3][strlen(folder) + sizeof "/tokenizer.json"];
    for (int k = 0; k < 3; k++)
        sprintf(path[k], "%s/%s", folder, name[k]);
    const bool has_vocab = is_there(path[0]);
    Vocabulary v = {0};
    char *text[2] = {NULL, NULL};
    if (has_vocab && is_there(path[1])) {
        text[0] = read_vocab(&v, path[0]);
        text[1] = read_merges(&v, path[1]);
    } else if (is_there(path[2])) {
        text[0] = read_tokenizer(&v, path[2]);
    } else
        REFUSE("%s: there is no %s, and no tokenizer.json: it, or "
               "vocab.json and merges.txt, can be read",
               folder, name[has_vocab]);
    sort_tokens(&v);
    *t = (Gpt2Tokens){0};
    set_bytes(t, &v);
    set_byte_ids(t, &v);
    set_merges(t, &v);
    const Token *end = find(&v, END_OF_TEXT);
    t->end_of_text = end ? end->id : -1;
    free(v.token);
    free(v.merge);
    free(text[0]);
    free(text[1]);
}

void gpt2_tokens_free(Gpt2Tokens *t)
{
    free(t->bytes);
    free(t->start);
    free(t->merge);
    *t = (Gpt2Tokens){.end_of_text = -1};
}

int gpt2_tokens_end_of_text(const Gpt2Tokens *t)
{
    if (t->end_of_text < 0)
        REFUSE("the vocabulary of %d tokens has no '" END_OF_TEXT "'",
               t->vocabulary);
    return t->end_of_text;
}

/* ---- A text's pieces, by GPT-2's pattern:
 *
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+
 *     |\s+(?!\S)|\s+ */

/* The kind of the character that begins there, and of how many bytes it is.
 * A byte that is not UTF-8 is a character by itself. */
static int kind_at(size_t bytes, const char *text, size_t *length)
{
    char next[5] = ""; /* with a 0 after it, as the text need not have */
    memcpy(next, text, bytes < 4 ? bytes : 4);
    const int found = utf8_length(next);
    *length = found ? (size_t)found : 1;
    return found ? unicode_kind(utf8_character(next, found))
                 : UNICODE_OTHER;
}

/* Where a run of one kind ends, and where its last character begins. */
static size_t run_end(size_t bytes, const char *text, size_t at, int kind,
                      size_t *last)
{
    size_t length;
    while (at < bytes && kind_at(bytes - at, text + at, &length) == kind) {
        *last = at;
        at += length;
    }
    return at;
}

/* How many bytes an ending such as 's has, which begins the text; or 0. */
static size_t ending(size_t bytes, const char *text)
{
    static const char *const endings[] = {"'s", "'t",  "'re", "'ve",
                                          "'m", "'ll", "'d"};
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        const size_t length = strlen(endings[k]);
        if (length <= bytes && !memcmp(text, endings[k], length))
            return length;
    }
    return 0;
}

/* How many bytes the first piece of a text has. White space before anything
 * else leaves its last character, which a word takes if it is a space. */
static size_t piece(size_t bytes, const char *text)
{
    const size_t first = *text == ' ' && bytes > 1,
                 found = ending(bytes, text);
    size_t length, last = 0;
    const int kind = kind_at(bytes - first, text + first, &length);
    if (found)
        return found;
    if (kind != UNICODE_SPACE)
        return run_end(bytes, text, first, kind, &last);
    const size_t end = run_end(bytes, text, 0, kind, &last);
    return end == bytes || last == 0 ? end : last;
}

/* ---- The merges of a piece. Its tokens are a list in which each knows the
 * next one and the one before. A tree over their places knows at its root
 * the merge that comes first: a node is the lesser one of the two below it,
 * and a leaf is the merge of its token and the next one. So a piece of n
 * bytes takes about n log n steps. */

#define NO_MERGE UINT64_MAX

typedef struct {
    size_t n;    /* bytes of the piece */
    size_t room; /* there is memory for so many */
    int *id;
    size_t *next,
        *before;    /* before the first one is n, as after the last */
    uint64_t *tree; /* 2n: the root is 1, leaf i is n + i */
} Piece;

static void piece_reserve(Piece *p, size_t n)
{
    p->n = n;
    if (p->room < n) {
        p->room = 2 * n;
        free(p->id);
        free(p->next);
        free(p->tree);
        p->id = new_list(p->room, sizeof *p->id);
        p->next = new_list(2 * p->room, sizeof *p->next);
        p->before = p->next + p->room;
        p->tree = new_list(2 * p->room, sizeof *p->tree);
    }
}

/* The merge of the token there and the next one: its number, and where. */
static uint64_t merge_at(const Gpt2Tokens *t, const Piece *p, size_t i)
{
    if (p->next[i] >= p->n)
        return NO_MERGE;
    const Gpt2Merge *m = find_merge(t, p->id[i], p->id[p->next[i]]);
    return m ? (uint64_t)m->number << 32 | i : NO_MERGE;
}

static void set_node(Piece *p, size_t k)
{
    const uint64_t a = p->tree[2 * k], b = p->tree[2 * k + 1];
    p->tree[k] = a < b ? a : b;
}

static void set_leaf(Piece *p, size_t i, uint64_t merge)
{
    p->tree[p->n + i] = merge;
    for (size_t k = (p->n + i) / 2; k > 0; k /= 2)
        set_node(p, k);
}

static void piece_begin(const Gpt2Tokens *t, Piece *p, const char *text)
{
    for (size_t i = 0; i < p->n; i++) {
        p->id[i] = t->byte_id[(unsigned char)text[i]];
        p->next[i] = i + 1;
        p->before[i] = i ? i - 1 : p->n;
    }
    for (size_t i = 0; i < p->n; i++)
        p->tree[p->n + i] = merge_at(t, p, i);
    for (size_t k = p->n - 1; k > 0; k--)
        set_node(p, k);
}

/* The token at i takes in the next one. */
static void merge_next(const Gpt2Tokens *t, Piece *p, size_t i)
{
    const size_t gone = p->next[i], next = p->next[gone];
    p->id[i] = find_merge(t, p->id[i], p->id[gone])->whole;
    p->next[i] = next;
    if (next < p->n)
        p->before[next] = i;
    set_leaf(p, gone, NO_MERGE);
    set_leaf(p, i, merge_at(t, p, i));
    if (p->before[i] < p->n)
        set_leaf(p, p->before[i], merge_at(t, p, p->before[i]));
}

int gpt2_tokens_encode(const Gpt2Tokens *t, size_t bytes, const char *text,
                       int most, int ids[])
{
    Piece p = {0};
    int count = 0;
    if (bytes > INT_MAX)
        REFUSE("a text of %zu bytes: at most %d can be read", bytes,
               INT_MAX);
    for (size_t at = 0; at < bytes; at += p.n) {
        piece_reserve(&p, piece(bytes - at, text + at));
        piece_begin(t, &p, text + at);
        while (p.tree[1] != NO_MERGE)
            merge_next(t, &p, p.tree[1] & UINT32_MAX);
        for (size_t i = 0; i < p.n; i = p.next[i], count++)
            if (count < most)
                ids[count] = p.id[i];
    }
    free(p.id);
    free(p.next);
    free(p.tree);
    return count;
}

size_t gpt2_tokens_decode(const Gpt2Tokens *t, int n, const int ids[],
                          size_t most, char text[])
{
    size_t count = 0;
    for (int i = 0; i < n; i++) {
        const int id = ids[i];
        if (id < 0 || id >= t->vocabulary)
            REFUSE("token %d has id %d: from 0 to %d is needed", i, id,
                   t->vocabulary - 1);
        const size_t length = t->start[id + 1] - t->start[id];
        if (count < most)
            memcpy(text + count, t->bytes + t->start[id],
                   length < most - count ? length : most - count);
        count += length;
    }
    return count;
}
