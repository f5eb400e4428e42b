#include "workbench_say.h"

#include <strings.h>

/* ---- What can be set. Texts and the word are kept as they are; all else
 * is a number, a choice being the number of its name. */

typedef struct {
    const char *key, *label;
    enum { TEXT, WHOLE, REAL, CHOICE } kind;
    double least, most, step; /* for the page; whole numbers must fit */
    const char *choice[4];
} Setting;

_Static_assert(MOST_WORDS == 12, "so the text's label says");
static const Setting settings[KEYS] = {
    [KEY_WORDS] = {"words", "text, of up to 12 words", TEXT, 0, 0, 0, {0}},
    [KEY_OTHERS] = {"others",
                    "text to attend to (cross-attention), if another",
                    TEXT,
                    0,
                    0,
                    0,
                    {0}},
    [KEY_WORD] = {"word", "word that asks", TEXT, 0, 0, 0, {0}},
    [KEY_SCORES] = {"score", "score of", REAL, -6, 6, 0.1, {0}},
    [KEY_SEED] = {"seed", "seed", WHOLE, 0, UINT32_MAX, 1, {0}},
    [KEY_HEADS] = {"heads", "heads", WHOLE, 1, MOST_HEADS, 1, {0}},
    [KEY_D_K] = {"d_k", "query size (d_k)", WHOLE, 1, MOST_SIZE, 1, {0}},
    [KEY_D_V] = {"d_v", "value size (d_v)", WHOLE, 1, MOST_SIZE, 1, {0}},
    [KEY_D_OUT] =
        {"d_out", "output size (d_out)", WHOLE, 0, MOST_OUT, 1, {0}},
    [KEY_SCALE] =
        {"scale", "scores divided by", REAL, 0.25, 8, 0.25, {"root"}},
    [KEY_MASK] = {"mask",
                  "a word sees",
                  CHOICE,
                  0,
                  0,
                  0,
                  {"none", "causal", "window"}},
    [KEY_WINDOW] =
        {"window", "words in the window", WHOLE, 1, MOST_WORDS, 1, {0}},
    [KEY_HIDE] =
        {"hide", "the mask hides", CHOICE, 0, 0, 0, {"scores", "weights"}},
    [KEY_P] = {"p", "dropout rate", REAL, 0, 1, 0.05, {0}},
    [KEY_DROPOUT_SEED] =
        {"dropout_seed", "dropout seed", WHOLE, 0, UINT32_MAX, 1, {0}},
};

static int is_set_here(const Stage *stage, const char *key)
{
    char name[50];
    snprintf(name, sizeof name, " %.40s ", key);
    return strstr(stage->settings, name) != NULL;
}

/* The setting of that name; of score3, the scores. */
static Key key_of(const Stage *stage, const char *name)
{
    char stem[40];
    snprintf(stem, sizeof stem, "%s", name);
    if (strncmp(stem, "score", 5) == 0)
        stem[5] = '\0';
    for (int k = 0; k < KEYS; k++)
        if (strcmp(settings[k].key, stem) == 0 && is_set_here(stage, stem))
            return (Key)k;
    REFUSE("stage=%s has no setting '%s': one of%sis needed", stage->name,
           name, stage->settings);
}

static double choice_of(const Setting *s, const char *value)
{
    int k = 0;
    while (s->choice[k] && strcmp(s->choice[k], value) != 0)
        k++;
    if (!s->choice[k])
        REFUSE("%s is '%s': %s%s%s or %s is needed", s->key, value,
               s->choice[0], s->choice[2] ? ", " : "",
               s->choice[2] ? s->choice[1] : "",
               s->choice[s->choice[2] ? 2 : 1]);
    return k;
}

/* As parse_float, but not rounded to a float. */
static double decimal(const char *what, const char *value)
{
    parse_float(what, value);
    return strtod(value, NULL);
}

static void set_score(Bench *b, const char *name, const char *value)
{
    const int j = (int)parse_integer("the number of a score", name + 5, 1,
                                     MOST_WORDS);
    if (strcmp(value, "auto") == 0)
        return;
    b->score[j - 1] = parse_float(name, value);
    if (isnan(b->score[j - 1]) || b->score[j - 1] == INFINITY)
        REFUSE("%s is %s: a finite number, -inf or auto is needed", name,
               value);
}

