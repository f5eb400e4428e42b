#include "stages.h"

/* ---- What can be set. Texts are kept as they are; all else is a number, a
 * choice being the number of its name. */

typedef struct {
    const char *key, *label;
    enum { TEXT, WHOLE, REAL, CHOICE } kind;
    double least, most, step; /* whole numbers must fit */
    const char *choice; /* words, of which each stands for its number */
} Setting;

// clang-format off
static const Setting settings[KEYS] = {
    [KEY_WORDS] = {.key = "words", .label = "text"},
    [KEY_OTHERS] = {.key = "others",
                    .label = "text to attend to (cross-attention), if another"},
    [KEY_WORD] = {.key = "word", .label = "word that asks"},
    [KEY_WRITE] = {"write", "tokens to write on", WHOLE, 0, 64, 1, NULL},
    [KEY_TEMPERATURE] = {"temperature", "temperature", REAL, 0, 2, 0.1, NULL},
    [KEY_TOP_K] = {"top_k", "largest logits that are kept (0: all)", WHOLE, 0, 20, 1, NULL},
    [KEY_SCORES] = {"score", "score of", REAL, -6, 6, 0.1, "auto"},
    [KEY_SEED] = {"seed", "seed", WHOLE, 0, UINT32_MAX, 1, NULL},
    [KEY_HEADS] = {"heads", "heads", WHOLE, 1, MOST_HEADS, 1, NULL},
    [KEY_D_K] = {"d_k", "query size (d_k)", WHOLE, 1, MOST_SIZE, 1, NULL},
    [KEY_D_V] = {"d_v", "value size (d_v)", WHOLE, 1, MOST_SIZE, 1, NULL},
    [KEY_D_OUT] = {"d_out", "output size (d_out)", WHOLE, 0, MOST_OUT, 1, NULL},
    [KEY_SCALE] = {"scale", "scores divided by", REAL, 0.25, 8, 0.25, "root"},
    [KEY_HEAD] = {.key = "head", .label = "head that is shown"},
    [KEY_P] = {"p", "dropout rate", REAL, 0, 0.95, 0.05, NULL},
    [KEY_HIDE] = {.key = "hide", .label = "the mask hides", .kind = CHOICE,
                  .choice = "scores weights"},
    [KEY_DROPOUT_SEED] = {"dropout_seed", "dropout seed", WHOLE, 0, UINT32_MAX, 1, NULL},
    [KEY_MASK] = {.key = "mask", .label = "each sees", .kind = CHOICE,
                  .choice = "none causal window next"},
    [KEY_WINDOW] = {"window", "words in the window", WHOLE, 1, MOST_WORDS, 1, NULL},
    [KEY_OFF] = {.key = "off", .label = "heads that are switched off"},
};
// clang-format on

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

/* The number of a choice's name, or -1. */
static int choice_of(const Setting *s, const char *value)
{
    int k = 0;
    const size_t size = strlen(value);
    for (const char *c = s->choice; c; k++) {
        if (strcspn(c, " ") == size && strncmp(c, value, size) == 0)
            return k;
        c = strchr(c, ' ') ? strchr(c, ' ') + 1 : NULL;
    }
    return -1;
}

/* A number from the least to the most; not rounded to a float. A score may
 * lie beyond the slider that a page has for it. */
static double decimal(const Setting *s, const char *name, const char *value)
{
    const double x = (double)parse_float(name, value);
    const int is_score = s == &settings[KEY_SCORES];
    if (is_score && (isnan(x) || (isinf(x) && x > 0)))
        REFUSE("%s is %s: a finite number, -inf or auto is needed", name,
               value);
    if (!is_score && !(x >= s->least && x <= s->most))
        REFUSE("%s is '%s': a number from %g to %g is needed", name, value,
               s->least, s->most);
    return strtod(value, NULL);
}

