#include "inside.h"

#include <ctype.h>

/* ---- Settings, each KEY=VALUE */

static void usual(Inside *in)
{
    *in = (Inside){.seed = 123, .temperature = 1, .block = -1, .draw = ""};
    in->mask = mask_causal(0);
}

/* A head as its block and its number, a digit each: 1.0. Returns where it
 * ends. */
static const char *head_of(const char *text, int *block, int *head)
{
    if (!isdigit(text[0]) || text[1] != '.' || !isdigit(text[2]))
        REFUSE("a head is '%s': its block and its number, such as 1.0, are "
               "needed",
               text);
    *block = text[0] - '0';
    *head = text[2] - '0';
    if (*block >= MOST_LAYERS || *head >= MOST_HEADS)
        REFUSE("a head is '%s': its block and its number, below %d and %d, "
               "are needed",
               text, MOST_LAYERS, MOST_HEADS);
    return text + 3;
}

/* Heads that are switched off, with commas between them. */
static void set_off(Inside *in, const char *text)
{
    int l, h;
    for (int is_first = 1; *text; is_first = 0) {
        if (!is_first && *text++ != ',')
            REFUSE("behind a head stands '%s': a comma, and another head, "
                   "are needed",
                   text - 1);
        text = head_of(text, &l, &h);
        in->is_off[l][h] = 1;
    }
}

enum { MOST_WRITTEN = 64, HOTTEST = 2, MOST_KEPT = 20 };
static const char *const stages[STAGES] = {"language", "repeated", "verbs"};
static const char *const texts[STAGES] = {
    "The mask hides the future. The mask h", "fihapfih",
    "the dogs near the old child _"};
static const char *const masks[3] = {"causal", "next", "all"};
static const char *const ways[2] = {"whole", "cached"};
static const char *const pictures[2] = {"looks", "next"};

static int choice(const char *key, const char *value, int n,
                  const char *const name[n])
{
    for (int k = 0; k < n; k++)
        if (!strcmp(name[k], value))
            return k;
    REFUSE("%s is '%s': %s%s%s%s%s is needed", key, value, name[0],
           n > 2 ? ", " : "", n > 2 ? name[1] : "", n > 1 ? " or " : "",
           n > 1 ? name[n - 1] : "");
}

static void set_temperature(Inside *in, const char *value)
{
    const double x = (double)parse_float("temperature", value);
    if (!(x == 0 || (x >= 0.01 && x <= HOTTEST)))
        REFUSE("temperature is '%s': 0, or from 0.01 to %d, is needed",
               value, HOTTEST);
    in->temperature = x;
}

static void set_one(Inside *in, const char *key, const char *value)
{
    const char *end = "";
    if (!strcmp(key, "words"))
        in->words = value;
    else if (!strcmp(key, "write"))
        in->write = (int)parse_integer(key, value, 0, MOST_WRITTEN);
    else if (!strcmp(key, "head"))
        end = head_of(value, &in->block, &in->head);
    else if (!strcmp(key, "off"))
        set_off(in, value);
    else if (!strcmp(key, "mask"))
        in->mask = (Mask[]){mask_causal(0), mask_causal(1),
                            mask_none()}[choice(key, value, 3, masks)];
    else if (!strcmp(key, "way"))
        in->is_cached = choice(key, value, 2, ways);
    else if (!strcmp(key, "temperature"))
        set_temperature(in, value);
    else if (!strcmp(key, "top_k"))
        in->top_k = (int)parse_integer(key, value, 0, MOST_KEPT);
    else if (!strcmp(key, "seed"))
        in->seed = parse_integer(key, value, 0, UINT32_MAX);
    else if (!strcmp(key, "draw"))
        in->draw = pictures[choice(key, value, 2, pictures)];
    else if (!strcmp(key, "stage"))
        in->stage = (Stage)choice(key, value, STAGES, stages);
    else if (strcmp(key, "ask"))
        REFUSE(
            "there is no setting '%s': one of stage, words, write, head, "
            "off, mask, way, temperature, top_k, seed, draw or ask is "
            "needed",
            key);
    if (*end)
        REFUSE("%s is '%s': a single head is needed", key, value);
}