static void set_scale(Bench *b, const char *value)
{
    const double x =
        strcmp(value, "root") == 0 ? SCALE_ROOT : decimal("scale", value);
    const float divisor = (float)x;
    if (strcmp(value, "root") != 0 && !(divisor > 0 && divisor < INFINITY))
        REFUSE("scale is '%s': root, or a number above 0 to divide by, is "
               "needed",
               value);
    b->number[KEY_SCALE] = x;
}

static void set_one(Bench *b, const char *name, const char *value)
{
    const Key key = key_of(b->stage, name);
    const Setting *s = &settings[key];
    if (key == KEY_WORDS || key == KEY_OTHERS)
        b->words[key == KEY_OTHERS] = value;
    else if (key == KEY_WORD)
        b->word = value;
    else if (key == KEY_SCORES)
        set_score(b, name, value);
    else if (key == KEY_SCALE)
        set_scale(b, value);
    else if (s->kind == CHOICE)
        b->number[key] = choice_of(s, value);
    else if (s->kind == WHOLE)
        b->number[key] = (double)parse_integer(
            name, value, (uint64_t)s->least, (uint64_t)s->most);
    else
        b->number[key] = decimal(name, value);
}

/* The value of an argument KEY=VALUE; NULL if its key is another. */
static const char *value_of(const char *argument, const char *key)
{
    const size_t size = strlen(key);
    return strncmp(argument, key, size) == 0 && argument[size] == '='
               ? argument + size + 1
               : NULL;
}

/* Sets everything, the stage first; questions wait. */
static void read_settings(Bench *b, int count, char *const argument[count])
{
    static const double usual[KEYS] = {[KEY_SEED] = 123,
                                       [KEY_HEADS] = 1,
                                       [KEY_WINDOW] = 2,
                                       [KEY_DROPOUT_SEED] = 123};
    const char *stage = "all";
    for (int i = 0; i < count; i++)
        if (value_of(argument[i], "stage"))
            stage = value_of(argument[i], "stage");
    b->stage = bench_stage(stage);
    b->words[0] = b->stage->text[0].words;
    b->words[1] = b->stage->text[1].words;
    for (int k = 0; k < KEYS; k++)
        b->number[k] = b->stage->number[k] ? b->stage->number[k] : usual[k];
    for (int j = 0; j < MOST_WORDS; j++)
        b->score[j] = NAN;
    for (int i = 0; i < count; i++) {
        char name[40];
        const size_t size = strcspn(argument[i], "=");
        if (!argument[i][size] || size >= sizeof name)
            REFUSE("the argument is '%s': KEY=VALUE is needed",
                   argument[i]);
        memcpy(name, argument[i], size);
        name[size] = '\0';
        if (strcmp(name, "ask") != 0 && strcmp(name, "stage") != 0)
            set_one(b, name, argument[i] + size + 1);
    }
}

/* ---- What is printed */

/* A text as it was given, in one line. */
static void print_line(const char *text)
{
    for (; *text; text++)
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    putchar('\n');
}

static void print_names(const char *list, int n, const char *const name[n])
{
    printf("@%s", list);
    for (int i = 0; i < n; i++)
        printf(" %s", name[i]);
    putchar('\n');
}

static void print_lists(const Bench *b)
{
    print_names("words", b->n, b->name[0]);
    if (b->texts == 2)
        print_names("others", b->m, b->name[1]);
    if (b->stage->draw == BY_NONE)
        printf("@names asking %s\n", b->name[0][b->asking]);
    for (int per = PER_X; per <= PER_V; per++)
        if (b->stage->names[per])
            printf("@names %s %s\n", bench_list(b, (Per)per),
                   b->stage->names[per]);
}

static int size_of(const Bench *b, int k)
{
    return k ? b->m : b->n;
}

static int is_repeated(const Bench *b, int k, int i)
{
    int first = 0;
    while (strcmp(b->name[k][first], b->name[k][i]) != 0)
        first++;
    return first < i;
}

/* Where two words are one but for their case. */
static void print_case(const Bench *b, int k)
{
    for (int i = 0; i < size_of(b, k); i++)
        for (int j = i + 1; j < size_of(b, k); j++)
            if (strcmp(b->name[k][i], b->name[k][j]) != 0 &&
                strcasecmp(b->name[k][i], b->name[k][j]) == 0) {
                printf(" '%s' and '%s' are two words.", b->name[k][i],
                       b->name[k][j]);
                return;
            }
}

