/* Made by golden/generate.py: the losses of a training by PyTorch. */
#include "attention/21_training.h"
#include "support.h"

const float pytorch_losses[6] = {
    2.831074144f, 2.700270324f, 1.240589686f,
    0.021362018f, 0.007247320f, 0.006419158f,
};
