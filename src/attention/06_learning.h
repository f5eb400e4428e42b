/*
## Chapter 6, learning {#header-learning}
*/

#pragma once

/* The mean of the squares of what n answers are off by. Refuses n < 1.
 * PyTorch: F.mse_loss(answer, target). */
float mean_squared_error(int n, const float answer[n],
                         const float target[n]);

/* A head for words of four numbers: W_Q and W_K of two columns and W_V of
 * one, one after another, each row after row. */
enum { HEAD_D = 4, HEAD_D_K = 2, HEAD_COUNT = 20 };

/* The answer of word `who` of a sentence of three, one number, and the
 * attention that it gives to each.
 * PyTorch: F.scaled_dot_product_attention(x @ q, x @ k, x @ v)[who]. */
float head_answer(const float parameter[HEAD_COUNT],
                  const float x[3][HEAD_D], int who, float weights[3]);

/* How wrong the second words of n examples are: the mean squared error of
 * their answers. Refuses n < 1. */
float head_loss(int n, const float sentences[n][3][HEAD_D],
                const float target[n], const float parameter[HEAD_COUNT]);

/* How steeply head_loss rises with each parameter, by the loss of a nudge
 * more and of a nudge less. The parameters are put back to the last bit.
 * Refuses a nudge that is not above 0, and what head_loss refuses.
 * PyTorch: loss.backward(), by calculus; the difference is of the order of
 * the nudge's square. */
void numerical_gradient(int n, const float sentences[n][3][HEAD_D],
                        const float target[n], float nudge,
                        float parameter[HEAD_COUNT],
                        float gradient[HEAD_COUNT]);

/* So many steps downhill, each of the numerical gradient times the rate.
 * The parameters are changed in place; gradient is that of the last step.
 * Refuses what numerical_gradient refuses.
 * PyTorch: torch.optim.SGD([parameter], lr=rate). */
void descend(int n, const float sentences[n][3][HEAD_D],
             const float target[n], float nudge, float rate, int steps,
             float parameter[HEAD_COUNT], float gradient[HEAD_COUNT]);
