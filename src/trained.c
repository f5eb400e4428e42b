#include "attention.h"

const Trained trained[] = {
#include "trained.h"
};
const int trained_count = sizeof trained / sizeof *trained;
const char trained_on[] = TRAINED_ON;
