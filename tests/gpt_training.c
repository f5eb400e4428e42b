/* A training in a file: what goes on is what would have gone on, and what
 * cannot is refused. */
#define CHAPTER "22_gpt"
#include "streams.h"
#include "gpts.h"
#include "attention/gpt_file.h"

static const char *training_file(void)
{
    return own_file("training.safetensors");
}

/* Interrupted after 3 steps, and gone on with for 6 more, as if it had not
 * been, whatever the other training was before. */
static void resume(int has_own_output)
{
    GptTraining whole = small_of(3, has_own_output),
                first = small_of(3, has_own_output),
                second = small_of(3, has_own_output);
    go_on(&whole, 3);
    go_on(&first, 3);
    if (has_own_output) /* all of it is used up: the next draw makes it anew */
        first.random.next = whole.random.next = RANDOM_STATE;
    else { /* the last ones, which none of them draws */
        first.random.state[RANDOM_STATE - 1]++;
        first.random.state[RANDOM_STATE - 2] = UINT32_MAX;
    }
    first.random.has_spare = 1; /* half of a pair of normal numbers */
    first.random.spare = 0.5;
    gpt_training_add_notes(&first, 3)[2] = 7;
    gpt_training_save(&first, training_file());
    go_on(&second, 5);
    gpt_training_add_notes(&second, 1);
    gpt_training_load(&second, training_file());
    same_bits("step", second.step, 3);
    same_bits("notes", second.noted, 3);
    tap_near("the last of them", second.notes[2], 7, 0, 0);
    tap_true("the state", !memcmp(second.random.state, first.random.state,
                                  sizeof first.random.state));
    go_on(&whole, 6);
    go_on(&second, 6);
    same("parameters", whole.model.count, second.model.memory,
         whole.model.memory);
    same("means", whole.model.count, second.mean.memory, whole.mean.memory);
    same("squares", whole.model.count, second.square.memory,
         whole.square.memory);
    same_bits("steps", second.step, whole.step);
    same_bits("has_spare", second.random.has_spare, 1);
    tap_near("spare", second.random.spare, 0.5, 0, 0);
    same_bits("stream", random_u32(&second.random),
              random_u32(&whole.random));
    Gpt g;
    gpt_load(&g, training_file()); /* which is a model, too */
    same("model", g.count, g.memory, first.model.memory);
    gpt_free(&g);
    gpt_training_free(&whole);
    gpt_training_free(&first);
    gpt_training_free(&second);
    remove(training_file());
}

static void resume_test(void)
{
    resume(0);
    resume(1);
}

/* What a training must have in common with the one that it goes on with:
 * in another one, a size or a setting has this value; or the text begins
 * with "Hn". */
static GptTraining other;
static const struct {
    const char *words;
    int *size;
    double *setting, value;
} in_common[] = {
    {"vocabulary is 128: 129", &other.model.vocabulary, NULL, 129},
    {"context is 8: 4", &other.model.context_length, NULL, 4},
    {"width is 8: 16", &other.model.width, NULL, 16},
    {"n_heads is 2: 4", &other.model.n_heads, NULL, 4},
    {"layers is 2: 1", &other.model.layers, NULL, 1},
    {"has_own_output is 0: 1", &other.model.has_own_output, NULL, 1},
    {"texts is 3: 2", &other.texts, NULL, 2},
    {"bytes of text is 68: 67", &other.bytes, NULL, 67},
    {"checksum of the text is 3948898965: 1324445238", NULL, NULL, 0},
    {"beta_1 is 0.9: 0.8", NULL, &other.adam.beta_1, 0.8},
    {"beta_2 is 0.95: 0.9501", NULL, &other.adam.beta_2, 0.9501},
    {"epsilon is 1e-08: 1e-09", NULL, &other.adam.epsilon, 1e-9},
    {"decay is 0.1: 0", NULL, &other.adam.decay, 0},
    {"is_coupled is 0: 1", &other.adam.is_coupled, NULL, 1},
    {"repeats is 0: 1", &other.repeats, NULL, 1},
    {"dropout is 0: 0.1", NULL, &other.dropout, 0.1},
};

