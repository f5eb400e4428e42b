#include "attention/gpt_run.h"
#include "support.h"
#include "trained.h"

const GptRun trained_run = TRAINED_RUN;
const char trained_on[] = TRAINED_ON, trained_at[] = TRAINED_AT;
const int trained_seconds = TRAINED_SECONDS, trained_pace = TRAINED_PACE;
const int trained_count = sizeof rows / sizeof *rows;
const TrainedRow *const trained_row = rows;