static void read_settings(Inside *in, int count, char *argument[count])
{
    int is_asked = 0;
    for (int i = 0; i < count; i++) {
        if (!strcmp(argument[i], "--short")) {
            in->is_short = 1;
            continue;
        }
        char *equals = strchr(argument[i], '=');
        if (!equals)
            REFUSE("the argument is '%s': KEY=VALUE, or --short, is needed",
                   argument[i]);
        is_asked |= !strncmp(argument[i], "ask=", 4);
        *equals = '\0';
        set_one(in, argument[i], equals + 1);
        *equals = '=';
    }
    if (in->is_short && is_asked)
        REFUSE(
            "ask is given with --short: one without the other is needed, "
            "as the short form explains nothing");
}

static int most_kept(const Inside *in)
{
    return in->g.vocabulary < MOST_KEPT ? in->g.vocabulary : MOST_KEPT;
}

/* What a stage begins with where nothing else is said. */
static void fill_settings(Inside *in)
{
    const int is_language = in->stage == LANGUAGE;
    if (!in->words)
        in->words = texts[in->stage];
    if (in->block < 0)
        in->block = in->head = is_language ? 1 : 0;
    if (!is_language && (in->write || in->is_cached))
        REFUSE("stage is %s: its model does not write and has no cache, so "
               "write=0 and way=whole are needed",
               stages[in->stage]);
}

/* Heads that the model does not have, and what the mask leaves no sense. */
static void check_settings(const Inside *in)
{
    if (in->top_k > most_kept(in))
        REFUSE("top_k is %d: from 0 to %d is needed", in->top_k,
               most_kept(in));
    const int is_causal = in->mask.kind == MASK_CAUSAL && !in->mask.first;
    if (in->is_cached && !is_causal)
        REFUSE(
            "way is cached: mask=causal is needed, as a cache holds only "
            "what came before");
    if (in->write && !is_causal)
        REFUSE("write is %d: mask=causal is needed, as what is not written "
               "yet cannot be seen",
               in->write);
    for (int l = 0; l < MOST_LAYERS; l++)
        for (int h = 0; h < MOST_HEADS; h++)
            if ((in->is_off[l][h] || (l == in->block && h == in->head)) &&
                (l >= in->g.layers || h >= in->g.n_heads))
                REFUSE("head %d.%d: the model has blocks 0 to %d, of heads "
                       "0 to %d",
                       l, h, in->g.layers - 1, in->g.n_heads - 1);
}

/* ---- What is printed */

static void print_lists(const Inside *in)
{
    printf("@words");
    for (int i = 0; i < in->n; i++)
        printf(" %s", in->name[i]);
    printf("\n@names last %s\n@names tokens", in->name[in->n - 1]);
    for (int id = 0; id < in->g.vocabulary; id++)
        printf(" %s", in->vocabulary[id]);
    printf("\n@names best");
    for (int k = 0; k < BEST_COUNT; k++)
        printf(" %s", in->vocabulary[in->best[k]]);
    putchar('\n');
}

static void print_range(const char *key, const char *label, double value,
                        double least, double most, double step)
{
    printf("@setting %s %.7g\n@label %s %s\n@range %s %g %g %g\n", key,
           value, key, label, key, least, most, step);
}

static void print_choice(const char *key, const char *label, int n,
                         const char *const name[n], int k)
{
    printf("@setting %s %s\n@label %s %s\n@choice %s", key, name[k], key,
           label, key);
    for (int i = 0; i < n; i++)
        printf(" %s", name[i]);
    putchar('\n');
}

static void print_shown(const Inside *in)
{
    const Gpt *g = &in->g;
    printf("@setting head %d.%d\n@label head head that is shown\n@choice "
           "head",
           in->block, in->head);
    for (int i = 0; i < g->layers * g->n_heads; i++)
        printf(" %d.%d", i / g->n_heads, i % g->n_heads);
    putchar('\n');
}

/* The heads that are off, with commas between them; "" for none. */
static const char *heads_off(const Inside *in)
{
    static char text[4 * MOST_LAYERS * MOST_HEADS + 1];
    char *end = text;
    *text = '\0';
    for (int l = 0; l < MOST_LAYERS; l++)
        for (int h = 0; h < MOST_HEADS; h++)
            if (in->is_off[l][h])
                end += sprintf(end, "%s%d.%d", *text ? "," : "", l, h);
    return text;
}

