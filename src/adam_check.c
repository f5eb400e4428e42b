#include "attention/adam_check.h"
#include "support.h"

/* What chapter 20's adam_step refuses. */

void adam_check(Adam adam, int step)
{
    if (step < 1)
        REFUSE("step %d: 1 or more is needed", step);
    if (!(adam.learning_rate >= 0 && adam.epsilon >= 0 && adam.decay >= 0))
        REFUSE("learning_rate, epsilon, decay = %g, %g, %g: at least 0 of "
               "each is needed",
               adam.learning_rate, adam.epsilon, adam.decay);
    if (!(adam.beta_1 >= 0 && adam.beta_1 < 1 && adam.beta_2 >= 0 &&
          adam.beta_2 < 1))
        REFUSE("beta_1, beta_2 = %g, %g: from 0 to below 1 are needed",
               adam.beta_1, adam.beta_2);
}
