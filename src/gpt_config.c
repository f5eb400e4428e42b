#include "attention/gpt_config.h"
#include "support.h"
#include "support/json.h"

/* A key that config.json may have, and the values under which it describes
 * our GPT, the usual one first. All other keys change no logits, say what
 * the tensors' shapes tell, or come with tensors that are refused. (Chapter
 * 22's GELU has five names.) */
static const struct {
    const char *name, *value[6];
} key[] = {{"n_head", {NULL}},
           {"model_type", {"\"gpt2\""}},
           {"activation_function",
            {"\"gelu_new\"", "\"gelu_fast\"", "\"gelu_accurate\"",
             "\"gelu_python_tanh\"", "\"gelu_pytorch_tanh\""}},
           {"layer_norm_epsilon", {"1e-05"}},
           {"scale_attn_weights", {"true"}},
           {"scale_attn_by_inverse_layer_idx", {"false"}},
           {"add_cross_attention", {"false"}}};
enum { KEYS = sizeof key / sizeof *key };

/* Refuses a value under which the model is another one. A number may be
 * written in other ways, and is compared as a float. */
static void check_value(const char *path, int k, const char *value)
{
    const char *const *ours = key[k].value, *usual = *ours;
    while (*ours && strcmp(value, *ours))
        ours++;
    if (!*ours && (!strchr("0123456789", *usual) ||
                   strtof(value, NULL) != strtof(usual, NULL)))
        REFUSE("%s: %s is %s; this model has %s", path, key[k].name, value,
               usual);
}

int gpt_config_heads(const char *model_path)
{
    const char *slash = strrchr(model_path, '/'), *name[KEYS], *value[KEYS];
    const int folder = slash ? (int)(slash + 1 - model_path) : 0;
    char path[1000];
    if (snprintf(path, sizeof path, "%.*sconfig.json", folder,
                 model_path) >= (int)sizeof path)
        REFUSE("%s: its path must have fewer than %zu bytes", model_path,
               sizeof path);
    FILE *config = fopen(path, "rb");
    if (!config)
        REFUSE("%s: it has no 'n_head', and %s: %s: the number of heads is "
               "needed in one of them",
               model_path, path, strerror(errno));
    fclose(config);
    for (int k = 0; k < KEYS; k++)
        name[k] = key[k].name;
    char *text = json_values(path, KEYS, name, value);
    const int heads = json_whole_number(path, "n_head", *value);
    for (int k = 1; k < KEYS; k++)
        if (value[k])
            check_value(path, k, value[k]);
    free(text);
    return heads;
}
