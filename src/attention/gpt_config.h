/* What the config.json beside a model's file says of it. Only gpt_file.c
 * includes this. */
#pragma once

/* Its number of heads. Refuses a file that cannot be read, is no JSON, has
 * no whole number "n_head", or asks for another model, as gpt_load says. */
int gpt_config_heads(const char *model_path);