static void set_one(Bench *b, const char *name, const char *value)
{
    const Key key = key_of(b->stage, name);
    const Setting *s = &settings[key];
    const int choice = choice_of(s, value);
    if (key == KEY_SCORES) {
        const int j = (int)parse_integer("the number of a score", name + 5,
                                         1, MOST_WORDS);
        b->score[j - 1] = choice < 0 ? (float)decimal(s, name, value) : NAN;
    } else if (s->kind == TEXT)
        b->given[key] = value;
    else if (choice >= 0)
        b->number[key] = choice;
    else if (s->kind == WHOLE)
        b->number[key] = (double)parse_integer(
            name, value, (uint64_t)s->least, (uint64_t)s->most);
    else if (s->kind == REAL)
        b->number[key] = decimal(s, name, value);
    else
        REFUSE("%s is '%s': one of %s is needed", s->key, value, s->choice);
}

/* The value of an argument KEY=VALUE; NULL if its key is another. */
static const char *value_of(const char *argument, const char *key)
{
    const size_t size = strlen(key);
    return strncmp(argument, key, size) == 0 && argument[size] == '='
               ? argument + size + 1
               : NULL;
}

static const Stage *stage_of(const Program *p, const char *name)
{
    char all[200] = "";
    for (int i = 0; i < p->stages; i++) {
        if (strcmp(p->stage[i].name, name) == 0)
            return &p->stage[i];
        strcat(strcat(all, i ? ", " : ""), p->stage[i].name);
    }
    REFUSE("stage is '%s': one of %s is needed", name, all);
}

