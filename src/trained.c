#include "attention/long_run.h"

const Trained trained = {
#include "trained.h"
};

const Trained trained_dropout = {
#include "trained_dropout.h"
};

const Trained trained_repeats = {
#include "trained_repeats.h"
};
