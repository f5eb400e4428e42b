#include "attention/long_run.h"
#include "support.h"
#include "trained.h"

const GptTraining trained_run = TRAINED_RUN;
const char trained_on[] = TRAINED_ON, trained_at[] = TRAINED_AT;
const int trained_seconds = TRAINED_SECONDS;
const int trained_tokens_per_second = TRAINED_TOKENS_PER_SECOND;
const int trained_count = sizeof trained_losses / sizeof *trained_losses;