/* What may be meant otherwise: Chinese without blanks is a single word. */
static void print_hints(const Bench *b)
{
    for (int k = 0; k < b->texts; k++) {
        const char *word = b->name[k][0];
        if (size_of(b, k) == 1 && (unsigned char)*word >= 0xe3 && word[3])
            printf("@note '%s' is taken for one word: put blanks between "
                   "the words of a text.\n",
                   word);
    }
    if (b->number[KEY_P] == 1)
        printf("@note A dropout rate of 1 drops every weight: nothing is "
               "left to mix, and each context vector is 0.\n");
}

/* Which words have rows that the chapter does not give them. */
static void print_notes(const Bench *b)
{
    print_hints(b);
    if (!b->stage->text[0].known) {
        printf("@note Seed %.0f draws the embedding of every word, and the "
               "matrices. Without training, they mean nothing.",
               b->number[KEY_SEED]);
        print_case(b, 0);
        putchar('\n');
    }
    for (int k = 0; k < b->texts; k++) {
        int count = 0;
        for (int i = 0; b->stage->text[k].known && i < size_of(b, k); i++) {
            if (b->is_known[k][i] || is_repeated(b, k, i))
                continue;
            if (count == 0)
                printf("@note Chapter %d has no numbers for ",
                       b->stage->text[k].chapter);
            printf("%s'%s'", count++ ? ", " : "", b->name[k][i]);
        }
        if (count)
            printf(": %s drawn as in chapter 5, from seed %.0f.\n",
                   count > 1 ? "their rows are" : "its row is",
                   b->number[KEY_SEED]);
    }
}

static void print_range(const char *key, const char *label, double least,
                        double most, double step)
{
    printf("@label %s %s\n@range %s %g %.0f %g\n", key, label, key, least,
           most, step);
}

static void print_stage(const Bench *b)
{
    const char *name;
    printf("@setting stage %s\n@label stage begin with\n@choice stage",
           b->stage->name);
    for (int i = 0; (name = bench_stage_name(i)); i++)
        printf(" %s", name);
    putchar('\n');
}

static void print_scores(const Bench *b)
{
    const Setting *s = &settings[KEY_SCORES];
    for (int j = 0; j < b->n; j++) {
        char key[20], label[100];
        const double now = (double)bench_row(b, SCORES, 0, 0)[j];
        snprintf(key, sizeof key, "score%d", j + 1);
        snprintf(label, sizeof label, "score of '%s'", b->name[0][j]);
        if (isnan(b->score[j]))
            printf("@setting %s auto\n", key);
        else
            printf("@setting %s %g\n", key, (double)b->score[j]);
        printf("@value %s %.4f\n@choice %s auto\n", key, now, key);
        print_range(key, label, s->least, s->most, s->step);
    }
}

/* The numbers of heads that divide the output, or its sizes that they
 * divide. */
static void print_divisors(const Bench *b, Key key)
{
    const int heads = bench_whole(b, KEY_HEADS);
    const int d_out = bench_whole(b, KEY_D_OUT);
    if (key == KEY_D_OUT) {
        print_range("d_out", settings[key].label, heads,
                    MOST_OUT / heads * heads, heads);
        return;
    }
    printf("@choice heads");
    for (int k = 1; k <= MOST_HEADS; k++)
        if (d_out % k == 0)
            printf(" %d", k);
    printf("\n@label heads %s\n", settings[key].label);
}

static void print_number(const Bench *b, Key key)
{
    const Setting *s = &settings[key];
    const double x = b->number[key];
    if (key == KEY_SCALE && x == SCALE_ROOT)
        printf("@setting scale root\n@value scale %.4f\n", b->divisor);
    else if (s->kind == CHOICE)
        printf("@setting %s %s\n", s->key, s->choice[(int)x]);
    else
        printf("@setting %s %.*g\n", s->key, s->kind == WHOLE ? 10 : 6, x);
    if (b->a.d_out && (key == KEY_HEADS || key == KEY_D_OUT)) {
        print_divisors(b, key);
        return;
    }
    if (s->choice[0]) {
        printf("@choice %s", s->key);
        for (int k = 0; s->choice[k]; k++)
            printf(" %s", s->choice[k]);
        putchar('\n');
    }
    if (s->kind == CHOICE)
        printf("@label %s %s\n", s->key, s->label);
    else
        print_range(s->key, s->label, s->least, s->most, s->step);
}

