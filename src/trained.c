#include "attention/gpt_run.h"
#include "support.h"
#include "trained.h"

const Trained trained = {.run = TRAINED_RUN,
                         .on = TRAINED_ON,
                         .at = TRAINED_AT,
                         .seconds = TRAINED_SECONDS,
                         .pace = TRAINED_PACE,
                         .count = sizeof rows / sizeof *rows,
                         .row = rows};
