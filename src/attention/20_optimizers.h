/*
## Chapter 20, loss and optimizer {#header-optimizers}
*/

#pragma once

#include <stddef.h>

/* A target that counts for nothing.
 * PyTorch: ignore_index=-100 of F.cross_entropy. */
enum { IGNORED = -100 };

/* How surprising the right answers are: the mean, over the rows whose
 * target is not IGNORED, of minus the logarithm of the share that softmax
 * of a row's logits gives to its target; NaN where all are IGNORED. Fills
 * the shares of all rows. Refuses a target that is none of the classes.
 * PyTorch: F.cross_entropy(logits, target). */
float cross_entropy(int n, int classes, const float logits[n][classes],
                    const int target[n], float shares[n][classes]);

/* loss = cross_entropy(logits): adds to the gradient of each logit its
 * share, less 1 for the target, divided by the number of targets that are
 * not IGNORED; and nothing in the rows of those that are.
 * PyTorch: the backward of F.cross_entropy. */
void cross_entropy_backward(int n, int classes,
                            const float shares[n][classes],
                            const int target[n],
                            float grad_logits[n][classes]);

/* From one number to another, by a part of the way. From one half on, the
 * rest of the way is taken back from the other number, so that 1 gives it.
 * PyTorch: torch.lerp(from, to, part). */
float lerp(float from, float to, float part);

/* How Adam moves parameters: how fast, how much its means keep, what is
 * added to the root, and how much of each parameter is taken away. */
typedef struct {
    double learning_rate;  /* PyTorch's lr */
    double beta_1, beta_2; /* of the mean, and of the mean square */
    double epsilon;
    double decay;   /* PyTorch's weight_decay */
    int is_coupled; /* decay goes into the gradient: Adam; else: AdamW */
} Adam;

/* Step number `step`, counted from 1, of n parameters: moves each, in
 * place, and with it the means of its gradients and of their squares, which
 * begin at 0. Refuses what adam_check refuses.
 * PyTorch: the step of torch.optim.AdamW, or torch.optim.Adam.
 * Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019. */
void adam_step(Adam adam, int step, size_t n, const float gradient[n],
               float mean[n], float square[n], float parameter[n]);

/* The length of a gradient as an arrow. Where it plus 1e-6 is more than
 * `most`, the gradient is multiplied, in place, by most / (length + 1e-6),
 * as in PyTorch: it becomes as long as `most`, but for very short ones. NaN
 * if an entry is. Refuses a most that is not above 0.
 * PyTorch: torch.nn.utils.clip_grad_norm_(parameters, most).
 * Pascanu et al. 2013. */
double clip_norm(double most, size_t n, float gradient[n]);

/* The rate of a step, counted from 0: rises to the largest in as many steps
 * as are to warm up, and falls along a cosine, to the least after all
 * steps. Refuses a step below 0, and other steps than 0 <= warm_up < steps.
 * PyTorch: SequentialLR of LinearLR and CosineAnnealingLR. */
double rate_at(int step, int warm_up, int steps, double largest,
               double least);

/* As adam_step, for plain descent: each parameter moves against its
 * velocity, which keeps a part of itself, its momentum, and begins at 0.
 * The decay goes into the gradient.
 * PyTorch: the step of torch.optim.SGD. */
void sgd_step(double rate, double momentum, double decay, size_t n,
              const float gradient[n], float velocity[n],
              float parameter[n]);
