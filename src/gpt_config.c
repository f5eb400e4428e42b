#include "attention/gpt_config.h"
#include "support.h"
#include "support/json.h"

/* A key that config.json may have, and the values under which it describes
 * our GPT, the usual one first, or what of the model says that one. All
 * other keys change no logits, or come with tensors that are refused.
 * (Chapter 22's GELU has five names; hidden_size and the like are second
 * names.) */
enum { VOCABULARY, CONTEXT, WIDTH, LAYERS, HEADS, INNER, TIED, NOTHING };
static const struct {
    const char *name;
    int says;
    const char *value[6];
} key[] = {{"n_head", HEADS, {NULL}},
           {"model_type", NOTHING, {"\"gpt2\""}},
           {"activation_function",
            NOTHING,
            {"\"gelu_new\"", "\"gelu_fast\"", "\"gelu_accurate\"",
             "\"gelu_python_tanh\"", "\"gelu_pytorch_tanh\""}},
           {"layer_norm_epsilon", NOTHING, {"1e-05"}},
           {"scale_attn_weights", NOTHING, {"true"}},
           {"scale_attn_by_inverse_layer_idx", NOTHING, {"false"}},
           {"add_cross_attention", NOTHING, {"false"}},
           {"tie_word_embeddings", TIED, {NULL}},
           {"vocab_size", VOCABULARY, {NULL}},
           {"n_positions", CONTEXT, {NULL}},
           {"max_position_embeddings", CONTEXT, {NULL}},
           {"n_embd", WIDTH, {NULL}},
           {"hidden_size", WIDTH, {NULL}},
           {"n_layer", LAYERS, {NULL}},
           {"num_hidden_layers", LAYERS, {NULL}},
           {"num_attention_heads", HEADS, {NULL}},
           {"n_inner", INNER, {"null"}}};
enum { KEYS = sizeof key / sizeof *key };

/* The file, and the values that it has: in the text, or NULL. */
typedef struct {
    char path[1000], *text;
    const char *value[KEYS];
} Config;

static void config_read(Config *c, const char *model_path)
{
    const char *slash = strrchr(model_path, '/'), *name[KEYS];
    const int folder = slash ? (int)(slash + 1 - model_path) : 0;
    if (snprintf(c->path, sizeof c->path, "%.*sconfig.json", folder,
                 model_path) >= (int)sizeof c->path)
        REFUSE("%s: its path must have fewer than %zu bytes", model_path,
               sizeof c->path);
    FILE *config = fopen(c->path, "rb");
    if (!config)
        REFUSE("%s: it has no 'n_head', and %s: %s: the number of heads is "
               "needed in one of them",
               model_path, c->path, strerror(errno));
    fclose(config);
    for (int k = 0; k < KEYS; k++)
        name[k] = key[k].name;
    c->text = json_values(c->path, KEYS, name, c->value);
}

int gpt_config_heads(const char *model_path)
{
    Config c;
    config_read(&c, model_path);
    const int heads = json_whole_number(c.path, "n_head", *c.value);
    free(c.text);
    return heads;
}

/* Numbers may be written in other ways, and are compared as floats. */
static void check_value(const Config *c, int k, const char *usual,
                        const char *other)
{
    const char *value = c->value[k];
    int is_ours = !strcmp(value, usual) || (other && !strcmp(value, other));
    for (int i = 0; key[k].value[i]; i++)
        is_ours |= !strcmp(value, key[k].value[i]);
    if (!is_ours && (!strchr("0123456789", *usual) ||
                     strtof(value, NULL) != strtof(usual, NULL)))
        REFUSE("%s: %s is %s; this model has %s", c->path, key[k].name,
               value, usual);
}

void gpt_config_check(const Gpt *g, const char *model_path)
{
    const int size[TIED] = {g->vocabulary, g->context_length, g->width,
                            g->layers,     g->n_heads,        4 * g->width};
    const char *const tied = g->has_own_output ? "false" : "true";
    const int is_equal =
        !memcmp(g->tokens, g->output.weight,
                (size_t)g->vocabulary * sizeof(float[g->width]));
    Config c;
    config_read(&c, model_path);
    for (int k = 0; k < KEYS; k++) {
        const int says = key[k].says;
        char number[12];
        snprintf(number, sizeof number, "%d", says < TIED ? size[says] : 0);
        if (c.value[k])
            check_value(&c, k,
                        says == NOTHING ? *key[k].value
                        : says == TIED  ? tied
                                        : number,
                        says == TIED && is_equal ? "true" : NULL);
    }
    free(c.text);
}