static void load_into(int *size, double *setting, double value)
{
    static char text[sizeof reading];
    GptTraining t = small();
    gpt_training_save(&t, training_file());
    strcpy(text, reading);
    other = (GptTraining){.model = sizes_of_small(0),
                          .texts = t.texts,
                          .adam = t.adam,
                          .random = seeded(5),
                          .bytes = t.bytes,
                          .text = text};
    if (size)
        *size = (int)value;
    else if (setting)
        *setting = value;
    else
        text[0] ^= 1;
    gpt_training_init(&other, &other);
    gpt_training_load(&other, training_file());
}

/* A training's file in which a tensor has so many numbers, or the one at a
 * place is another; or there is one tensor more. */
static void load_changed(const char *name, int count, int place,
                         double number)
{
    GptTraining t = small();
    gpt_training_save(&t, training_file());
    Tensors file = tensors_read(training_file());
    Tensor *all = calloc(file.count + 1, sizeof *all), *it = all;
    memcpy(all, file.tensor, file.count * sizeof *all);
    while (it < all + file.count && strcmp(it->name, name))
        it++;
    if (it == all + file.count)
        *it = (Tensor){.name = name, .type = 'f', .rank = 1};
    else if (it->type == 'd')
        ((double *)it->data)[place] = number;
    else
        ((int64_t *)it->data)[place] = (int64_t)number;
    if (count >= 0) {
        it->rank = 1;
        it->shape[0] = count;
        it->count = (size_t)count;
    }
    file.count += it == all + file.count;
    tensors_write(training_file(), (int)file.count, all);
    gpt_training_load(&t, training_file());
    gpt_load(&(Gpt){0}, training_file());
}

static const struct {
    const char *function, *words, *line, *tensor;
    int count, place;
    double number;
} changed[] = {
    {"gpt_training_load", "a mean of no parameter",
     "'mean.h.2.ln_1.bias' is no tensor of a GPT-2 of 2 layers: a file "
     "without it is needed",
     "mean.h.2.ln_1.bias", 0, 0, 0},
    {"gpt_training_load", "kept numbers, of which there is none", NULL,
     "training.kept", 0, 0, 0},
    {"gpt_training_load", "more steps than an int counts",
     "a training at step 2147483648: at most 2147483647 is needed",
     "training.stands", -1, RANDOM_STATE + 2, 2147483648},
    {"gpt_training_load", "more random numbers than a state has",
     "a training at random number 625: at most 624 is needed",
     "training.stands", -1, RANDOM_STATE, 625},
    {"gpt_load", "heads, of which there is no number", NULL, "n_head", 0, 0,
     0},
    {"gpt_load", "four thousand million heads and two", NULL, "n_head", 1,
     0, 4294967298.0},
    {"gpt_load", "no heads", NULL, "n_head", 1, 0, 0},
    {"gpt_load", "three heads for a width of eight", NULL, "n_head", 1, 0,
     3},
};

static void refused_trainings(void)
{
    for (size_t k = 0; k < sizeof in_common / sizeof *in_common; k++)
        TAP_REFUSES("gpt_training_load", in_common[k].words,
                    tap_words("%s: a training whose %s is needed",
                              training_file(), in_common[k].words),
                    load_into(in_common[k].size, in_common[k].setting,
                              in_common[k].value));
    for (size_t k = 0; k < sizeof changed / sizeof *changed; k++)
        TAP_REFUSES(changed[k].function, changed[k].words, changed[k].line,
                    load_changed(changed[k].tensor, changed[k].count,
                                 changed[k].place, changed[k].number));
}

int main(void)
{
    make_own_folder();
    TAP(resume_test, "gpt_training_save: all that it needs");
    TAP(resume_test, "gpt_training_load: goes on to the last bit");
    refused_trainings();
    remove_own_folder("training.safetensors");
    return tap_done();
}