static void print_settings(const Inside *in)
{
    const int is_language = in->stage == LANGUAGE;
    printf("@setting stage %s\n@label stage begin with\n"
           "@setting words %s\n@label words text, of up to %d %s\n",
           stages[in->stage], in->words, in->g.context_length,
           in->stage == VERBS ? "words" : "characters");
    if (is_language)
        print_range("write", "tokens to write on", in->write, 0,
                    MOST_WRITTEN, 1);
    print_range("temperature", "temperature", in->temperature, 0, HOTTEST,
                0.1);
    print_range("top_k", "largest logits that are kept (0: all)", in->top_k,
                0, most_kept(in), 1);
    if (is_language)
        printf("@setting seed %" PRIu64 "\n@label seed seed\n"
               "@range seed 0 4294967295 1\n",
               in->seed);
    print_shown(in);
    print_choice("mask", "a token sees", 3, masks,
                 in->mask.kind == MASK_NONE ? 2 : in->mask.first);
    if (is_language)
        print_choice("way", "the text is read", 2, ways, in->is_cached);
    printf("@setting off %s\n@label off heads that are switched off\n",
           heads_off(in));
}

/* The largest difference that it makes to the logits if the tokens come one
 * by one, with a cache of keys and values. */
static float cached_difference(const Inside *in)
{
    const Gpt *g = &in->g;
    KVCache cache[MOST_LAYERS];
    float most = 0;
    gpt_caches_init(cache, g);
    for (int i = 0; i < in->n; i++) {
        GptPass p;
        gpt_pass_init(&p, g, 1, 1);
        gpt_forward(g, cache, in->ids + i, &p);
        most = fmaxf(most, largest_difference(
                               g->vocabulary, p.logits,
                               inside_row(&in->step[in->logits], 0, i)));
        gpt_pass_free(&p);
    }
    gpt_caches_free(cache, g);
    return most;
}

/* Whether the token stands in the text before its place, too. */
static int stood_before(const Inside *in, int i)
{
    for (int j = 0; j < i; j++)
        if (in->ids[j] == in->ids[i])
            return 1;
    return 0;
}

static void print_notes(const Inside *in, float loss, float loss_on)
{
    const char *note = in->is_short ? "" : "@note ";
    const float *share = in->step[in->next].x;
    if (in->write) {
        printf("%sThe model has written: ", note);
        for (int i = in->given; i < in->n; i++)
            printf("%s", in->name[i]);
        putchar('\n');
    }
    printf("%sMost likely %s:", note,
           in->stage == VERBS ? "fits here" : "comes next");
    for (int k = 0; k < 3 && share[k] >= 0.00005f; k++)
        printf("%s '%s' with %.4f", k ? "," : "",
               in->vocabulary[in->best[k]], (double)share[k]);
    puts(".");
    if (!isnan(loss)) {
        printf("%sThe loss of this text is %.4f.", note, (double)loss);
        if (!isnan(loss_on))
            printf(" With all heads it is %.4f.", (double)loss_on);
        putchar('\n');
    }
    if (in->mask.kind == MASK_NONE || in->mask.first)
        printf("%sA token sees %s. The model has not learned that: "
               "training has always hidden it.\n",
               note,
               in->stage == VERBS ? "what comes after it"
                                  : "what it is to predict");
    if (in->stage == REPEATED && !stood_before(in, in->n - 1))
        printf("%sThe last letter has not stood before. Training has "
               "asked no answer there, and this one means nothing.\n",
               note);
    if (in->is_cached)
        printf("%sToken by token, with a cache of keys and values, the "
               "logits are those of the whole text, but for rounding: they "
               "differ by at most %.1e.\n",
               note, (double)cached_difference(in));
}

/* How many tokens up to token j are those up to token i. */
static int agreeing(const Inside *in, int i, int j)
{
    int count = 0;
    while (count <= j && in->ids[i - count] == in->ids[j - count])
        count++;
    return count;
}

/* For each token of which at least the last two have stood before, what
 * followed there: behind the longest part that has, and the last time that
 * it has. -1 for the others. */
static void find_followed(const Inside *in, int followed[in->n])
{
    for (int i = 0; i < in->n; i++) {
        int longest = 1;
        followed[i] = -1;
        for (int j = i - 1; j >= 0; j--) {
            const int count = agreeing(in, i, j);
            if (count > longest) {
                followed[i] = j + 1;
                longest = count;
            }
        }
    }
}

/* The mean weight on these, or -1 if there are none. */
static double mean_followed(int n, const float weights[n][n],
                            const int followed[n])
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < n; i++)
        if (followed[i] >= 0) {
            sum += (double)weights[i][followed[i]];
            count++;
        }
    return count ? sum / count : -1;
}

