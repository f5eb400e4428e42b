/* What the config.json beside a model's file says of it. Only gpt_file.c
 * includes this. */
#pragma once

#include "attention/22_gpt.h"

/* Its number of heads. Refuses a file that cannot be read, is no JSON or
 * has no whole number "n_head". */
int gpt_config_heads(const char *model_path);

/* Refuses one that asks for another model, as gpt_load says. */
void gpt_config_check(const Gpt *g, const char *model_path);
