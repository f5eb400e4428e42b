/*
## Chapter 6, learning {#header-learning}
*/

#pragma once

/* The mean of the squares of what n answers differ from what is right.
 * Refuses n < 1.
 * PyTorch: F.mse_loss(answer, right). */
float mean_squared_error(int n, const float answer[n],
                         const float right[n]);

/* How wrong a model with these parameters is: 0 is best. */
typedef float Loss(const float parameter[]);

/* How steeply the loss rises with each of count parameters, by the loss of
 * each a nudge above and a nudge below what it is. The parameters are put
 * back to the last bit. Refuses a nudge that is not above 0.
 * PyTorch: loss.backward(), by calculus, up to a small multiple of the
 * square of the nudge. */
void numerical_gradient(int count, Loss *loss, float nudge,
                        float parameter[count], float gradient[count]);

/* So many steps, each of the numerical gradient times the rate, downhill.
 * The parameters are changed in place; gradient is that of the last step.
 * Refuses what numerical_gradient refuses.
 * PyTorch: torch.optim.SGD(parameters, lr=rate). */
void descend(int count, Loss *loss, float nudge, float rate, int steps,
             float parameter[count], float gradient[count]);