/* Is this seed used at all? Not where all is written by hand. */
static int is_drawn(const Bench *b)
{
    int drawn = b->stage->draw == BY_RAND || b->stage->draw == BY_LINEAR;
    for (int k = 0; k < b->texts; k++)
        for (int i = 0; i < size_of(b, k); i++)
            drawn |= !b->is_known[k][i];
    return drawn;
}

static void print_setting(const Bench *b, Key key)
{
    const Setting *s = &settings[key];
    if (key == KEY_SCORES) {
        print_scores(b);
    } else if (key == KEY_WORDS || key == KEY_OTHERS) {
        printf("@setting %s ", s->key);
        print_line(b->words[key == KEY_OTHERS]);
        printf("@label %s %s\n", s->key, s->label);
    } else if (key == KEY_WORD) {
        printf("@setting word %s\n@choice word", b->name[0][b->asking]);
        for (int i = 0; i < b->n; i++)
            printf(" %s", b->name[0][i]);
        printf("\n@label word %s\n", s->label);
    } else if ((key != KEY_SEED || is_drawn(b)) &&
               (key != KEY_WINDOW || b->number[KEY_MASK] == SEE_WINDOW) &&
               (key != KEY_HIDE || b->number[KEY_MASK] != SEE_ALL) &&
               (key != KEY_DROPOUT_SEED || b->number[KEY_P] > 0)) {
        print_number(b, key);
    }
}

static void print_table(const Bench *b, TableId id)
{
    const Shape s = bench_shape(b, id);
    const Kind *kind = &bench_kind[id];
    for (int h = 0; h < s.h; h++) {
        char label[100], head[20] = "-", of_head[20] = "";
        if (s.heads == PER_HEAD)
            snprintf(head, sizeof head, "%d", h);
        if (s.h > 1)
            snprintf(of_head, sizeof of_head, ", head %d", h + 1);
        snprintf(label, sizeof label, "%s%s", kind->label, of_head);
        printf("@table %s %s %s %s\n", kind->id, head,
               bench_list(b, s.rows), bench_list(b, s.columns));
        print_matrix(label, s.n, s.m, (const void *)bench_row(b, id, h, 0));
    }
}

/* ---- The question */

static TableId table_named(const Bench *b, const char *name)
{
    char all[400] = "";
    for (int id = 0; id < TABLES; id++) {
        if (!bench_has(b, (TableId)id))
            continue;
        if (strcmp(bench_kind[id].id, name) == 0)
            return (TableId)id;
        strcat(strcat(all, *all ? ", " : ""), bench_kind[id].id);
    }
    REFUSE("ask is for table '%s': one of %s is needed", name, all);
}

static int place(const char *what, const char *text, int count)
{
    char *end;
    const long k = strtol(text, &end, 10);
    if (*end || k < 0 || k >= count)
        REFUSE("ask is for %s '%s': the table has %d, counted from 0", what,
               text, count);
    return (int)k;
}

static void explain(const Bench *b, const char *ask)
{
    char part[4][20], more;
    if (sscanf(ask, "%19[^:]:%19[^:]:%19[^:]:%19[^:]%c", part[0], part[1],
               part[2], part[3], &more) != 4)
        REFUSE("ask is '%s': TABLE:HEAD:ROW:COLUMN is needed", ask);
    const TableId id = table_named(b, part[0]);
    const Shape s = bench_shape(b, id);
    if (s.heads != PER_HEAD && strcmp(part[1], "-") != 0)
        REFUSE("ask is for head %s of table '%s', which heads share: - is "
               "needed",
               part[1], part[0]);
    const char *head = s.heads == PER_HEAD ? part[1] : "0";
    bench_explain(b, (Cell){id, place("head", head, s.h),
                            place("row", part[2], s.n),
                            place("column", part[3], s.m)});
}

/* ---- The program */

static int workbench(int argc, char *argv[])
{
    static Bench b;
    b = (Bench){0};
    read_settings(&b, argc - 1, argv + 1);
    bench_set(&b);
    bench_compute(&b);
    print_lists(&b);
    print_notes(&b);
    print_stage(&b);
    for (int key = 0; key < KEYS; key++)
        if (is_set_here(b.stage, settings[key].key))
            print_setting(&b, (Key)key);
    for (int id = 0; id < TABLES; id++)
        if (bench_has(&b, (TableId)id))
            print_table(&b, (TableId)id);
    bench_draw(&b);
    for (int i = 1; i < argc; i++)
        if (value_of(argv[i], "ask"))
            explain(&b, value_of(argv[i], "ask"));
    bench_free(&b);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(workbench, argc, argv);
}
