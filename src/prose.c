#include "attention/prose.h"
#include "support.h"
#include "prose.h"

const int prose_length = sizeof prose - 1,
          held_out_length = sizeof held_out - 1;