/* Sets everything, the stage first; questions wait. */
static void read_settings(Bench *b, const Program *p, int count,
                          char *const argument[count])
{
    static const double usual[KEYS] = {[KEY_SEED] = 123,
                                       [KEY_TEMPERATURE] = 1,
                                       [KEY_HEADS] = 1,
                                       [KEY_WINDOW] = 2,
                                       [KEY_DROPOUT_SEED] = 123};
    const char *stage = p->stage->name;
    for (int i = 0; i < count; i++)
        if (value_of(argument[i], "stage"))
            stage = value_of(argument[i], "stage");
    b->stage = stage_of(p, stage);
    b->given[KEY_WORDS] = b->stage->text[0].words;
    b->given[KEY_OTHERS] = b->stage->text[1].words;
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

/* ---- What is printed: lines that begin with @ are for the page */

static const char *const list_id[LISTS] = {
    "numbers", "words", "others", "asking", "x",    "y",
    "k",       "v",     "tokens", "best",   "last", "heads"};

static void print_list(const List *l)
{
    for (int i = 0; i < l->n; i++)
        printf(" %s", l->name[i]);
    putchar('\n');
}

static void print_lists(const Bench *b)
{
    for (int k = 0; k < LISTS; k++)
        if (b->list[k].n) {
            printf("@names %s", list_id[k]);
            print_list(&b->list[k]);
        }
}

static void print_range(const char *key, double least, double most,
                        double step)
{
    printf("@range %s %g %.10g %g\n", key, least, most, step);
}

static void print_scores(const Bench *b)
{
    const Setting *s = &settings[KEY_SCORES];
    const Step *scores = step_named(b, "scores");
    for (int j = 0; j < b->n; j++) {
        char key[20];
        snprintf(key, sizeof key, "score%d", j + 1);
        if (isnan(b->score[j]))
            printf("@setting %s auto\n", key);
        else
            printf("@setting %s %g\n", key, (double)b->score[j]);
        printf("@value %s %.4f\n@choice %s auto\n@label %s %s '%s'\n", key,
               (double)scores->x[j], key, key, s->label,
               b->list[WORDS].name[j]);
        print_range(key, s->least, s->most, s->step);
    }
}

/* Texts in one line, and words of a list that are chosen. */
static void print_text(const Bench *b, Key key)
{
    const char *text = b->given[key] ? b->given[key] : "";
    printf("@setting %s ", settings[key].key);
    if (key == KEY_WORD)
        text = b->list[WORDS].name[b->asking];
    for (; *text; text++)
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    printf("\n@label %s %s", settings[key].key, settings[key].label);
    if (key == KEY_WORDS)
        printf(", of up to %d %s", b->most, b->unit);
    putchar('\n');
    if (key == KEY_WORD || key == KEY_HEAD) {
        printf("@choice %s", settings[key].key);
        print_list(&b->list[key == KEY_WORD ? WORDS : HEADS]);
    }
}

/* What can be chosen: of the heads of an output layer, the numbers that
 * divide its size, and of the size, those that they divide. */
static void print_choices(const Bench *b, Key key)
{
    const Setting *s = &settings[key];
    const int heads = whole_setting(b, KEY_HEADS), d_out = b->a.d_out;
    if (key == KEY_HEADS && d_out) {
        printf("@choice heads");
        for (int k = 1; k <= MOST_HEADS; k++)
            if (d_out % k == 0)
                printf(" %d", k);
        putchar('\n');
        return;
    }
    if (s->choice)
        printf("@choice %s %s\n", s->key, s->choice);
    if (key == KEY_D_OUT && d_out)
        print_range(s->key, heads, MOST_OUT / heads * heads, heads);
    else if (s->kind != CHOICE)
        print_range(s->key, s->least, s->most, s->step);
}

static void print_number(const Bench *b, Key key)
{
    const Setting *s = &settings[key];
    const double x = b->number[key];
    if (key == KEY_SCALE && x == SCALE_ROOT)
        printf("@setting scale root\n@value scale %.4f\n", b->divisor);
    else if (s->kind == CHOICE) {
        const char *choice = s->choice;
        for (int k = 0; k < (int)x; k++)
            choice = strchr(choice, ' ') + 1;
        printf("@setting %s %.*s\n", s->key, (int)strcspn(choice, " "),
               choice);
    } else
        printf("@setting %s %.*g\n", s->key, s->kind == WHOLE ? 10 : 6, x);
    printf("@label %s %s\n", s->key, s->label);
    print_choices(b, key);
}

static void print_settings(const Bench *b, const Program *p)
{
    printf("@setting stage %s\n@label stage begin with\n@choice stage",
           b->stage->name);
    for (int i = 0; i < p->stages; i++)
        printf(" %s", p->stage[i].name);
    putchar('\n');
    for (int key = 0; key < KEYS; key++) {
        const int mask = whole_setting(b, KEY_MASK);
        if (!is_set_here(b->stage, settings[key].key) ||
            (key == KEY_WINDOW && mask != SEE_WINDOW) ||
            (key == KEY_HIDE && mask == SEE_ALL) ||
            (key == KEY_DROPOUT_SEED && !(b->number[KEY_P] > 0)))
            continue;
        if (key == KEY_SCORES)
            print_scores(b);
        else if (settings[key].kind == TEXT)
            print_text(b, (Key)key);
        else
            print_number(b, (Key)key);
    }
}

/* ---- Tables: all, or of those of a model only rows that an answer needs */

static int is_needed(const Place *place, int count, int step, int h, int i)
{
    for (int k = 0; k < count; k++)
        if (place[k].step == step && place[k].h == h &&
            (i == ALL || place[k].i == ALL || place[k].i == i))
            return 1;
    return 0;
}

static void print_table(const Bench *b, int step, int h, const Place *place,
                        int count)
{
    const Step *s = &b->step[step];
    const int is_all = b->stage->draw != BY_TRAINING;
    char head[24] = "-", label[100];
    if (s->heads)
        snprintf(head, sizeof head, "%d", h);
    printf("@table %s %s", s->id, head);
    for (int k = 0; k < 2; k++) {
        const ListId list = k ? s->columns : s->rows;
        printf(" %s", list_id[b->list[list].n ? list : NUMBERS]);
    }
    snprintf(head, sizeof head, ", head %d", is_all ? h + 1 : h);
    snprintf(label, sizeof label, "%s%s", s->label,
             s->heads > 1 ? head : "");
    putchar('\n');
    if (is_all) {
        print_matrix(label, s->n, s->m, ROWS(s->m, step_row(s, h, 0)));
        return;
    }
    printf("%s (%d, %d)\n", label, s->n, s->m);
    for (int i = 0; i < s->n; i++) {
        if (!is_needed(place, count, step, h, i))
            continue;
        printf("@row %d\n", i);
        for (int j = 0; j < s->m; j++)
            printf("%s%s", j ? " " : "", say((double)step_row(s, h, i)[j]));
        putchar('\n');
    }
}

static void print_tables(const Bench *b, const Place *place, int count)
{
    const int is_all = b->stage->draw != BY_TRAINING;
    for (int k = 0; k < b->steps; k++) {
        const int step = is_all ? k : b->steps - 1 - k;
        for (int h = 0; h == 0 || h < b->step[step].heads; h++)
            if (is_all || is_needed(place, count, step, h, ALL))
                print_table(b, step, h, place, count);
    }
}

/* ---- The questions */

/* An index of one of so many, counted from 0. */
static int index_of(const char *what, const char *text, int count)
{
    return (int)parse_integer(what, text, 0, (uint64_t)count - 1);
}

static Place place_of(const Bench *b, const char *ask)
{
    char part[4][24], more;
    if (sscanf(ask, "%23[^:]:%23[^:]:%23[^:]:%23[^:]%c", part[0], part[1],
               part[2], part[3], &more) != 4)
        REFUSE("ask is '%s': TABLE:HEAD:ROW:COLUMN is needed", ask);
    const Step *s = step_named(b, part[0]);
    if (!s)
        REFUSE("ask is for table '%s': one that is printed, such as %s, is "
               "needed",
               part[0], b->step[b->weights[0]].id);
    if (!s->heads && strcmp(part[1], "-") != 0)
        REFUSE("ask is for head %s of table '%s', which heads share: - is "
               "needed",
               part[1], part[0]);
    return (Place){
        (int)(s - b->step),
        s->heads ? index_of("the head asked for", part[1], s->heads) : 0,
        index_of("the row asked for", part[2], s->n),
        index_of("the column asked for", part[3], s->m), .count = 0};
}

static void print_place(const Bench *b, const char *mark, Place p)
{
    const Step *s = &b->step[p.step];
    printf("@%s %s", mark, s->id);
    printf(s->heads ? " %d" : " -", p.h);
    printf(p.i == ALL ? " *" : " %d", p.i);
    if (p.j != SOME)
        printf(p.j == ALL ? " *" : " %d", p.j);
    for (int k = 0; p.j == SOME && k < p.count; k++)
        printf("%c%d", k ? ',' : ' ', p.some[k]);
    putchar('\n');
}

/* All that was asked, each on the way of the one before; the last one is
 * the answer. Returns how many places a model's tables are needed for. */
static int answer(const Bench *b, int argc, char *const argv[argc],
                  Place place[MOST_PLACES])
{
    int count = 0;
    for (int i = 0; i < argc; i++) {
        const char *ask = value_of(argv[i], "ask");
        if (!ask)
            continue;
        if (b->stage->draw != BY_TRAINING)
            count = 0; /* all tables are printed */
        if (count > MOST_PLACES - 8)
            REFUSE("%d questions: fewer are needed", i + 1);
        const Place p = place_of(b, ask);
        place[count++] = p;
        const int before = count;
        print_place(b, "explain", p);
        step_explain(b, p, &count, place);
        for (int k = before; k < count; k++)
            print_place(b, "source", place[k]);
    }
    return count;
}

/* ---- The program */

static int run(int argc, char *argv[])
{
    const Program *p = &program;
    static Bench b;
    static Place place[MOST_PLACES];
    b = (Bench){.unit = "words", .most = MOST_WORDS};
    read_settings(&b, p, argc - 1, argv + 1);
    p->begin(&b);
    steps_take(&b);
    print_lists(&b);
    p->note(&b);
    print_settings(&b, p);
    int count = answer(&b, argc - 1, argv + 1, place);
    place[count++] = (Place){b.next, 0, ALL, ALL, .count = 0};
    place[count++] =
        (Place){b.weights[b.block], b.head, ALL, ALL, .count = 0};
    print_tables(&b, place, count);
    p->draw(&b);
    for (int k = 0; k < b.steps; k++)
        if (b.step[k].is_own)
            free(b.step[k].x);
    p->end(&b);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(run, argc, argv);
}