static void print_mean(const Inside *in, double x)
{
    if (in->is_short && x < 0)
        printf(" -");
    else
        printf(" %.3f", x);
}

/* A head's line: whether it is off, and what it does in this text. */
static void print_head(const Inside *in, int l, int h,
                       const int followed[in->n])
{
    const float *weights = inside_row(&in->step[in->weights[l]], h, 0);
    const int n = in->n;
    const double before =
        n > 1 ? (double)weight_back(n, ROWS(n, weights), 1, 1) : -1;
    printf("%d.%d %s", l, h, in->is_off[l][h] ? "off" : "on");
    print_mean(in, before);
    print_mean(in, mean_followed(n, ROWS(n, weights), followed));
    putchar('\n');
}

/* A head's weights, each as two digits of 16. */
static void print_map(const Inside *in, int l, int h)
{
    static const char digit[] = "0123456789abcdef";
    const float *weights = inside_row(&in->step[in->weights[l]], h, 0);
    const int n = in->n;
    char line[2 * MOST_TOKENS + 1];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const int x = (int)(weights[i * n + j] * 255 + 0.5f);
            line[2 * j] = digit[x >> 4];
            line[2 * j + 1] = digit[x & 15];
        }
        line[2 * n] = '\0';
        puts(line);
    }
}

static void print_heads(const Inside *in)
{
    int followed[MOST_TOKENS];
    find_followed(in, followed);
    if (in->is_short)
        puts("heads: mean weight on the token before, on what followed");
    for (int l = 0; l < in->g.layers; l++)
        for (int h = 0; h < in->g.n_heads; h++) {
            printf("%s", in->is_short ? "" : "@map ");
            print_head(in, l, h, followed);
            if (!in->is_short)
                print_map(in, l, h);
        }
}

/* Words with a number each, as many in a line as have room. */
static void print_named(const Inside *in, const char *label, int n,
                        const char *const word[n], const float x[n])
{
    const int line = in->stage == VERBS ? 4 : 7;
    puts(label);
    for (int i = 0; i < n; i++)
        printf("%s %.4f%s", word[i], (double)x[i],
               (i + 1) % line && i + 1 < n ? "  " : "\n");
}

/* What a reader at a terminal is told: the shares, and the last row of the
 * head that is shown. */
static void print_short(const Inside *in)
{
    const char *word[MOST_TOKENS];
    char label[60];
    for (int k = 0; k < BEST_COUNT; k++)
        word[k] = in->vocabulary[in->best[k]];
    print_named(in, "the largest shares", BEST_COUNT, word,
                in->step[in->next].x);
    for (int i = 0; i < in->n; i++)
        word[i] = in->name[i];
    snprintf(label, sizeof label,
             "what the last token looks at in head %d.%d", in->block,
             in->head);
    print_named(
        in, label, in->n, word,
        inside_row(&in->step[in->weights[in->block]], in->head, in->n - 1));
    print_heads(in);
}

/* ---- Tables, from the last step to the first: of most, only the rows that
 * an answer needs */

static int is_needed(const Place *place, int count, int step, int h, int i)
{
    for (int k = 0; k < count; k++)
        if (place[k].step == step && place[k].h == h &&
            (place[k].i == ALL || place[k].i == i))
            return 1;
    return 0;
}

static void print_rows(const Inside *in, int step, int h,
                       const Place *place, int count)
{
    const Step *s = &in->step[step];
    char head[16] = "-", of_head[20] = "";
    if (s->heads) {
        snprintf(head, sizeof head, "%d", h);
        snprintf(of_head, sizeof of_head, ", head %d", h);
    }
    printf("@table %s %s %s %s\n%s%s (%d, %d)\n", s->id, head, s->rows,
           s->columns, s->label, of_head, s->n, s->m);
    for (int i = 0; i < s->n; i++) {
        if (!is_needed(place, count, step, h, i))
            continue;
        const float *x = inside_row(s, h, i);
        printf("@row %d\n", i);
        for (int j = 0; j < s->m; j++)
            printf("%s%s", j ? " " : "", say((double)x[j]));
        putchar('\n');
    }
}

static void print_tables(const Inside *in, const Place *place, int count)
{
    for (int k = in->steps - 1; k >= 0; k--)
        for (int h = 0; h == 0 || h < in->step[k].heads; h++) {
            int is_any = 0;
            for (int p = 0; p < count; p++)
                is_any |= place[p].step == k && place[p].h == h;
            if (is_any)
                print_rows(in, k, h, place, count);
        }
}

/* ---- The questions */

static int index_in(const char *what, const char *text, int count)
{
    return (int)parse_integer(what, text, 0, (uint64_t)count - 1);
}

static Place place_of(const Inside *in, const char *ask)
{
    char part[4][24], more;
    if (sscanf(ask, "%23[^:]:%23[^:]:%23[^:]:%23[^:]%c", part[0], part[1],
               part[2], part[3], &more) != 4)
        REFUSE("ask is '%s': TABLE:HEAD:ROW:COLUMN is needed", ask);
    int k = 0;
    while (k < in->steps && strcmp(in->step[k].id, part[0]))
        k++;
    if (k == in->steps)
        REFUSE("ask is for table '%s': one such as next, 0.weights or "
               "1.query is needed",
               part[0]);
    const Step *s = &in->step[k];
    if (!s->heads && strcmp(part[1], "-"))
        REFUSE("ask is for head %s of table '%s', which heads share: - is "
               "needed",
               part[1], part[0]);
    return (Place){k,
                   s->heads ? index_in("the head", part[1], s->heads) : 0,
                   index_in("the row", part[2], s->n),
                   index_in("the column", part[3], s->m), .count = 0};
}

static void print_place(const Inside *in, const char *mark, Place p)
{
    const Step *s = &in->step[p.step];
    printf("@%s %s ", mark, s->id);
    if (s->heads)
        printf("%d", p.h);
    else
        printf("-");
    if (p.i == ALL)
        printf(" *");
    else
        printf(" %d", p.i);
    if (p.j == SOME)
        for (int k = 0; k < p.count; k++)
            printf("%c%d", k ? ',' : ' ', p.some[k]);
    else if (p.j == ALL)
        printf(" *");
    else
        printf(" %d", p.j);
    putchar('\n');
}

/* All that was asked, each on the way of the one before; the last one is
 * the answer. */
static int answer(const Inside *in, int argc, char *const argv[argc],
                  Place place[MOST_PLACES])
{
    int count = 0;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "ask=", 4))
            continue;
        if (count > MOST_PLACES - 8)
            REFUSE("%d questions: fewer are needed", i + 1);
        const Place p = place_of(in, argv[i] + 4);
        place[count++] = p;
        const int before = count;
        print_place(in, "explain", p);
        inside_explain(in, p, &count, place);
        for (int k = before; k < count; k++)
            print_place(in, "source", place[k]);
    }
    return count;
}

/* ---- The program */

static const char *model_path(const char *stage)
{
    static char path[1000];
    const char *folder = getenv("MODELS");
    snprintf(path, sizeof path, "%s/%s.safetensors",
             folder && *folder ? folder : "src/models", stage);
    return path;
}

/* The loss of the same text with all heads; NaN if none is off. */
static float loss_with_all(Inside *in)
{
    if (!*heads_off(in))
        return NAN;
    inside_switch(in);
    inside_compute(in);
    inside_switch(in);
    return inside_loss(in);
}

/* What a page is told. */
static void print_all(const Inside *in, int argc, char *const argv[argc])
{
    static Place place[MOST_PLACES];
    print_settings(in);
    int count = answer(in, argc, argv, place);
    place[count++] = (Place){in->next, 0, ALL, ALL, .count = 0};
    place[count++] =
        (Place){in->weights[in->block], in->head, ALL, ALL, .count = 0};
    print_tables(in, place, count);
    print_heads(in);
}

static int inside(int argc, char *argv[])
{
    static Inside in;
    usual(&in);
    read_settings(&in, argc - 1, argv + 1);
    fill_settings(&in);
    inside_load(&in, model_path(stages[in.stage]));
    check_settings(&in);
    inside_begin(&in);
    const float loss_on = loss_with_all(&in);
    inside_compute(&in);
    if (!in.is_short)
        print_lists(&in);
    print_notes(&in, inside_loss(&in), loss_on);
    if (in.is_short)
        print_short(&in);
    else
        print_all(&in, argc - 1, argv + 1);
    if (*in.draw)
        inside_draw(&in, stages[in.stage], heads_off(&in));
    inside_free(&in);
    return 0;
}

int main(int argc, char *argv[])
{
    return run_program(inside, argc, argv);
}
